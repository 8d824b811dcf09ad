// Contacts: rows in, rows and fields out. The state between two steps is in arrays that Python owns. Fields are bytes
// here; Python knows their meaning.
#include "python/contacts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "contacts/pair_rows.hpp"
#include "python/arrays.hpp"
#include "rows/from_pairs.hpp"
#include "rows/history.hpp"
#include "rows/ordered_pairs.hpp"
#include "rows/rows.hpp"

namespace vicinal {

namespace {

using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SharedPool = std::shared_ptr<Pool>;

template <class Array>
auto span_of(const Array& array) {
  return std::span(array.data(), array.shape(0));
}
RowsView rows_of(const Offsets& offsets, const Ids& indices) {
  if (offsets.shape(0) == 0) throw nb::type_error("offsets must have at least one entry");
  return {span_of(offsets), span_of(indices)};
}

// Memory for n values, in steps of an eighth, so that memory given back by slightly fewer contacts is used again.
template <class T>
Region room_for(Pool& pool, std::size_t n) {
  const std::size_t bytes = n * sizeof(T) + overrun;
  const std::size_t step = std::bit_floor(bytes) / 8;
  return pool.take((bytes + step - 1) / step * step, PageSize::huge);
}
template <class T>
std::span<T> span_in(const Region& region, std::size_t n) {
  return {static_cast<T*>(region.data()), n};
}

template <class T>
nb::object copy_of(const std::vector<T>& values) {
  Region region(values.size() * sizeof(T) + overrun);
  if (!values.empty()) std::memcpy(region.data(), values.data(), values.size() * sizeof(T));
  return array_of<T>(std::move(region), {values.size()}, nullptr);
}

template <class T>
void copy(std::span<const T> from, std::span<T> to) {
  parallel_ranges(from.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::copy(from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end),
              to.begin() + static_cast<std::ptrdiff_t>(begin));
  });
}

// (offsets, indices), copied.
nb::tuple copy_rows(const SharedPool& pool, const Offsets& offsets, const Ids& indices) {
  Region new_offsets = room_for<std::int64_t>(*pool, offsets.shape(0));
  Region new_indices = room_for<std::int32_t>(*pool, indices.shape(0));
  without_lock([&] {
    copy(span_of(offsets), span_in<std::int64_t>(new_offsets, offsets.shape(0)));
    copy(span_of(indices), span_in<std::int32_t>(new_indices, indices.shape(0)));
  });
  return nb::make_tuple(array_of<std::int64_t>(std::move(new_offsets), {offsets.shape(0)}, pool),
                        array_of<std::int32_t>(std::move(new_indices), {indices.shape(0)}, pool));
}

// (offsets, indices) of pairs in any order; None if a number is negative.
nb::object sort_rows(const SharedPool& pool, const Ids& i, const Ids& j) {
  if (i.shape(0) != j.shape(0)) throw nb::type_error("i and j must have the same length");
  const std::size_t size = i.shape(0);
  const auto needed = without_lock([&] { return rows_needed(span_of(i), span_of(j)); });
  if (!needed) return nb::none();
  const std::size_t rows = *needed;
  Region offsets = room_for<std::int64_t>(*pool, rows + 1);
  Region indices = room_for<std::int32_t>(*pool, size);
  const auto starts = span_in<std::int64_t>(offsets, rows + 1);
  const auto entries = span_in<std::int32_t>(indices, size);
  without_lock([&] {
    if (in_order(span_of(i), span_of(j))) {
      start_rows(span_of(i), starts);
      copy(span_of(j), entries);
      return;
    }
    Region scratch = room_for<CanonicalPair>(*pool, size);
    rows_from_pairs(span_of(i), span_of(j), starts, entries, span_in<CanonicalPair>(scratch, size));
    pool->give(std::move(scratch));
  });
  return nb::make_tuple(array_of<std::int64_t>(std::move(offsets), {rows + 1}, pool),
                        array_of<std::int32_t>(std::move(indices), {size}, pool));
}

std::int64_t wrong_offset(const Offsets& offsets, const Ids& indices) {
  const auto rows = rows_of(offsets, indices);
  const std::size_t row = without_lock([&] { return first_wrong_offset(rows); });
  const bool wrong = row < rows.size() || (rows.size() == 0 && (offsets.data()[0] != 0 || indices.shape(0) != 0));
  return wrong ? static_cast<std::int64_t>(row) : -1;
}

// (fields, began, ended, rows of the ended entries), or None if the rows are not in order.
nb::object merge(const SharedPool& pool, const Offsets& before_offsets, const Ids& before_indices,
                 const Offsets& now_offsets, const Ids& now_indices, const std::vector<Bytes>& fields,
                 const std::vector<Bytes>& initial) {
  const auto before = rows_of(before_offsets, before_indices), now = rows_of(now_offsets, now_indices);
  if (fields.size() != initial.size()) throw nb::type_error("every field has an initial value");
  std::vector<Region> regions;
  std::vector<HistoryField> plan;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::size_t bytes = initial[f].shape(0);
    if (fields[f].shape(0) != bytes * before.indices.size()) throw nb::type_error("a field does not fit the contacts");
    regions.push_back(room_for<std::byte>(*pool, bytes * now.indices.size()));
    plan.push_back({reinterpret_cast<const std::byte*>(fields[f].data()), static_cast<std::byte*>(regions[f].data()),
                    reinterpret_cast<const std::byte*>(initial[f].data()), bytes});
  }
  bool ordered = true;
  const HistoryChange change = without_lock([&] { return merge_history(before, now, plan, ordered); });
  if (!ordered) return nb::none();
  nb::list made;
  for (std::size_t f = 0; f < fields.size(); ++f)
    made.append(array_of<std::uint8_t>(std::move(regions[f]), {plan[f].bytes * now.indices.size()}, pool));
  return nb::make_tuple(made, copy_of(change.began), copy_of(change.ended), copy_of(change.ended_row));
}

nb::object expand(const SharedPool& pool, const Offsets& offsets, const Ids& indices) {
  Region region = room_for<std::int32_t>(*pool, indices.shape(0));
  without_lock(
      [&] { fill_owners(rows_of(offsets, indices).offsets, span_in<std::int32_t>(region, indices.shape(0)).data()); });
  return array_of<std::int32_t>(std::move(region), {indices.shape(0)}, pool);
}

nb::object find(const Offsets& offsets, const Ids& indices, const Ids& i, const Ids& j) {
  if (i.shape(0) != j.shape(0)) throw nb::type_error("i and j must have the same length");
  Region region(i.shape(0) * sizeof(std::int64_t) + overrun);
  without_lock([&] {
    contacts::find(rows_of(offsets, indices), span_of(i), span_of(j), span_in<std::int64_t>(region, i.shape(0)));
  });
  return array_of<std::int64_t>(std::move(region), {i.shape(0)}, nullptr);
}

}  // namespace

void bind_contacts(nb::module_& m) {
  nb::class_<Pool>(m, "Pool", "Memory that arrays give back when they are no longer used.").def(nb::init<>());
  m.def("contacts_copy", &copy_rows, nb::arg("pool"), nb::arg("offsets"), nb::arg("indices"));
  m.def("contacts_sort", &sort_rows, nb::arg("pool"), nb::arg("i"), nb::arg("j"));
  m.def("contacts_wrong_offset", &wrong_offset, nb::arg("offsets"), nb::arg("indices"));
  m.def("contacts_merge", &merge, nb::arg("pool"), nb::arg("before_offsets"), nb::arg("before_indices"),
        nb::arg("now_offsets"), nb::arg("now_indices"), nb::arg("fields"), nb::arg("initial"));
  m.def("contacts_expand", &expand, nb::arg("pool"), nb::arg("offsets"), nb::arg("indices"));
  m.def("contacts_find", &find, nb::arg("offsets"), nb::arg("indices"), nb::arg("i"), nb::arg("j"));
}

}  // namespace vicinal
