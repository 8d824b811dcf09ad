#include "sph/pressure_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sph/parallel.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

// A density that is off by little is corrected in many steps: in one step, a thousandth over the depth of a tank would
// need more pressure than the weight of the fluid does, and pressures would be noise. What is above that is corrected
// at once.
constexpr double excess_part = 0.02, small_excess = 0.005;
constexpr std::int64_t most_iterations = 100;
// A pressure of the solver for density needs a second look: the first one only sees what the step before has left.
constexpr std::int64_t least_density = 2, least_divergence = 1;
// Errors of iterations that converge go up and down by less than this factor.
constexpr double much_larger = 4;
// A particle whose kernel is filled to less than this is at a free surface, and has no divergence to correct.
constexpr double covered_share = 0.75;

}  // namespace

template <class T, int D>
void PressureSolver<T, D>::begin(std::size_t parts, std::size_t particles) {
  parts_.resize(parts);
  // As many blocks as in the step before and some more, all in one place, on huge pages.
  std::size_t all = 0;
  for (Part& part : parts_) {
    part.own.release();
    part.capacity = part.used + part.used / 16 + 32;
    all += part.capacity;
  }
  blocks_.reset(all);
  all = 0;
  for (Part& part : parts_) {
    part.blocks = blocks_.data() + all;
    all += part.capacity;
  }
  counts_.reset(particles);
  std::fill_n(counts_.data(), particles, 0U);  // ghosts have no rows
  nodes_.reset(particles);
  pressures_.reset(4 * particles);
  accelerations_.reset(4 * particles);
  gradients_.reset(D * particles);
  divergences_.reset(particles);
  errors_.reset(particles);
}

// Makes room for so many blocks of a part, and keeps those that it has.
template <class T, int D>
void PressureSolver<T, D>::reserve(Part& part, std::size_t blocks) {
  Buffer<RowBlock<T, D>> larger(blocks);
  std::copy_n(part.blocks, part.used, larger.data());
  part.own = std::move(larger);
  part.blocks = part.own.data();
  part.capacity = blocks;
}

template <class T, int D>
void PressureSolver<T, D>::gather(std::size_t number, const Job<T, D>& job, std::size_t begin, std::size_t end,
                                  Scratch<T, D>& scratch) {
  Part& part = parts_[number];
  part.first = job.fluid.offsets[begin], part.last = job.fluid.offsets[end];
  RowSink<T, D> rows{part.blocks, 0, part.capacity, counts_.data()};
  while ((begin = loops<T, D>().dfsph(job, begin, end, scratch, rows)) < end) {
    part.used = rows.used;
    // A cell may need as many blocks as all of its candidates would fill.
    const std::size_t most =
        (job.fluid.offsets[begin + 1] - job.fluid.offsets[begin]) * (scratch.size / RowBlock<T, D>::width + 1);
    reserve(part, rows.used + rows.used / 4 + most);
    rows.blocks = part.blocks, rows.capacity = part.capacity;
  }
  part.used = rows.used;
}

// Every sweep goes through the rows in the direction opposite to that of the one before: where all of them do not fit
// into a cache, those that were read last do.
template <class T, int D>
template <class F>
void PressureSolver<T, D>::each_part(F&& f) {
  backwards_ = !backwards_;
  each(parts_.size(), counts_.size(), [&](std::size_t k, std::size_t) {
    Part& part = parts_[backwards_ ? parts_.size() - 1 - k : k];
    if (part.first < part.last) f(part);
  });
}

template <class T, int D>
double PressureSolver<T, D>::mean_error() {
  ExactSum sum;
  for (const Part& part : parts_)
    if (part.first < part.last) sum.add(part.error);
  if (share_ != nullptr) {
    ExactSum::Digits digits = sum.digits();
    share_->add(digits);
    sum.clear();
    sum.add(digits);
  }
  return sum.value() / total_;
}

// Iterates until the mean error is at most the tolerance. `left(node, divergence of the acceleration)` is the
// compression that the present pressures leave; a pressure changes by this times `gain`. It counts as an error as far
// as it changes the pressure: an expansion where the pressure is 0 is none. Nesterov's extrapolation from the last two
// iterations makes a pressure travel as many supports as there are iterations, not as the root of their number.
template <class T, int D>
template <class Left>
Solved PressureSolver<T, D>::iterate(double tolerance, std::int64_t least, double gain, double weight, bool others,
                                     Left&& left) {
  const Loops<T, D>& kinds = loops<T, D>();
  T strength = static_cast<T>(gain);
  Solved solved;
  double momentum = 1, smallest = std::numeric_limits<double>::infinity();
  while (true) {
    if (share_ != nullptr) share_->forward(pressures_.data(), 1);
    each_part([&](Part& part) {
      kinds.gradient(part.blocks, counts_.data() + part.first, part.last - part.first, pressures_.data(),
                     gradients_.data() + D * part.first);
      for (std::size_t k = part.first; k < part.last; ++k) {
        const Node& node = nodes_[k];
        for (std::size_t a = 0; a < D; ++a)
          accelerations_[4 * k + a] =
              (others ? node.other[a] : T(0)) - (pressures_[4 * k] * node.pull[a] + gradients_[D * k + a]);
      }
    });
    const double next = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    const T ahead = static_cast<T>((momentum - 1) / next);
    momentum = next;
    if (share_ != nullptr) share_->forward(accelerations_.data(), D);
    each_part([&](Part& part) {
      kinds.divergence(part.blocks, counts_.data() + part.first, part.last - part.first, accelerations_.data(),
                       divergences_.data() + part.first);
      for (std::size_t k = part.first; k < part.last; ++k) {
        Node& node = nodes_[k];
        T sum = -divergences_[k];
        for (std::size_t a = 0; a < D; ++a) sum += accelerations_[4 * k + a] * node.pull[a];
        const T error = left(node, sum), factor = node.factor * strength;
        const T found = std::max(node.trial + error * factor, T(0));
        errors_[k] = static_cast<double>(found > 0 ? std::abs(error) : std::min(std::abs(error), node.trial / factor));
        node.trial = std::max(found + ahead * (found - node.found), T(0));
        node.found = found;
        pressures_[4 * k] = node.trial + node.fixed;
      }
      part.error.clear();
      part.error.add(errors_.data() + part.first, part.last - part.first);
    });
    solved.error = weight * mean_error();
    // Where particles crowd, pressures change densities by more than on a lattice, and would grow without bounds.
    if (solved.error > much_larger * std::max(smallest, tolerance)) {
      strength *= T(0.5);
      momentum = 1;
      smallest = solved.error;
    }
    smallest = std::min(smallest, solved.error);
    ++solved.iterations;
    if (solved.iterations >= least && solved.error <= tolerance) return solved;
    if (solved.iterations >= most_iterations) {
      ++unsolved.count;
      unsolved.error = std::max(unsolved.error, solved.error);
      return solved;
    }
  }
}

template <class T, int D>
void PressureSolver<T, D>::solve(const FluidSettings<D>& settings, const Buffer<Particle<D>>& particles,
                                 const Buffer<std::uint32_t>& items, const Buffer<Sums<T>>& sums, double dt,
                                 std::size_t total, Share<D>* share) {
  using At = DfsphSums<D>;
  if (lattice_ == 0) lattice_ = settings.lattice_sum(), stiffness_ = static_cast<T>(settings.lattice_stiffness());
  total_ = static_cast<double>(std::max<std::size_t>(1, total));
  share_ = share;
  const double per_rest = 1 / settings.phases[0].rest;
  // A lone particle has no neighbours to push away.
  const T smallest = static_cast<T>(1e-6 / (settings.spacing * settings.spacing));
  each_part([&](Part& part) {
    for (std::size_t k = part.first; k < part.last; ++k) {
      if (items[k] >= particles.size()) {
        nodes_[k] = {};  // neither force nor error
        nodes_[k].factor = 1;
        pressures_[4 * k] = 0;
        continue;
      }
      const T* const sum = sums[k].c;
      const Particle<D>& p = particles[items[k]];
      Node& node = nodes_[k];
      T diagonal = stiffness_ * sum[At::square];
      for (std::size_t a = 0; a < D; ++a) {
        node.pull[a] = sum[At::gradient + a] + (sum[At::wall_gradient + a] + sum[At::wall_gradient + a]);
        node.other[a] = static_cast<T>(settings.gravity[a] + sum[At::viscosity + a] - per_rest * sum[At::above + a]);
        diagonal += node.pull[a] * node.pull[a];
      }
      const double share = sum[At::kernel] / lattice_;
      node.excess = static_cast<T>(share - 1);
      node.rate = sum[At::rate];
      node.factor = T(1) / (diagonal + smallest);
      node.covered = share > covered_share;
      node.found = node.trial = node.covered ? static_cast<T>(per_rest * p.correction) : T(0);
      node.fixed = 0;
      pressures_[4 * k] = node.trial;
    }
  });
  const T step = static_cast<T>(dt);
  divergence = iterate(settings.tolerance, least_divergence, 1 / dt, dt, false,
                       [&](const Node& node, T rate) { return node.covered ? node.rate + step * rate : T(0); });
  each_part([&](Part& part) {
    for (std::size_t k = part.first; k < part.last; ++k) {
      if (items[k] >= particles.size()) continue;
      Node& node = nodes_[k];
      node.correction = node.found;
      node.found = node.trial = static_cast<T>(per_rest * particles[items[k]].pressure);
      node.fixed = node.correction;
      pressures_[4 * k] = node.trial + node.fixed;
    }
  });
  const T part = static_cast<T>(excess_part), bound = static_cast<T>(small_excess);
  density = iterate(settings.tolerance, least_density, 1 / (dt * dt), 1, true, [&](const Node& node, T rate) {
    const T large = std::max(node.excess - bound, T(0));
    return part * (node.excess - large) + large + step * (node.rate + step * rate);
  });
}

template <class T, int D>
void PressureSolver<T, D>::update(std::size_t slot, double rest, Particle<D>& p) const {
  const Node& node = nodes_[slot];
  for (std::size_t a = 0; a < D; ++a) p.acceleration[a] = accelerations_[4 * slot + a];
  p.pressure = rest * node.found;
  p.correction = rest * node.correction;
  p.excess = rest * std::max(node.excess, T(0));
  p.surface = node.covered ? 0 : 1;
}

template class PressureSolver<float, 2>;
template class PressureSolver<float, 3>;
template class PressureSolver<double, 2>;
template class PressureSolver<double, 3>;

}  // namespace vicinal::sph
