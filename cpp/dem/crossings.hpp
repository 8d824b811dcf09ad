// Bodies whose centre passed through the surface of a wall in a single step: the step was too long for them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace vicinal::dem {

struct Crossing {
  std::int64_t step = undated, body = 0;  // its id
  std::int32_t wall = 0;
  static constexpr std::int64_t undated = -1;
  auto operator<=>(const Crossing&) const = default;
};

class Crossings {
 public:
  // From any thread.
  void add(std::int64_t body, std::size_t wall) {
    const std::lock_guard lock(mutex_);
    all_.push_back({Crossing::undated, body, static_cast<std::int32_t>(wall)});
  }
  // Dates those of the last step, and puts them into an order that does not depend on threads. A body of several
  // elements crosses once.
  void date(std::int64_t step) {
    if (dated_ == all_.size()) return;
    const auto first = all_.begin() + static_cast<std::ptrdiff_t>(dated_);
    for (auto it = first; it != all_.end(); ++it) it->step = step;
    std::sort(first, all_.end());
    all_.erase(std::unique(first, all_.end()), all_.end());
    dated_ = all_.size();
  }
  // Hands over all of them.
  [[nodiscard]] std::vector<Crossing> take() {
    dated_ = 0;
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Crossing> all_;
  std::size_t dated_ = 0;
};

}  // namespace vicinal::dem
