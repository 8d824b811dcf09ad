// Monaghan's artificial viscosity in the form of δ-SPH (Antuono et al., Comput. Phys. Commun. 181 (2010) 532): it acts
// along the line of centres, on particles that approach and on those that part.
#pragma once

namespace vicinal::sph {

struct ArtificialViscosity {
  // The factors of the distance vector and of the velocity difference du in the acceleration, both still without
  // ∇W V / r; `approach` is du · r, `per_square` one over the squared distance and a hundredth of the squared smoothing
  // length.
  template <class L>
  static void add(typename L::Real strength, typename L::Real approach, typename L::Real per_square,
                  typename L::Real& along_r, typename L::Real& /*along_du*/) {
    along_r = along_r - strength * (approach * per_square);
  }
};

}  // namespace vicinal::sph
