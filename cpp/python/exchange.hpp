// Exchanges between ranks for Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "distributed/exchange.hpp"
#include "distributed/node.hpp"

namespace vicinal {

// An exchange by messages that Python sends.
class MessageExchange final : public Exchange {
 public:
  using Bytes = nanobind::ndarray<std::uint8_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
  using Numbers = nanobind::ndarray<double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

  // Replaces `numbers` by the largest of all ranks; if its argument is true, it sends `outgoing` and fills `incoming`.
  std::function<void(bool)> send;

  // `starts`: where what comes from each rank begins in `incoming`.
  MessageExchange(Bytes outgoing, Bytes incoming, std::vector<std::size_t> starts, Numbers numbers)
      : outgoing_(std::move(outgoing)), incoming_(std::move(incoming)), starts_(std::move(starts)),
        numbers_(std::move(numbers)) {
    if (numbers_.size() != std::tuple_size_v<Agreed>) throw std::invalid_argument("four numbers are needed");
  }
  [[nodiscard]] std::byte* outgoing() override { return reinterpret_cast<std::byte*>(outgoing_.data()); }
  void exchange(Agreed& numbers) override { call(numbers, true); }
  void agree(Agreed& numbers) override { call(numbers, false); }
  [[nodiscard]] const std::byte* incoming(std::size_t rank) const override {
    return reinterpret_cast<const std::byte*>(incoming_.data()) + starts_[rank];
  }

 private:
  void call(Agreed& numbers, bool messages) {
    std::copy(numbers.begin(), numbers.end(), numbers_.data());
    send(messages);
    std::copy_n(numbers_.data(), numbers.size(), numbers.begin());
  }

  Bytes outgoing_, incoming_;
  std::vector<std::size_t> starts_;
  Numbers numbers_;
};

// Lets an exchange call a Python function while this object exists: poll() -> bool of a node, or send(messages: bool).
// The exchange keeps no reference to it, since the function refers to objects that hold the exchange.
class Calling {
 public:
  Calling(Exchange& exchange, const nanobind::callable& function)
      : node_(dynamic_cast<Node*>(&exchange)), messages_(dynamic_cast<MessageExchange*>(&exchange)) {
    if (node_ != nullptr)
      node_->poll = [&function] {
        const nanobind::gil_scoped_acquire lock;
        return nanobind::cast<bool>(function());
      };
    if (messages_ != nullptr)
      messages_->send = [&function](bool messages) {
        const nanobind::gil_scoped_acquire lock;
        function(messages);
      };
  }
  ~Calling() {
    if (node_ != nullptr) node_->poll = nullptr;
    if (messages_ != nullptr) messages_->send = nullptr;
  }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  Node* node_;
  MessageExchange* messages_;
};

}  // namespace vicinal
