// The contract between a search structure, the exact test and the emitters.
//
// A structure keeps bodies in an order of its own ("slots") in which neighbours in space are neighbours in memory. It
// hands out *blocks*: a run of query slots that share a list of candidate ranges. The exact test (pairs/) decides which
// candidates are pairs; emitters take the hits. So vector code is written once, and every structure gets it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "geometry/box.hpp"
#include "index/bodies.hpp"
#include "pairs/kernels.hpp"

namespace vicinal {

using Slot = std::uint32_t;

// A periodic image, in edges per axis.
struct Shift {
  std::int16_t x = 0, y = 0, z = 0;

  [[nodiscard]] std::int16_t operator[](std::size_t axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  bool operator==(const Shift&) const = default;
};

// Candidates begin … end-1, seen through the periodic image `shift`. If the queries of the block are among them, `own`
// says what that means; they then are the slots first_query … last_query-1 of the range. Only the first range of a
// block can be such, and one with Own::after starts with the first query.
struct Range {
  Slot begin, end;
  Shift shift{};
  Own own = Own::absent;
};

struct Block {
  Slot first_query, last_query;  // [first, last)
  std::span<const Range> ranges;
};

enum class Mode {
  half,   // every unordered pair of the structure's bodies once
  full,   // every body with all its partners
  cross,  // every query (another set of bodies) with all its partners
};

// A reference to any callable, valid for the duration of a call.
class BlockSink {
 public:
  template <class F>
    requires(!std::same_as<F, BlockSink>)
  // NOLINTNEXTLINE(google-explicit-constructor): a sink is meant to be written as a lambda in place
  BlockSink(F& f) : object_(&f), call_([](void* object, const Block& block) { (*static_cast<F*>(object))(block); }) {}
  void operator()(const Block& block) const { call_(object_, block); }

 private:
  void* object_;
  void (*call_)(void*, const Block&);
};

using Details = std::map<std::string, double>;

// What every structure is made from. `options` are its own parameters, checked by the Python class of the same name.
template <class T, int D>
struct Settings {
  T cutoff{};
  Box<T, D> box;
  std::map<std::string, double> options;

  [[nodiscard]] double option(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? 0 : found->second;
  }
  [[nodiscard]] double reach() const { return reach_of(cutoff); }  // of points
};

template <class S, class T, int D>
concept Index =
    std::constructible_from<S, const Settings<T, D>&> &&
    requires(S index, const S& built, BodyView<T, D> points, Bodies<T, D>& queries, std::size_t part, BlockSink sink) {
      index.build(points);  // (re)build from scratch, reusing memory
      { built.bodies() } -> std::same_as<const Bodies<T, D>&>;
      built.arrange(points, queries);                         // put another set into a good order for `cross`
      { built.parts(queries) } -> std::same_as<std::size_t>;  // independent pieces of work
      built.blocks(queries, Mode::half, part, sink);          // all candidates of one piece
      { built.details() } -> std::same_as<Details>;           // figures of its own for `stats`
      { built.bytes() } -> std::same_as<std::size_t>;         // memory beyond that of bodies()
    };
// A structure may also have
//     update(points)       the same bodies, moved or resized, or another set
//     insert(points)       all bodies; those beyond the present number are new
//     remove(ids, points)  numbers that go, and the bodies that stay, numbered anew in the same order
// where it can do better than to build everything again.

// Any structure, its type erased. The cost of a virtual call is per block, never per pair.
template <class T, int D>
class AnyIndex {
 public:
  template <Index<T, D> S>
  explicit AnyIndex(std::unique_ptr<S> index) : self_(std::make_unique<Model<S>>(std::move(index))) {}

  void build(BodyView<T, D> points) { self_->build(points); }
  void update(BodyView<T, D> points) { self_->update(points); }
  void insert(BodyView<T, D> points) { self_->insert(points); }
  void remove(std::span<const std::uint32_t> ids, BodyView<T, D> points) { self_->remove(ids, points); }
  [[nodiscard]] const Bodies<T, D>& bodies() const { return self_->bodies(); }
  void arrange(BodyView<T, D> points, Bodies<T, D>& queries) const { self_->arrange(points, queries); }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const { return self_->parts(queries); }
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const {
    self_->blocks(queries, mode, part, sink);
  }
  [[nodiscard]] Details details() const { return self_->details(); }
  [[nodiscard]] std::size_t bytes() const { return self_->bytes(); }
  // The structure itself, for what it can do beyond the contract; null if it is another one.
  template <class S>
  [[nodiscard]] S* as() {
    auto* const model = dynamic_cast<Model<S>*>(self_.get());
    return model == nullptr ? nullptr : model->index.get();
  }

 private:
  struct Erased {
    virtual ~Erased() = default;
    virtual void build(BodyView<T, D>) = 0;
    virtual void update(BodyView<T, D>) = 0;
    virtual void insert(BodyView<T, D>) = 0;
    virtual void remove(std::span<const std::uint32_t>, BodyView<T, D>) = 0;
    virtual const Bodies<T, D>& bodies() const = 0;
    virtual void arrange(BodyView<T, D>, Bodies<T, D>&) const = 0;
    virtual std::size_t parts(const Bodies<T, D>&) const = 0;
    virtual void blocks(const Bodies<T, D>&, Mode, std::size_t, BlockSink) const = 0;
    virtual Details details() const = 0;
    virtual std::size_t bytes() const = 0;
  };
  template <class S>
  struct Model final : Erased {
    explicit Model(std::unique_ptr<S> s) : index(std::move(s)) {}
    void build(BodyView<T, D> p) override { index->build(p); }
    void update(BodyView<T, D> p) override {
      if constexpr (requires { index->update(p); }) index->update(p);
      else index->build(p);
    }
    void insert(BodyView<T, D> p) override {
      if constexpr (requires { index->insert(p); }) index->insert(p);
      else index->build(p);
    }
    void remove(std::span<const std::uint32_t> ids, BodyView<T, D> p) override {
      if constexpr (requires { index->remove(ids, p); }) index->remove(ids, p);
      else index->build(p);
    }
    const Bodies<T, D>& bodies() const override { return index->bodies(); }
    void arrange(BodyView<T, D> p, Bodies<T, D>& q) const override { index->arrange(p, q); }
    std::size_t parts(const Bodies<T, D>& q) const override { return index->parts(q); }
    void blocks(const Bodies<T, D>& q, Mode m, std::size_t part, BlockSink sink) const override {
      index->blocks(q, m, part, sink);
    }
    Details details() const override { return index->details(); }
    std::size_t bytes() const override { return index->bytes(); }
    std::unique_ptr<S> index;
  };
  std::unique_ptr<Erased> self_;
};

}  // namespace vicinal
