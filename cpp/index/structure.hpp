// The contract of a search structure.
//
// A structure keeps bodies in its own order ("slots"), in which neighbours in space are close in memory. It produces
// *blocks* (index/block.hpp): runs of query slots that share a list of candidate ranges. The exact test (pairs/)
// decides which candidates are pairs; sinks receive the hits. Thus vector code is written once for all structures, and
// a virtual call is made per block, never per pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "geometry/box.hpp"
#include "index/block.hpp"
#include "index/bodies.hpp"

namespace vicinal {

// Statistics of a structure for `stats`, by name.
using Details = std::map<std::string, double>;
// Parameters of one structure, checked by the Python class of the same name.
using Options = std::map<std::string, double>;

// The arguments of every structure.
template <class T, int D>
struct StructureSettings {
  T cutoff{};
  Box<T, D> box;
  Options options;

  [[nodiscard]] double option(const std::string& name) const {
    const auto it = options.find(name);
    return it == options.end() ? 0 : it->second;
  }
  [[nodiscard]] double reach() const { return reach_of(cutoff); }  // of points
};

template <class T, int D>
class Structure {
 public:
  Structure() = default;
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;
  virtual ~Structure() = default;

  // Builds from scratch, reusing memory. The arrays of the bodies must stay valid until the next change.
  virtual void build(const BodyView<T, D>& bodies) = 0;
  // By default the next three functions rebuild. `update`: the same bodies, moved or resized, or another set.
  virtual void update(const BodyView<T, D>& bodies) { build(bodies); }
  // `all` bodies; those beyond the present number are new.
  virtual void insert(const BodyView<T, D>& all) { build(all); }
  // Bodies `ids` leave; `rest` are the remaining bodies, renumbered in the same order.
  virtual void remove(std::span<const std::uint32_t> /*ids*/, const BodyView<T, D>& rest) { build(rest); }

  [[nodiscard]] virtual const Bodies<T, D>& bodies() const = 0;
  // Puts another set of bodies into a good order for Mode::cross.
  virtual void arrange(const BodyView<T, D>& bodies, Bodies<T, D>& queries) const = 0;
  // The number of independent pieces of work.
  [[nodiscard]] virtual std::size_t parts(const Bodies<T, D>& queries) const = 0;
  // Passes all candidates of one piece to the sink.
  virtual void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const = 0;

  [[nodiscard]] virtual Details details() const = 0;
  // Memory beyond that of bodies().
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

}  // namespace vicinal
