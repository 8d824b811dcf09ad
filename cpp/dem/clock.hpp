// Steps of time: velocity Verlet.
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
  bool primed = false;  // dv and dw of bodies belong to the present forces

  // Prepares for new lists.
  void prepare();
  // Runs until the steps are done, the lists no longer last, or a number is no longer finite. Returns the number of
  // steps done.
  std::int64_t advance(std::int64_t most);
  // Whether speeds and spins were finite at the end of the last step. Positions of that moment still are: they follow
  // from speeds before it.
  [[nodiscard]] bool finite() const { return next_.finite; }
  // Upper bounds of the speeds of all bodies in the next half step.
  [[nodiscard]] std::vector<double> speeds() const;

  // The parts of a step, in this order: drift, Forces::compute, kick. Loads that something else exerts on bodies belong
  // between the last two.
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
  std::vector<std::uint8_t> round_blocks_;  // of every block of bodies: whether moments of inertia are all the same
  std::vector<Speed> speeds_;               // largest of every block
  Speed next_;                              // of the next half step
};

}  // namespace vicinal::dem
