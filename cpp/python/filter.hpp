// _core.Filter: which hits are pairs. It keeps the arrays of the caller alive.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pairs/filter.hpp"
#include "python/arrays.hpp"

namespace vicinal {

class FilterArrays {
 public:
  using Numbers = std::optional<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
  using Offsets = std::optional<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

  using Spheres = std::optional<std::pair<PointArray, PointArray>>;

  // `squared` are the squared cutoffs of pairs of types, row by row.
  FilterArrays(std::vector<double> squared, std::size_t kinds, Numbers types, Numbers query_types, Numbers groups,
               Numbers query_groups, Offsets excluded_offsets, Numbers excluded, double least, bool narrowest,
               Spheres spheres, bool round_queries)
      : types_(std::move(types)), query_types_(std::move(query_types)), groups_(std::move(groups)),
        query_groups_(std::move(query_groups)), excluded_offsets_(std::move(excluded_offsets)),
        excluded_(std::move(excluded)), spheres_(std::move(spheres)) {
    if (squared.size() != kinds * kinds) throw std::invalid_argument("one squared cutoff per pair of types");
    filter_.squared = std::move(squared);
    filter_.kinds = kinds;
    filter_.types = span_of<std::int32_t>(types_);
    filter_.query_types = query_types_ ? span_of<std::int32_t>(query_types_) : filter_.types;
    filter_.groups = span_of<std::int32_t>(groups_);
    filter_.query_groups = query_groups_ ? span_of<std::int32_t>(query_groups_) : filter_.groups;
    filter_.excluded_offsets = span_of<std::int64_t>(excluded_offsets_);
    filter_.excluded = span_of<std::int32_t>(excluded_);
    filter_.least = least;
    filter_.narrowest = narrowest;
    if (spheres_) {
      filter_.centres = spheres_->first.data();
      filter_.radii = spheres_->second.data();
      filter_.round_queries = round_queries;
    }
  }

  [[nodiscard]] const PairFilter& get() const { return filter_; }

 private:
  template <class V, class Array>
  static std::span<const V> span_of(const Array& array) {
    if (!array) return {};
    return {array->data(), array->shape(0)};
  }

  Numbers types_, query_types_, groups_, query_groups_;
  Offsets excluded_offsets_;
  Numbers excluded_;
  Spheres spheres_;
  PairFilter filter_;
};

inline const PairFilter* filter_of(const FilterArrays* filter) { return filter == nullptr ? nullptr : &filter->get(); }

}  // namespace vicinal
