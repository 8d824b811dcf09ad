// Bodies that change ranks, with the history of their contacts, and ghosts.
//
// The order of calls: `depart` packs the bodies that leave and drops all ghosts; `arrive` adds bodies of other ranks,
// first those that this rank owns from now on, then ghosts; `sort` gives all rows their order; then the elements are
// set again, and `settle` finds the history of all contacts that this rank still needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/assembly.hpp"
#include "dem/lists.hpp"

namespace vicinal::dem {

using Parcel = std::vector<std::byte>;

class Migration {
 public:
  Migration(Assembly& assembly, Lists& lists) : assembly_(assembly), lists_(lists) {}

  // `ranks`: for every row the rank that owns the body from now on; that of ghosts is ignored. Returns a parcel per
  // rank, an empty one for `own`. Contacts travel with both of their bodies, so a contact may be known twice
  // afterwards.
  std::vector<Parcel> depart(std::span<const std::int32_t> ranks, std::int32_t own, std::size_t size);
  // The bodies in these rows, in this order, without contacts.
  [[nodiscard]] Parcel copies(std::span<const Number> rows) const;
  // Appends the bodies of a parcel.
  void arrive(std::span<const std::byte> parcel, bool ghosts);
  // Sorts the rows by key, then by id. Returns the rows before.
  std::vector<Number> sort();
  void settle();

  // An element by the id of its body and its number in it.
  struct Part {
    std::int64_t id;
    Number part;
  };
  [[nodiscard]] Part part_of(std::size_t element) const;
  // Adds a contact to the history that `settle` looks through. Of a contact with a wall, the part of the second is the
  // number of the primitive.
  void remember(bool of_walls, Part first, Part second, const ContactMemory& memory);

 private:
  Assembly& assembly_;
  Lists& lists_;
  std::vector<Part> former_;  // the elements that the history refers to
};

}  // namespace vicinal::dem
