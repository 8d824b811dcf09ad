// The nearest points of one query while the tree is descended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace vicinal {

// The k nearest points found so far, by squared distance, then number.
template <class T>
class Best {
 public:
  void reset(std::size_t k, T most) {
    squares_.resize(k);
    ids_.resize(k);
    count_ = 0;
    most_ = most;
  }
  [[nodiscard]] bool full() const { return count_ == squares_.size(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const T* squares() const { return squares_.data(); }
  [[nodiscard]] const std::int32_t* ids() const { return ids_.data(); }
  // Points farther away are not wanted,
  [[nodiscard]] T limit() const { return full() ? squares_.back() : most_; }
  // nor are points as far away with a number from this one on.
  [[nodiscard]] std::int32_t limit_id() const {
    return full() ? ids_.back() : std::numeric_limits<std::int32_t>::max();
  }
  [[nodiscard]] bool wants(T square, std::int32_t id) const {
    return square < limit() || (square == limit() && id < limit_id());
  }
  void add(T square, std::int32_t id) {
    if (!wants(square, id)) return;
    std::size_t to = full() ? count_ - 1 : count_++;
    for (; to > 0 && (squares_[to - 1] > square || (squares_[to - 1] == square && ids_[to - 1] > id)); --to) {
      squares_[to] = squares_[to - 1];
      ids_[to] = ids_[to - 1];
    }
    squares_[to] = square;
    ids_[to] = id;
  }

 private:
  std::vector<T> squares_;
  std::vector<std::int32_t> ids_;
  std::size_t count_ = 0;
  T most_{};
};

}  // namespace vicinal
