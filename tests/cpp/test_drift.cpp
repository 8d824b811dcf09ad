// The drift watch: margins per body, boxes, crossings of a periodic box, and the bound from speeds.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "geometry/box.hpp"
#include "rows/drift.hpp"

namespace {

using Watch = vicinal::DriftWatch<double, 3>;
using Box = vicinal::Box<double, 3>;

const check::Register margins("every body has the margin it was given", [] {
  const std::vector<double> built{0, 0, 0, 1, 0, 0};
  Watch watch;
  watch.remember(built, Box{}, 0, false);
  const std::array<double, 2> margin{0.1, 0.5};
  const auto drift = [&](double first, double second) {
    return watch.drift_each(std::vector<double>{first, 0, 0, 1, second, 0}, [&](std::size_t k) { return margin[k]; });
  };
  check::that(drift(0.09, 0.4).within, "both are within");
  check::that(!drift(0.11, 0.4).within, "the first left its margin");
  check::that(!drift(0.09, 0.6).within, "the second left its margin");
  check::that(std::abs(std::sqrt(drift(0.05, 0.4).share) - 0.8) < 1e-12, "the largest share is that of the second");
  check::that(!drift(std::numeric_limits<double>::quiet_NaN(), 0).within, "NaN is not within");
});

const check::Register copies("positions are copied in passing", [] {
  Watch watch;
  std::vector<double> at(3 * 1000);
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = static_cast<double>(k);
  watch.remember(at, Box{}, 0, false);
  std::vector<double> copy(at.size(), -1);
  check::that(watch.drift(at, 0.1, copy.data()).within, "nothing moved");
  check::that(copy == at, "the copy");
});

const check::Register around("the way around a periodic box is short, and crossings are counted", [] {
  const Box box{{10, 0, 10}};
  Watch watch;
  watch.remember(std::vector<double>{9.99, 5, 25}, box, 1, true);
  check::that(watch.drift(std::vector<double>{0.01, 5, 5}, 0.1).within, "a body that was wrapped");
  check::that(!watch.drift(std::vector<double>{0.01, 15, 5}, 0.1).within, "an open axis has no period");
  std::vector<std::int32_t> crossed(3);
  check::that(watch.crossings(std::vector<double>{0.01, 5, 5}, crossed), "there are crossings");
  check::that(crossed == std::vector<std::int32_t>{-1, 0, -2}, "which");
  check::that(!watch.crossings(std::vector<double>{10.01, 5, 25}, crossed), "a body that was not wrapped has none");
});

const check::Register boxes("a box may fill its box of the build, but not exceed it", [] {
  Watch watch;
  watch.remember_boxes(std::vector<double>{0, 0, 0}, std::vector<double>{2, 2, 2}, Box{}, 0.5, {2, 2, 2});
  const auto within = [&](double low, double high) {
    return watch.drift_boxes(std::vector<double>{low, 0.5, 0.5}, std::vector<double>{high, 1.5, 1.5}).within;
  };
  check::that(within(0, 2), "as large as at the build, to the last bit");
  check::that(!within(std::nextafter(0.0, -1.0), 2), "lower by a bit");
  check::that(!within(0, std::nextafter(2.0, 3.0)), "higher by a bit");
  check::that(!within(1.5, 0.5), "upside down");
});

const check::Register order("positions follow a new order of the bodies", [] {
  Watch watch;
  watch.remember(std::vector<double>{0, 0, 0, 1, 1, 1, 2, 2, 2}, Box{}, 0, false);
  watch.reorder(std::vector<std::int32_t>{2, 0, 1});
  check::that(watch.drift(std::vector<double>{2, 2, 2, 0, 0, 0, 1, 1, 1}, 0.1).within, "reordered");
});

const check::Register bound("positions are measured only when the bound runs out", [] {
  vicinal::DriftBound drift;
  drift.start(0);
  int measured = 0;
  const auto measure = [&] { return ++measured == 1 ? 0.5 : 1.0; };
  int steps = 0;
  for (; drift.lasts(0.125, measure); ++steps) drift.advance(0.125);
  check::equal(steps, 12, "eight steps by the bound, four more because half was used only");
  check::equal(measured, 2, "measurements");
});

}  // namespace
