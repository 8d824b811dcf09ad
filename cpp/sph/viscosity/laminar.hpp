// Newtonian viscosity after Morris, Fox & Zhu (J. Comput. Phys. 136 (1997) 214).
#pragma once

namespace vicinal::sph {

struct LaminarViscosity {
  template <class L>
  static void add(typename L::Real strength, typename L::Real /*approach*/, typename L::Real /*per_square*/,
                  typename L::Real& /*along_r*/, typename L::Real& along_du) {
    along_du = along_du - (strength + strength);
  }
};

}  // namespace vicinal::sph
