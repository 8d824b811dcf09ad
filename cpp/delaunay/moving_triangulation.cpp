#include "delaunay/moving_triangulation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "delaunay/build.hpp"
#include "delaunay/curve.hpp"
#include "delaunay/edit.hpp"
#include "delaunay/graph.hpp"
#include "delaunay/nearest.hpp"

namespace vicinal::delaunay {

template <class T>
void MovingTriangulation<T>::build(std::span<const T> xy) {
  std::vector<Point2> points(xy.size() / 2);
  for (std::size_t k = 0; k < points.size(); ++k) points[k] = point(xy, k);
  triangulate(points);
}

template <class T>
MotionResult MovingTriangulation<T>::update(std::span<const T> xy, double skin) {
  next_.resize(size());
  for (std::size_t s = 0; s < size(); ++s) next_[s] = point(xy, ids_[s]);
  settled_ = false;
  slack_ = skin > 0 ? 2 * farthest_move() : std::numeric_limits<double>::infinity();
  return slack_ <= skin ? MotionResult{} : settle();
}

template <class T>
MotionResult MovingTriangulation<T>::settle() {
  if (settled_) return MotionResult{};
  check(size());
  MotionResult motion = move_points(tri_, next_, angles_);
  settled_ = true;
  ++version_;
  // After a long drift, neighbours in space are far apart in memory: then a new order pays off.
  if (motion.rebuild || disorder() > fresh_disorder_ + 2) {
    motion.rebuild = true;
    std::vector<Point2> points(size());
    for (std::size_t s = 0; s < size(); ++s) points[ids_[s]] = tri_.points[s];
    triangulate(points);
  }
  return motion;
}

template <class T>
void MovingTriangulation<T>::insert(std::span<const T> xy) {
  settle();
  const std::size_t old = size(), more = xy.size() / 2;
  check(old + more);
  ++version_;
  // Insertion costs two to three times as much per point as a build.
  if (more > old / 4) {
    std::vector<Point2> points(old + more);
    for (std::size_t s = 0; s < old; ++s) points[ids_[s]] = tri_.points[s];
    for (std::size_t k = 0; k < more; ++k) points[old + k] = point(xy, k);
    return triangulate(points);
  }
  std::vector<Point2> fresh(more);
  std::vector<std::uint32_t> order(more);
  for (std::size_t k = 0; k < more; ++k) fresh[k] = point(xy, k);
  std::iota(order.begin(), order.end(), 0U);
  sort_along_curve(fresh, order);
  slots_.resize(old + more);
  for (const std::uint32_t k : order) {
    slots_[old + k] = static_cast<std::uint32_t>(ids_.size());
    ids_.push_back(static_cast<std::uint32_t>(old + k));
    append_point(tri_, fresh[k]);
  }
}

template <class T>
void MovingTriangulation<T>::remove(std::span<const std::uint32_t> ids) {
  settle();
  ++version_;
  const std::size_t old = size();
  std::vector<std::uint32_t> fresh(old, 0);  // new ids
  for (const std::uint32_t id : ids) fresh[id] = none;
  std::uint32_t next = 0;
  for (std::uint32_t& id : fresh)
    if (id != none) id = next++;
  // Removal costs several times as much per point as a build; much more where many points coincide.
  bool rebuild = ids.size() > old / 8 || tri_.vertices < old / 2;
  for (std::size_t k = 0; k < ids.size() && !rebuild; ++k) {
    const std::uint32_t slot = slots_[ids[k]];
    rebuild = !remove_point(tri_, slot);
    if (rebuild) break;
    slots_[ids_.back()] = slot;
    ids_[slot] = ids_.back();
    ids_.pop_back();
  }
  if (rebuild) {
    std::vector<Point2> points(next);
    for (std::size_t s = 0; s < ids_.size(); ++s)
      if (fresh[ids_[s]] != none) points[fresh[ids_[s]]] = tri_.points[s];
    return triangulate(points);
  }
  slots_.resize(ids_.size());
  for (std::uint32_t s = 0; s < ids_.size(); ++s) {
    ids_[s] = fresh[ids_[s]];
    slots_[ids_[s]] = s;
  }
}

template <class T>
Flaw MovingTriangulation<T>::verify() const {
  return delaunay::verify(tri_);
}

template <class T>
std::vector<std::array<std::uint32_t, 3>> MovingTriangulation<T>::triangles() const {
  const std::vector<std::uint32_t> label = labels(tri_, ids_);
  std::vector<std::array<std::uint32_t, 3>> rows;
  rows.reserve(tri_.triangles.size());
  for (const Triangle& t : tri_.triangles)
    if (t.real()) rows.push_back({label[t.v[0]], label[t.v[1]], label[t.v[2]]});
  return rows;
}

template <class T>
std::vector<std::array<std::uint32_t, 2>> MovingTriangulation<T>::edges() const {
  const std::vector<std::uint32_t> label = labels(tri_, ids_);
  std::vector<std::array<std::uint32_t, 2>> rows;
  rows.reserve(3 * tri_.vertices);
  const auto add = [&](Vertex a, Vertex b) {
    rows.push_back({std::min(label[a], label[b]), std::max(label[a], label[b])});
  };
  for (std::uint32_t t = 0; t < tri_.triangles.size(); ++t)
    for (std::uint32_t i = 0; i < 3; ++i) {
      const Vertex a = tri_.triangles[t].v[after(i)], b = tri_.triangles[t].v[before(i)];
      if (a != ghost && b != ghost && edge_of(t, i) < tri_.triangles[t].n[i]) add(a, b);
    }
  for (std::size_t k = 1; k < tri_.line.size(); ++k) add(tri_.line[k - 1], tri_.line[k]);
  for (Vertex v = 0; v < tri_.points.size(); ++v)
    if (label[v] != ids_[v]) rows.push_back({label[v], ids_[v]});
  return rows;
}

template <class T>
std::vector<std::int64_t> MovingTriangulation<T>::locate(std::span<const T> xy) const {
  std::vector<std::int64_t> result(xy.size() / 2, -1);
  if (tri_.flat) return result;
  std::vector<std::int64_t> row(tri_.triangles.size(), -1);
  std::int64_t next = 0;
  for (std::size_t t = 0; t < row.size(); ++t)
    if (tri_.triangles[t].real()) row[t] = next++;
  std::vector<Point2> places(result.size());
  std::vector<std::uint32_t> order(result.size());
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = point(xy, k);
  std::iota(order.begin(), order.end(), 0U);
  sort_along_curve(places, order);
  std::uint32_t t = tri_.last;
  for (const std::uint32_t k : order) {
    t = delaunay::locate(tri_, places[k], t);
    result[k] = row[t];
  }
  return result;
}

template <class T>
std::vector<std::uint32_t> MovingTriangulation<T>::nearest() const {
  Graph graph;
  graph.build(tri_);
  std::vector<std::uint32_t> by_slot(size(), none), by_id(size());
  nearest_points(tri_, graph, ids_, by_slot);
  for (std::size_t s = 0; s < size(); ++s) by_id[ids_[s]] = by_slot[s];
  return by_id;
}

template <class T>
std::size_t MovingTriangulation<T>::bytes() const {
  return tri_.points.capacity() * (sizeof(Point2) + 3 * sizeof(Vertex)) + tri_.triangles.capacity() * sizeof(Triangle) +
         tri_.vacant.capacity() * sizeof(std::uint32_t) +
         (ids_.capacity() + slots_.capacity()) * sizeof(std::uint32_t) + next_.capacity() * sizeof(Point2) +
         angles_.bytes();
}

template <class T>
void MovingTriangulation<T>::check(std::size_t points) {
  if (points >= std::size_t{1} << 29U) throw std::length_error("too many points for a triangulation");
  if (!exact::rounds_to_nearest()) throw std::runtime_error("the processor is set not to round to nearest");
}

template <class T>
void MovingTriangulation<T>::triangulate(std::span<const Point2> points) {
  check(points.size());
  ++version_;
  settled_ = true;
  ids_.resize(points.size());
  slots_.resize(points.size());
  tri_.points.resize(points.size());
  std::iota(ids_.begin(), ids_.end(), 0U);
  sort_along_curve(points, ids_);
  for (std::uint32_t s = 0; s < ids_.size(); ++s) {
    slots_[ids_[s]] = s;
    tri_.points[s] = points[ids_[s]];
  }
  delaunay::build(tri_);
  fresh_disorder_ = disorder();
}

template <class T>
double MovingTriangulation<T>::farthest_move() const {
  double most = 0;
  for (std::size_t s = 0; s < size(); ++s) most = std::max(most, squared_distance(next_[s], tri_.points[s]));
  // Squares of such numbers underflow; 2^-40 covers the rounding of the rest.
  constexpr double smallest = 1e-280;
  return std::sqrt(std::max(most, smallest)) * (1 + 0x1p-40);
}

template <class T>
double MovingTriangulation<T>::disorder() const {
  constexpr std::size_t step = 64, small = 8192;
  if (size() < small) return 0;
  double bits = 0, edges = 0;
  for (std::size_t t = 0; t < tri_.triangles.size(); t += step) {
    const Triangle& here = tri_.triangles[t];
    if (!here.real()) continue;
    const auto apart = [](Vertex a, Vertex b) { return std::bit_width(a > b ? a - b : b - a); };
    bits += static_cast<double>(apart(here.v[0], here.v[1]) + apart(here.v[1], here.v[2]));
    edges += 2;
  }
  return edges > 0 ? bits / edges : 0;
}

template class MovingTriangulation<float>;
template class MovingTriangulation<double>;

}  // namespace vicinal::delaunay
