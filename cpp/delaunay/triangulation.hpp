// The triangulation as data: index triangles, one incident triangle per vertex, a ghost vertex for the outside.
//
// Invariants, true between any two calls of the functions in this folder:
//   * Triangle t has vertices v[0..2], counter-clockwise, and n[i] is the edge of the neighbouring triangle on the side
//     opposite v[i]. An edge is numbered 4 t + i, seen from the triangle t it belongs to; n is symmetric.
//   * The outside is triangulated, too: every edge of the hull forms a ghost triangle with the vertex `ghost`, which
//     stands for a point infinitely far away. So every edge has two sides and hull vertices need no special cases.
//   * Every real triangle turns strictly left, and the triangles tile the convex hull.
//   * No vertex lies inside the circle of a triangle (Delaunay). Ties, four vertices on one empty circle: the edge
//     between them does not touch the lexicographically greatest of the four (by x, then by y).
//   * incident[v] is a triangle that has v as a vertex, or `none` if v is not a vertex.
//   * Of coincident points one is the vertex; the others are attached to it in a list (`twin`, `host`).
//   * If all points lie on a line there are no triangles; `line` has the vertices in lexicographic order, which is
//     their order along the line.
//
// The rule for ties is a perturbation: lift every point onto the paraboloid z = x^2 + y^2 and raise it by an amount
// that is infinitely small, and infinitely larger for lexicographically greater points. Delaunay triangles are the
// lower hull of the lifted points; four points on a circle lie in a plane, the greatest of them is raised most, so the
// fold runs between its two neighbours. Three points on a circle are never on a line, so nothing else can tie. The
// triangulation is therefore unique: it depends on the positions of the points, not on their history.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/predicates.hpp"

namespace vicinal::delaunay {

using Vertex = std::uint32_t;
using Edge = std::uint32_t;

inline constexpr std::uint32_t none = 0xffffffffU;
inline constexpr Vertex ghost = none;

// The position after and before i in a triangle.
inline constexpr std::uint32_t after(std::uint32_t i) { return (1U << i) & 3U; }
inline constexpr std::uint32_t before(std::uint32_t i) { return (0x12U >> (2 * i)) & 3U; }
static_assert(after(0) == 1 && after(1) == 2 && after(2) == 0);
static_assert(before(0) == 2 && before(1) == 0 && before(2) == 1);

inline constexpr std::uint32_t triangle_of(Edge e) { return e >> 2U; }
inline constexpr std::uint32_t side_of(Edge e) { return e & 3U; }
inline constexpr Edge edge_of(std::uint32_t triangle, std::uint32_t side) { return triangle << 2U | side; }

// Half a cache line. The fourth entries are unused.
struct alignas(32) Triangle {
  std::array<Vertex, 4> v{none, none, none, none};
  std::array<Edge, 4> n{none, none, none, none};

  [[nodiscard]] bool real() const { return ((v[0] | v[1] | v[2]) >> 31U) == 0; }  // points are fewer than 2^31
  [[nodiscard]] bool dead() const { return v[0] == none && v[1] == none; }
};

struct Triangulation {
  std::vector<Point2> points;
  std::vector<Triangle> triangles;
  std::vector<std::uint32_t> vacant;    // dead triangles, to be used again
  std::vector<std::uint32_t> incident;  // per point
  std::vector<Vertex> twin;             // per point: the next one at the same position, or `none`
  std::vector<Vertex> host;             // per point: the vertex it is attached to (itself, if it is one), or `none`
  std::vector<Vertex> line;
  std::size_t vertices = 0;   // points that are vertices; all others are attached to one
  bool flat = true;           // all points on a line (or fewer than three)
  bool tame = true;           // no coordinate is extreme: predicates may skip the check
  std::uint32_t last = none;  // a recently changed triangle, where searches start

  // Reused by the functions that change the triangulation.
  std::vector<Edge> stack, rim;
  std::vector<std::uint32_t> hollow;

  [[nodiscard]] double orient(Point2 a, Point2 b, Point2 c) const {
    return tame ? orient2d_tame(a, b, c) : orient2d(a, b, c);
  }
  [[nodiscard]] double orient(Vertex a, Vertex b, Vertex c) const { return orient(points[a], points[b], points[c]); }
  [[nodiscard]] double circle(Point2 a, Point2 b, Point2 c, Point2 d) const {
    return tame ? incircle_tame(a, b, c, d) : incircle(a, b, c, d);
  }

  void join(Edge a, Edge b) {
    triangles[triangle_of(a)].n[side_of(a)] = b;
    triangles[triangle_of(b)].n[side_of(b)] = a;
  }
  [[nodiscard]] Edge across(Edge e) const { return triangles[triangle_of(e)].n[side_of(e)]; }
  [[nodiscard]] Vertex apex(Edge e) const { return triangles[triangle_of(e)].v[side_of(e)]; }

  [[nodiscard]] std::uint32_t take_triangle() {
    if (vacant.empty()) {
      triangles.emplace_back();
      return static_cast<std::uint32_t>(triangles.size() - 1);
    }
    const std::uint32_t t = vacant.back();
    vacant.pop_back();
    return t;
  }
  void give_triangle(std::uint32_t t) {
    triangles[t] = Triangle{};
    vacant.push_back(t);
  }

  // Sets the points, without triangles.
  void clear() {
    triangles.clear();
    vacant.clear();
    line.clear();
    incident.assign(points.size(), none);
    twin.assign(points.size(), none);
    host.assign(points.size(), none);
    vertices = 0;
    flat = true;
    last = none;
  }
};

// Whether the diagonal of a circular quadrilateral is cd, not ab (the rule for ties, above).
inline bool tie_prefers_second(Point2 a, Point2 b, Point2 c, Point2 d) {
  const Point2 first = lexicographic_less(a, b) ? b : a;
  const Point2 second = lexicographic_less(c, d) ? d : c;
  return lexicographic_less(second, first);
}

// Whether p is strictly inside the segment ab, given that the three are on a line.
inline bool between(Point2 a, Point2 p, Point2 b) {
  return lexicographic_less(a, b) ? lexicographic_less(a, p) && lexicographic_less(p, b)
                                  : lexicographic_less(b, p) && lexicographic_less(p, a);
}

}  // namespace vicinal::delaunay
