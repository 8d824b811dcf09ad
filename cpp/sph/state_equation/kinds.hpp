// The equations of state: pressure from the density above rest, and back.
#pragma once

#include "sph/state_equation/linear.hpp"
#include "sph/state_equation/tait.hpp"

namespace vicinal::sph {

enum class StateKind { linear, tait };

struct StateEquation {
  StateKind kind = StateKind::linear;
  double rest = 1, sound = 1;

  [[nodiscard]] double pressure(double excess) const {
    return kind == StateKind::tait ? TaitState::pressure(excess, rest, sound)
                                   : LinearState::pressure(excess, rest, sound);
  }
  [[nodiscard]] double excess(double pressure) const {
    return kind == StateKind::tait ? TaitState::excess(pressure, rest, sound)
                                   : LinearState::excess(pressure, rest, sound);
  }
};

}  // namespace vicinal::sph
