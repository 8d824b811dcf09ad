// Time integration by the velocity Verlet scheme.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dem/assembly.hpp"
#include "dem/forces.hpp"
#include "dem/kernels.hpp"
#include "dem/lists.hpp"

namespace vicinal::dem {

class Clock {
 public:
  Clock(Assembly& assembly, Lists& lists, Forces& forces) : assembly_(assembly), lists_(lists), forces_(forces) {}

  double dt = 0;
  std::int64_t steps = 0;
  bool primed = false;  // whether dv and dw of the bodies follow from the present forces

  // Must be called after new lists have been set.
  void prepare();
  // Advances by at most `most` steps. Stops earlier if the lists expire or a velocity is not finite. Returns the number
  // of steps done.
  std::int64_t advance(std::int64_t most);
  // Whether velocities and spins were finite at the end of the last step. The positions at that time are finite in any
  // case, since they follow from earlier velocities.
  [[nodiscard]] bool finite() const { return next_.finite; }
  // An upper bound of the speed of every body in the next half step.
  [[nodiscard]] std::vector<double> speeds() const;

  // The parts of a step, in this order: drift, Forces::compute, kick. External loads must be added between the last
  // two.
  void drift();
  void kick();

 private:
  void prime();
  void finish(bool priming);
  Speed finish_block(std::size_t begin, std::size_t end, const Load* loads, bool priming);
  template <class F>
  void half_steps(std::size_t begin, std::size_t end, F&& f);

  Assembly& assembly_;
  Lists& lists_;
  Forces& forces_;
  std::vector<std::uint8_t> round_blocks_;  // per block of bodies: whether all of them are isotropic
  std::vector<Speed> speeds_;               // the largest of each block
  Speed next_;                              // in the next half step
};

}  // namespace vicinal::dem
