// The bins of histograms, more of them than a test in Python could pass as a list.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "pairs/histogram.hpp"

namespace {

const check::Register bins("a square is in the bin whose edges enclose it, however many bins there are", [] {
  std::mt19937 random(1);
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{16'000'000}}) {
    std::vector<double> edges(count + 1);
    for (std::size_t k = 0; k <= count; ++k) {
      const double edge = static_cast<double>(k) / static_cast<double>(count);
      edges[k] = edge * edge;
    }
    const vicinal::Bins<double> of(edges);
    // The last ones of bins that are far from 0, whose distances are rounded the most.
    std::vector<double> squares(100'000);
    for (double& square : squares) square = std::nextafter(edges[count - random() % (count / 4 + 1)], 0);
    std::vector<std::int32_t> cells(squares.size());
    of.find_cells(squares.data(), squares.size(), cells.data());
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < squares.size(); ++k) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), squares[k]) - edges.begin();
      wrong += of.finder()(squares[k], cells[k]) + 1 == static_cast<std::size_t>(above) ? 0 : 1;
    }
    check::equal(wrong, std::size_t{0}, "squares in a wrong bin of " + std::to_string(count));
  }
});

}  // namespace
