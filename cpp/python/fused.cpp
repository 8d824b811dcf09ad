#include "python/fused.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "python/exact_sums.hpp"
#include "search/fused.hpp"

namespace vicinal {

namespace {

// Weights (float64) and types (int32) of bodies, or none; the number of types.
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Types = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MarkArrays = std::tuple<std::optional<Weights>, std::optional<Types>, std::size_t>;

Marks marks_of(const MarkArrays& arrays, std::size_t bodies) {
  const auto& [weights, types, kinds] = arrays;
  if ((weights && weights->shape(0) != bodies) || (types && types->shape(0) != bodies))
    throw nb::type_error("weights or types do not fit the bodies");
  return {weights ? weights->data() : nullptr, types ? types->data() : nullptr, kinds};
}

// Counts (int64), or sums of products of weights (float64): by type of the query, type of the body, and bin.
nb::object histogram(AnySearch& search, const std::vector<double>& squares, const MarkArrays& marks,
                     const Queries& queries, const MarkArrays& query_marks, const FilterArrays* filter) {
  const Marks of_bodies = marks_of(marks, search.size());
  const Marks of_queries = queries ? marks_of(query_marks, queries->positions.shape(0)) : of_bodies;
  const bool weighted = of_bodies.weights != nullptr;
  const std::vector<std::size_t> shape{of_queries.kinds, of_bodies.kinds, squares.size() - 1};
  const std::size_t size = shape[0] * shape[1] * shape[2];
  static_assert(sizeof(std::int64_t) == sizeof(double));
  Region result(size * sizeof(double) + overrun);
  const std::span<std::int64_t> counts(static_cast<std::int64_t*>(result.data()), weighted ? 0 : size);
  const std::span<double> sums(static_cast<double*>(result.data()), weighted ? size : 0);
  search.visit([&]<class T, int D>(Search<T, D>& of) {
    const std::vector<T> edges(squares.begin(), squares.end());
    std::optional<BodyView<T, D>> given;
    if (queries) given = points_of<T, D>(*queries);
    without_lock([&] {
      count_distances<T, D>(of, given ? &*given : nullptr, edges, of_queries, of_bodies, filter_of(filter), counts,
                            sums);
    });
  });
  return weighted ? array_of<double>(std::move(result), shape, nullptr)
                  : array_of<std::int64_t>(std::move(result), shape, nullptr);
}

// The address of a compiled function (PairFunction::call), its values per pair, addresses and shapes of the arrays that
// it takes.
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FunctionArrays = std::tuple<std::uintptr_t, std::size_t, Numbers, Numbers>;

// Sums of a function: one row for each body or query, or one for all pairs; `exact`: its digits, which can be added to
// those of other ranks. None if the function has failed.
nb::object reduce(AnySearch& search, const FunctionArrays& given_function, bool each, const Queries& queries,
                  const FilterArrays* filter, bool exact) {
  const auto& [address, values, data, shapes] = given_function;
  const PairFunction function{reinterpret_cast<decltype(PairFunction::call)>(address), values, data.data(),
                              shapes.data()};
  const std::size_t rows = !each ? 1 : queries ? queries->positions.shape(0) : search.size();
  Region result(rows * values * sizeof(double) + overrun);
  const std::span<double> sums(static_cast<double*>(result.data()), rows * values);
  std::vector<ExactSum> totals(each ? 0 : values);
  try {
    search.visit([&]<class T, int D>(Search<T, D>& of) {
      std::optional<BodyView<T, D>> given;
      if (queries) given = points_of<T, D>(*queries);
      const BodyView<T, D>* const second = given ? &*given : nullptr;
      without_lock([&] {
        if (each) sum_function_by_query<T, D>(of, second, function, filter_of(filter), sums);
        else sum_function<T, D>(of, second, function, filter_of(filter), totals);
      });
    });
  } catch (const FunctionFailed&) {
    return nb::none();
  }
  if (exact) return digits_of(totals, {totals.size()});
  for (std::size_t c = 0; c < totals.size(); ++c) sums[c] = totals[c].value();
  return array_of<double>(std::move(result), {rows, values}, nullptr);
}

// The label of each body, and the number of components.
nb::tuple components(AnySearch& search, const FilterArrays* filter) {
  Components made = search.visit([&]<class T, int D>(Search<T, D>& of) {
    return without_lock([&] { return label_components(of, filter_of(filter)); });
  });
  return nb::make_tuple(array_of<std::int32_t>(std::move(made.labels), {made.size}, nullptr), made.count);
}

// The pairs of a search in chunks. `next` returns the columns of about `most` pairs, or None after the last.
class Chunks {
 public:
  Chunks(AnySearch& search, const std::string& letters, bool half, const Queries& queries, const FilterArrays* filter)
      : letters_(letters), queries_(queries), search_(search),
        state_(search.visit([&]<class T, int D>(Search<T, D>& of) -> State {
          std::optional<BodyView<T, D>> given;
          if (queries) given = points_of<T, D>(*queries);
          return without_lock([&] {
            return std::make_unique<PairChunks<T, D>>(
                of.in_chunks(given ? &*given : nullptr, want_of(letters), half, filter_of(filter)));
          });
        })) {}

  nb::object next(std::size_t most) {
    return search_.visit([&]<class T, int D>(Search<T, D>& search) -> nb::object {
      auto& chunks = *std::get<std::unique_ptr<PairChunks<T, D>>>(state_);
      if (chunks.done) return nb::none();
      PairResult<T, D> result = without_lock([&] { return search.next_pairs(chunks, most); });
      return columns_of(std::move(result), letters_, nullptr);
    });
  }

 private:
  using State = std::variant<std::unique_ptr<PairChunks<float, 2>>, std::unique_ptr<PairChunks<float, 3>>,
                             std::unique_ptr<PairChunks<double, 2>>, std::unique_ptr<PairChunks<double, 3>>>;

  std::string letters_;
  Queries queries_;    // keeps the arrays
  AnySearch& search_;  // Python keeps it, and the filter
  State state_;
};

}  // namespace

void bind_fused(nb::module_& m, nb::class_<AnySearch>& search) {
  nb::class_<Chunks>(m, "Chunks", "The pairs of a search in chunks.")
      .def(nb::init<AnySearch&, const std::string&, bool, const Queries&, const FilterArrays*>(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>(), nb::arg("search"), nb::arg("want"), nb::arg("half"),
           nb::arg("queries").none(), nb::arg("hit_filter").none())
      .def("next", &Chunks::next, nb::arg("most"));
  search
      .def("histogram", &histogram, nb::arg("squares"), nb::arg("marks"), nb::arg("queries").none(),
           nb::arg("query_marks"), nb::arg("hit_filter").none())
      .def("reduce", &reduce, nb::arg("function"), nb::arg("each"), nb::arg("queries").none(),
           nb::arg("hit_filter").none(), nb::arg("exact"))
      .def("components", &components, nb::arg("hit_filter").none());
}

}  // namespace vicinal
