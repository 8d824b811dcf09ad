// Bodies whose centre passed through a wall in a single step. A crossing shows that the time step is too long.
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
  std::int64_t step = undated, body = 0;  // `body` is its id
  std::int32_t wall = 0;
  static constexpr std::int64_t undated = -1;
  auto operator<=>(const Crossing&) const = default;
};

class Crossings {
 public:
  // May be called from any thread.
  void add(std::int64_t body, std::size_t wall) {
    const std::lock_guard lock(mutex_);
    all_.push_back({Crossing::undated, body, static_cast<std::int32_t>(wall)});
  }
  // Sets the step of the crossings added since the last call, and sorts them so that their order does not depend on
  // threads. A body of several elements is counted once.
  void date(std::int64_t step) {
    if (dated_ == all_.size()) return;
    const auto first = all_.begin() + static_cast<std::ptrdiff_t>(dated_);
    for (auto it = first; it != all_.end(); ++it) it->step = step;
    std::sort(first, all_.end());
    all_.erase(std::unique(first, all_.end()), all_.end());
    dated_ = all_.size();
  }
  // Returns all crossings and clears the list.
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
