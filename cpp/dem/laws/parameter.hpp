// Material parameters: names, units and ranges; and the values of two materials in contact.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace vicinal::dem {

inline constexpr double unbounded = std::numeric_limits<double>::infinity();
inline constexpr double no_default = std::numeric_limits<double>::quiet_NaN();

// A parameter of a material. Values are finite, above `low` (or equal to it, if `low_allowed`) and at most `high`.
struct LawParameter {
  std::string_view name, unit;
  double low;
  bool low_allowed;
  double high;
  double fallback;  // the default; no_default: the parameter stays unset
  bool required;    // a law that lists the parameter needs it
  std::string_view doc;
};

inline constexpr LawParameter positive(std::string_view name, std::string_view unit, std::string_view doc) {
  return {name, unit, 0, false, unbounded, no_default, false, doc};
}
inline constexpr LawParameter not_negative(std::string_view name, std::string_view unit, std::string_view doc) {
  return {name, unit, 0, true, unbounded, no_default, false, doc};
}
inline constexpr LawParameter required(LawParameter p) {
  p.required = true;
  return p;
}
inline constexpr LawParameter with_default(LawParameter p, double value) {
  p.fallback = value;
  return p;
}

// The parameters that every law reads.
inline constexpr LawParameter shared_parameters[] = {
    with_default(positive("density", "kg/m³", "Mass per volume; walls do not use it."), 1000),
    {"restitution", "1", 0, false, 1, 1, false,
     "Ratio of the speeds after and before a head-on collision; sets the damping. 1: collisions lose no energy."},
    with_default(not_negative("friction", "1", "Coulomb's coefficient."), 0),
    with_default(
        not_negative("rolling_friction", "1", "Resisting moment divided by (normal force × effective radius)."), 0),
    with_default(
        not_negative("torsional_friction", "1",
                     "Moment that resists rotation about the normal, divided by (normal force × effective radius)."),
        0),
    with_default(
        not_negative("cohesion", "Pa", "Attraction per area of the circle in which two spheres overlap (2π R* δ)."), 0),
    not_negative("gamma_t", "1/s",
                 "Rate of the tangential dashpot, in place of the one that follows from restitution: the force is "
                 "effective mass × gamma_t × relative velocity, and 0 switches the dashpot off."),
};

// A parameter that a law refuses, because it would silently have no effect, and the parameter to use instead.
struct Refusal {
  std::string_view name, instead;
};

// The values of a material.
class MaterialValues {
 public:
  void set(const std::string& name, double value) { values_[name] = value; }
  // Replaces values by those that another material has.
  void replace(const MaterialValues& other) {
    for (const auto& [name, value] : other.values_) values_[name] = value;
  }
  [[nodiscard]] bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  [[nodiscard]] double get(std::string_view name, double otherwise = 0) const {
    const auto it = values_.find(name);
    return it == values_.end() ? otherwise : it->second;
  }

 private:
  std::map<std::string, double, std::less<>> values_;
};

// Two materials in contact. Values given for the pair have already replaced those of both.
struct MaterialPair {
  const MaterialValues &first, &second;

  [[nodiscard]] bool both_have(std::string_view name) const { return first.has(name) && second.has(name); }
  [[nodiscard]] double geometric_mean(std::string_view name, double otherwise = 0) const {
    return std::sqrt(first.get(name, otherwise) * second.get(name, otherwise));
  }
  [[nodiscard]] double restitution() const { return geometric_mean("restitution", 1); }
};

// The damping ratio (fraction of critical damping) that gives a coefficient of restitution.
inline double damping_ratio(double restitution) {
  constexpr double pi = 3.141592653589793;
  const double log = std::log(restitution);
  // sqrt(π² + log²), correctly rounded except in rare cases: the square in double-double precision, then one Newton
  // step.
  const double large = pi * pi, large_rest = std::fma(pi, pi, -large);
  const double small = log * log, small_rest = std::fma(log, log, -small);
  const double sum = large + small, sum_rest = ((large - sum) + small) + (large_rest + small_rest);
  const double root = std::sqrt(sum);
  const double length = root + (std::fma(-root, root, sum) + sum_rest) / (2 * root);
  return -log / length;
}

}  // namespace vicinal::dem
