// The leaves that touch each other at faces, edges and corners, at any level, across periodic borders, too.
//
// Koch 2020, section 2.4, describes two methods. *Stored*: every leaf keeps a list, and only a split (here also a
// merge) changes the lists of the leaves around it. *Sampled*: every search finds the leaves around each leaf again, by
// descending from the root to 26 cells just outside of it, one for each direction, and from nodes of its own size
// further down to all leaves that touch it. In one direction these form a node of its own size, part of a larger leaf,
// or smaller leaves in such a node; so a leaf with smaller neighbours finds all of them, and the 26 samples are
// complete. A larger leaf may be hit by several samples and counts once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/octree_leaves.hpp"

namespace vicinal {

// Leaves first … first + count - 1 in an image.
struct LeafRun {
  std::uint32_t first, count;
  Shift shift{};
};

namespace detail {

// Calls f(shift, block - shift) for the images of the grid in which a block, which may reach out of it, has cells.
template <int D, class F>
void for_each_image(const OctreeGrid<D>& grid, const CellBlock<D>& block, F&& f) {
  std::array<std::int64_t, 3> first{};
  std::array<std::int64_t, 3> last{};
  const auto down = [](std::int64_t x, std::int64_t n) { return (x >= 0 ? x : x - n + 1) / n; };
  for (std::size_t a = 0; a < D; ++a) {
    if (!grid.periodic[a]) continue;
    first[a] = down(block.low[a], grid.cells[a]);
    last[a] = down(block.high[a], grid.cells[a]);
  }
  for (std::int64_t z = first[2]; z <= last[2]; ++z)
    for (std::int64_t y = first[1]; y <= last[1]; ++y)
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        const std::array<std::int64_t, 3> image{x, y, z};
        CellBlock<D> inside = block;
        for (std::size_t a = 0; a < D; ++a) {
          inside.low[a] = std::max<std::int64_t>(block.low[a] - image[a] * grid.cells[a], 0);
          inside.high[a] = std::min(block.high[a] - image[a] * grid.cells[a], grid.cells[a] - 1);
        }
        f(Shift{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), static_cast<std::int16_t>(z)}, inside);
      }
}

template <int D>
CellBlock<D> around(const OctreeGrid<D>& grid, CellBlock<D> block) {
  for (std::size_t a = 0; a < D; ++a) {
    block.low[a] -= grid.radius[a];
    block.high[a] += grid.radius[a];
  }
  return block;
}

template <int D>
bool overlap(const CellBlock<D>& one, const CellBlock<D>& other) {
  for (std::size_t a = 0; a < D; ++a)
    if (one.low[a] > other.high[a] || one.high[a] < other.low[a]) return false;
  return true;
}

// Appends a leaf to ascending runs.
inline void append(std::vector<LeafRun>& runs, std::uint32_t leaf, const Shift& shift) {
  if (!runs.empty() && runs.back().first + runs.back().count == leaf && runs.back().shift == shift) ++runs.back().count;
  else runs.push_back({leaf, 1, shift});
}

}  // namespace detail

// The 26 samples of a leaf (8 in the plane; more where a periodic axis is a single cell and bodies are larger than it).
template <int D>
class SampledAdjacency {
 public:
  // Sets `runs` to the leaves around a leaf and the leaf itself, image by image.
  void neighbors(const OctreeGrid<D>& grid, const OctreeLeaves<D>& leaves, std::uint32_t leaf,
                 std::vector<LeafRun>& runs) {
    const CellBlock<D> own = leaves.block(leaf);
    const CellBlock<D> all = detail::around(grid, own);
    adjacent_.clear();
    // Per axis the cells just below, inside and just above the leaf, as they are numbered in all the images.
    std::array<std::vector<std::int64_t>, 3> samples{{{0}, {0}, {0}}};
    for (std::size_t a = 0; a < D; ++a) {
      samples[a] = {own.low[a]};
      const bool wraps = grid.periodic[a];
      for (std::int64_t step = 1; step <= grid.radius[a]; ++step) {
        if (wraps || own.low[a] > 0) samples[a].push_back(own.low[a] - step);
        if (wraps || own.high[a] < grid.cells[a] - 1) samples[a].push_back(own.high[a] + step);
      }
    }
    for (const std::int64_t z : samples[2])
      for (const std::int64_t y : samples[1])
        for (const std::int64_t x : samples[0]) {
          const std::array<std::int64_t, 3> sample{x, y, z};
          CellBlock<D> cell;
          for (std::size_t a = 0; a < D; ++a) cell.low[a] = cell.high[a] = sample[a];
          detail::for_each_image(grid, cell, [&](const Shift& shift, const CellBlock<D>& at) {
            CellBlock<D> wanted = all;
            for (std::size_t a = 0; a < D; ++a) {
              wanted.low[a] -= shift[a] * grid.cells[a];
              wanted.high[a] -= shift[a] * grid.cells[a];
            }
            leaves.overlapping_near(at.low, leaves.side(leaf), wanted, [&](std::uint32_t other, const CellBlock<D>&) {
              adjacent_.push_back({other, shift});
            });
          });
        }
    const auto order = [](const AdjacentLeaf& f) { return std::tuple(f.shift.z, f.shift.y, f.shift.x, f.leaf); };
    std::sort(adjacent_.begin(), adjacent_.end(),
              [&](const AdjacentLeaf& a, const AdjacentLeaf& b) { return order(a) < order(b); });
    runs.clear();
    for (std::size_t k = 0; k < adjacent_.size(); ++k)
      if (k == 0 || order(adjacent_[k]) != order(adjacent_[k - 1]))
        detail::append(runs, adjacent_[k].leaf, adjacent_[k].shift);
  }

 private:
  struct AdjacentLeaf {
    std::uint32_t leaf;
    Shift shift;
  };
  std::vector<AdjacentLeaf> adjacent_;
};

// Lists of all leaves: runs of neighbours in the same image (5 bytes each, some 13 of them in space instead of 27
// neighbours), and those in other images, which only leaves at a periodic border have.
template <int D>
class StoredAdjacency {
 public:
  void build(const OctreeGrid<D>& grid, const OctreeLeaves<D>& leaves) {
    assemble(grid, leaves, [](std::uint32_t, std::vector<LeafRun>&) { return false; });
  }

  // Updates the lists after splits and merges: only leaves that are new or touch a changed leaf are computed, the
  // others keep their lists with the new numbers. `origins` is that of OctreeLeaves::changed, `before` the number of
  // leaves before.
  void change(const OctreeGrid<D>& grid, const OctreeLeaves<D>& leaves, std::span<const std::uint32_t> origins,
              std::size_t before) {
    const StoredAdjacency old = std::move(*this);
    std::vector<std::uint32_t> number(before, 0);
    std::vector<std::uint32_t> gone(before + 1, 1);  // then the number of removed leaves before each leaf
    for (std::size_t k = 0; k < origins.size(); ++k) {
      if (origins[k] == OctreeLeaves<D>::made) continue;
      number[origins[k]] = static_cast<std::uint32_t>(k);
      gone[origins[k]] = 0;
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& g : gone) sum += std::exchange(g, sum);
    assemble(grid, leaves, [&](std::uint32_t leaf, std::vector<LeafRun>& runs) {
      if (origins[leaf] == OctreeLeaves<D>::made) return false;
      old.neighbors(origins[leaf], runs);
      for (LeafRun& run : runs) {
        if (gone[run.first] != gone[run.first + run.count]) return false;
        run.first = number[run.first];
      }
      return true;
    });
  }

  // Sets `runs` to the leaves around a leaf and the leaf itself: first those of its own image, in ascending order.
  void neighbors(std::uint32_t leaf, std::vector<LeafRun>& runs) const {
    runs.clear();
    for (std::size_t k = start_[leaf]; k < start_[leaf + 1]; ++k) runs.push_back({first_[k], count_[k]});
    if (image_start_.size() == 0) return;
    for (std::size_t k = image_start_[leaf]; k < image_start_[leaf + 1]; ++k) runs.push_back(image_[k]);
  }

  // Relations between leaves, with every leaf its own neighbour.
  [[nodiscard]] std::size_t relations() const {
    std::size_t sum = 0;
    for (const std::uint8_t count : count_.span()) sum += count;
    for (const LeafRun& run : image_.span()) sum += run.count;
    return sum;
  }
  [[nodiscard]] std::size_t bytes() const {
    return start_.bytes() + first_.bytes() + count_.bytes() + image_start_.bytes() + image_.bytes();
  }

 private:
  static constexpr std::uint32_t longest = std::numeric_limits<std::uint8_t>::max();
  static constexpr std::size_t chunk_leaves = 4096;

  struct Chunk {
    std::vector<std::uint32_t> first;
    std::vector<std::uint8_t> count;
    std::vector<LeafRun> image;
    std::vector<std::uint32_t> runs, images;  // per leaf
  };

  // Makes all lists. known(leaf, runs) sets the runs of a leaf and returns true, or returns false.
  template <class Known>
  void assemble(const OctreeGrid<D>& grid, const OctreeLeaves<D>& leaves, Known&& known) {
    const std::size_t n = leaves.size();
    std::vector<Chunk> chunks((n + chunk_leaves - 1) / chunk_leaves);
    parallel_ranges(n, chunk_leaves, [&](std::size_t begin, std::size_t end, std::size_t c) {
      list(grid, leaves, begin, end, known, chunks[c]);
    });
    std::size_t runs = 0;
    std::size_t images = 0;
    for (const Chunk& chunk : chunks) {
      runs += chunk.first.size();
      images += chunk.image.size();
    }
    if (runs > std::numeric_limits<std::uint32_t>::max() || images > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("more than 2^32 neighbours of leaves");
    first_.reset(runs);
    count_.reset(runs);
    image_.reset(images);
    start_.reset(n + 1);
    image_start_.reset(grid.any_periodic() ? n + 1 : 0);
    runs = images = 0;
    std::size_t leaf = 0;
    for (Chunk& chunk : chunks) {
      std::copy(chunk.first.begin(), chunk.first.end(), first_.data() + runs);
      std::copy(chunk.count.begin(), chunk.count.end(), count_.data() + runs);
      std::copy(chunk.image.begin(), chunk.image.end(), image_.data() + images);
      for (std::size_t k = 0; k < chunk.runs.size(); ++k, ++leaf) {
        start_[leaf] = static_cast<std::uint32_t>(runs);
        runs += chunk.runs[k];
        if (image_start_.size() == 0) continue;
        image_start_[leaf] = static_cast<std::uint32_t>(images);
        images += chunk.images[k];
      }
      chunk = Chunk();
    }
    start_[n] = static_cast<std::uint32_t>(runs);
    if (image_start_.size() > 0) image_start_[n] = static_cast<std::uint32_t>(images);
  }

  // Siblings have neighbours in common: the neighbours of all siblings are found once and then tested for each.
  template <class Known>
  static void list(const OctreeGrid<D>& grid, const OctreeLeaves<D>& leaves, std::size_t begin, std::size_t end,
                   Known&& known, Chunk& chunk) {
    struct Near {
      std::uint32_t leaf;
      Shift shift;
      CellBlock<D> block;  // its position in the image
    };
    std::vector<Near> near;
    std::vector<LeafRun> runs;
    std::size_t listed = begin;  // `near` is for the siblings before this one
    for (std::size_t leaf = begin; leaf < end; ++leaf) {
      if (!known(static_cast<std::uint32_t>(leaf), runs)) {
        if (leaf >= listed) {
          const int side = leaves.side(leaf) + 1;
          const auto parent = [&](std::size_t k) { return leaves.key(k) >> (D * side); };
          CellBlock<D> all = leaves.block(leaf);
          listed = leaf + 1;
          for (; listed < end && leaves.side(listed) + 1 == side && parent(listed) == parent(leaf); ++listed) {
            const CellBlock<D> sibling = leaves.block(listed);
            for (std::size_t a = 0; a < D; ++a) {
              all.low[a] = std::min(all.low[a], sibling.low[a]);
              all.high[a] = std::max(all.high[a], sibling.high[a]);
            }
          }
          near.clear();
          detail::for_each_image(grid, detail::around(grid, all), [&](const Shift& shift, const CellBlock<D>& inside) {
            leaves.overlapping(inside, [&](std::uint32_t other, CellBlock<D> block) {
              for (std::size_t a = 0; a < D; ++a) {
                block.low[a] += shift[a] * grid.cells[a];
                block.high[a] += shift[a] * grid.cells[a];
              }
              near.push_back({other, shift, block});
            });
          });
        }
        const CellBlock<D> reached = detail::around(grid, leaves.block(leaf));
        runs.clear();
        for (const Near& other : near)
          if (detail::overlap(reached, other.block)) detail::append(runs, other.leaf, other.shift);
      }
      keep(runs, chunk);
    }
  }
  static void keep(const std::vector<LeafRun>& runs, Chunk& chunk) {
    const std::size_t before = chunk.first.size();
    const std::size_t images_before = chunk.image.size();
    for (const LeafRun& run : runs) {
      if (run.shift != Shift{}) {
        chunk.image.push_back(run);
        continue;
      }
      for (std::uint32_t done = 0; done < run.count; done += longest) {
        chunk.first.push_back(run.first + done);
        chunk.count.push_back(static_cast<std::uint8_t>(std::min(longest, run.count - done)));
      }
    }
    chunk.runs.push_back(static_cast<std::uint32_t>(chunk.first.size() - before));
    chunk.images.push_back(static_cast<std::uint32_t>(chunk.image.size() - images_before));
  }

  Buffer<std::uint32_t> start_;  // of each leaf's runs
  Buffer<std::uint32_t> first_;
  Buffer<std::uint8_t> count_;
  Buffer<std::uint32_t> image_start_;
  Buffer<LeafRun> image_;
};

}  // namespace vicinal
