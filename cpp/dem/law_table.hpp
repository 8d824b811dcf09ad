// The contact law of a simulation, and its coefficients for every pair of materials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/coefficients.hpp"
#include "dem/laws/registry.hpp"

namespace vicinal::dem {

class LawTable {
 public:
  using Pairs = std::map<std::pair<std::size_t, std::size_t>, MaterialValues>;

  LawTable() = default;
  // `pairs`: values for two materials, in either order, that replace the values of both. `history`: whether contacts
  // have tangential springs.
  LawTable(std::string_view law, std::vector<MaterialValues> materials, const Pairs& pairs, bool history);

  [[nodiscard]] std::size_t law() const { return law_; }  // its number
  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] std::size_t materials() const { return materials_.size(); }

  // The coefficients that the loops read: materials × materials.
  [[nodiscard]] const Coefficients* table() const { return table_.data(); }
  [[nodiscard]] Number row(std::size_t a, std::size_t b) const { return static_cast<Number>(a * materials() + b); }
  [[nodiscard]] const Coefficients& coefficients(std::size_t a, std::size_t b) const { return table_[row(a, b)]; }
  // The coefficients as returned by the mixing rule of the law.
  [[nodiscard]] const Coefficients& mixed(std::size_t a, std::size_t b) const { return mixed_.at(row(a, b)); }

  [[nodiscard]] double collision_time(std::size_t a, std::size_t b, const Collision& collision) const {
    return laws()[law_].collision_time(mixed(a, b), collision);
  }
  // NaN for laws without moduli.
  [[nodiscard]] double rayleigh_time(std::size_t material, double radius) const {
    return laws()[law_].rayleigh_time(materials_.at(material), radius);
  }

 private:
  std::size_t law_ = 0;
  std::vector<MaterialValues> materials_;
  std::vector<Coefficients> mixed_, table_;
  Terms terms_;
};

}  // namespace vicinal::dem
