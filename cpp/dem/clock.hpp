// Time integration by the velocity Verlet scheme.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/assembly.hpp"
#include "dem/border.hpp"
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
  // Whether a step has begun: bodies and walls are at its end, velocities are those of the half step, and forces are
  // those of the step before. Bodies can be left like this between two calls of `advance`, where lists expire.
  bool drifted = false;
  // The exchange with other ranks. They call `advance` together, with the same number of steps.
  Border border;
  bool stopping = false;  // whether a rank has asked to stop, and all do after the step that has begun

  // Must be called after new lists have been set.
  void prepare();
  // Advances by at most `most` steps. Stops earlier if the lists expire or a velocity is not finite. Returns the number
  // of steps done. With 0 steps, ghosts get velocities that were assigned.
  std::int64_t advance(std::int64_t most);
  // Whether velocities and spins were finite at the end of the last step. The positions at that time are finite in any
  // case, since they follow from earlier velocities.
  [[nodiscard]] bool finite() const { return next_.finite; }
  // An upper bound of the speed of every body in the next half step.
  [[nodiscard]] std::vector<double> speeds() const;

 private:
  void prime();
  // Gives ghosts the motion of their bodies, moves them if the step has begun, and makes `next_` that of all ranks.
  void forward(Border::Sends sends);
  // Makes `next_` that of all ranks, by one of the two ways of an exchange.
  void agree_by(void (Exchange::*way)(Agreed&));
  // Whether the lists of all ranks hold all contacts of the present positions.
  [[nodiscard]] bool lists_valid();
  // The first half of a step: velocities of the half step, and positions.
  void drift();
  // What follows the motion of bodies: elements, walls, the age of lists. `blocks`: see Forces::moved.
  void follow(std::span<const Speed> blocks);
  // The second half of a step: forces and velocities. kick_and_drift: and the first half of the next step. Velocities
  // follow the forces block by block, while what they need is in a cache; nothing of a block is needed by later blocks.
  enum class Then { prime, kick, kick_and_drift };
  void forces_and(Then then);
  Speed finish(std::size_t begin, std::size_t end, Then then);
  Speed finish_few(std::size_t begin, std::size_t end, Then then);
  Speed kick_rows(std::size_t begin, std::size_t end, const Load* loads, bool priming);
  void drift_rows(std::size_t begin, std::size_t end);

  Assembly& assembly_;
  Lists& lists_;
  Forces& forces_;
  // Consecutive bodies that are all isotropic or all not. A run ends where the next begins.
  struct Run {
    std::size_t begin;
    bool round;
  };
  // Calls f(job, first) for the parts of a range of rows whose bodies are all isotropic or all not.
  template <class F>
  void half_steps(std::size_t begin, std::size_t end, F&& f);

  std::vector<Run> runs_;      // and one at the end
  std::vector<Speed> speeds_;  // the largest of each block
  Speed next_;                 // in the next half step
};

}  // namespace vicinal::dem
