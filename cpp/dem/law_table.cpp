#include "dem/law_table.hpp"

namespace vicinal::dem {

LawTable::LawTable(std::string_view law, std::vector<MaterialValues> materials, const Pairs& pairs, bool history)
    : law_(law_number(law)), materials_(std::move(materials)) {
  terms_.history = history;
  const LawEntry& entry = laws()[law_];
  const std::size_t size = materials_.size();
  mixed_.resize(size * size);
  table_.resize(size * size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = a; b < size; ++b) {
      MaterialValues first = materials_[a], second = materials_[b];
      for (const auto& key : {std::pair{b, a}, std::pair{a, b}}) {
        const auto it = pairs.find(key);
        if (it == pairs.end()) continue;
        first.replace(it->second);
        second.replace(it->second);
      }
      const Coefficients c = entry.mix({first, second});
      terms_.roots |= c.damping_n > 0 || c.damping_t > 0;
      terms_.dashpot |= c.damping_t > 0 || c.rate_t > 0;
      terms_.rolling |= c.rolling > 0;
      terms_.torsion |= c.torsion > 0;
      terms_.cohesion |= c.cohesion > 0;
      mixed_[row(a, b)] = mixed_[row(b, a)] = c;
      table_[row(a, b)] = table_[row(b, a)] = entry.for_loops(c);
    }
  }
}

}  // namespace vicinal::dem
