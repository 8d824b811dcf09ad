// The candidates that a query is tested against. Plain types only: see geometry/shape.hpp.
#pragma once

#include <cstdint>

namespace vicinal {

enum class Own : std::int16_t {
  absent,  // all: the query is not among the candidates, or only as its own periodic image
  after,   // only candidates after the query itself: each pair once
  except,  // all but the query itself
};

}  // namespace vicinal
