#include "dem/migration.hpp"

#include <cstring>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace vicinal::dem {
namespace {

struct MovedBody {
  Place place;
  Motion motion;
  Quat orientation;
  Vec inertia, momentum, half_impulse;
  double mass;
  std::int64_t id;
  std::uint64_t key;
  std::int32_t shape;
  std::uint8_t material;
};
struct ContactRecord {
  std::int64_t first_id, second_id;
  Number first_part, second_part;  // of a contact with a wall: `second_part` is the primitive
  ContactMemory memory;
};
struct Header {
  std::size_t bodies, pairs, walls, points;
};

template <class T>
void append(Parcel& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t old = to.size();
  to.resize(old + sizeof(T));
  std::memcpy(to.data() + old, &value, sizeof(T));
}
template <class T>
T read(std::span<const std::byte>& from) {
  T value;
  std::memcpy(&value, from.data(), sizeof(T));
  from = from.subspan(sizeof(T));
  return value;
}

MovedBody record_of(const GrainBodies& bodies, std::size_t row) {
  MovedBody record{};
  record.place = bodies.places[row];
  record.motion = bodies.motions[row];
  record.orientation = bodies.orientations[row];
  record.inertia = bodies.inertias[row];
  record.momentum = bodies.momenta[row];
  record.half_impulse = bodies.half_impulses[row];
  record.mass = bodies.masses[row];
  record.id = bodies.ids[row];
  record.key = bodies.keys[row];
  record.shape = bodies.shapes[row];
  record.material = bodies.materials[row];
  return record;
}

void set_row(GrainBodies& bodies, std::size_t row, const MovedBody& record, bool ghost) {
  bodies.places[row] = record.place;
  bodies.motions[row] = record.motion;
  bodies.orientations[row] = record.orientation;
  bodies.inertias[row] = record.inertia;
  bodies.momenta[row] = record.momentum;
  bodies.half_impulses[row] = record.half_impulse;
  bodies.masses[row] = record.mass;
  bodies.ids[row] = record.id;
  bodies.keys[row] = record.key;
  bodies.shapes[row] = record.shape;
  bodies.materials[row] = record.material;
  bodies.ghosts[row] = ghost ? 1 : 0;
}

}  // namespace

Migration::Part Migration::part_of(std::size_t element) const {
  const std::size_t body = assembly_.body_of(element);
  const std::size_t first = assembly_.elements.used() ? assembly_.elements.offsets[body] : body;
  return {assembly_.bodies.ids[body], static_cast<Number>(element - first)};
}

std::vector<Parcel> Migration::depart(std::span<const std::int32_t> ranks, std::int32_t own, std::size_t size) {
  lists_.stash();
  const GrainBodies& bodies = assembly_.bodies;
  const std::size_t elements = assembly_.element_places().size();
  former_.clear();
  for (std::size_t e = 0; e < elements; ++e) former_.push_back(part_of(e));
  // Where the body of an element goes; `own` if it stays, and for ghosts.
  const auto goes_to = [&](Number element) {
    const std::size_t body = assembly_.body_of(element);
    return bodies.ghosts[body] != 0 ? own : ranks[body];
  };
  std::vector<Header> headers(size, Header{});
  std::vector<Parcel> records(size), pairs(size), walls(size);
  std::vector<Number> staying;
  for (std::size_t row = 0; row < bodies.size(); ++row) {
    if (bodies.ghosts[row] != 0) continue;
    if (ranks[row] == own) {
      staying.push_back(static_cast<Number>(row));
      continue;
    }
    const auto to = static_cast<std::size_t>(ranks[row]);
    append(records[to], record_of(bodies, row));
    ++headers[to].bodies;
  }
  const ContactHistory& of_pairs = lists_.stashed_pairs;
  for (std::size_t k = 0; k < of_pairs.size(); ++k) {
    const std::int32_t targets[2] = {goes_to(of_pairs.first[k]), goes_to(of_pairs.second[k])};
    for (std::size_t side = 0; side < 2; ++side) {
      if (targets[side] == own || (side == 1 && targets[1] == targets[0])) continue;
      const auto to = static_cast<std::size_t>(targets[side]);
      const Part first = former_[of_pairs.first[k]], second = former_[of_pairs.second[k]];
      append(pairs[to], ContactRecord{first.id, second.id, first.part, second.part, of_pairs.memory(k)});
      ++headers[to].pairs;
    }
  }
  const ContactHistory& of_walls = lists_.stashed_walls;
  for (std::size_t k = 0; k < of_walls.size(); ++k) {
    const std::int32_t target = goes_to(of_walls.first[k]);
    if (target == own) continue;
    const auto to = static_cast<std::size_t>(target);
    const Part first = former_[of_walls.first[k]];
    append(walls[to], ContactRecord{first.id, -1, first.part, of_walls.second[k], of_walls.memory(k)});
    ++headers[to].walls;
  }
  std::vector<Parcel> parcels(size);
  for (std::size_t to = 0; to < size; ++to) {
    if (headers[to].bodies == 0) continue;
    headers[to].points = std::max(of_pairs.points, of_walls.points);
    append(parcels[to], headers[to]);
    for (const Parcel* part : {&records[to], &pairs[to], &walls[to]})
      parcels[to].insert(parcels[to].end(), part->begin(), part->end());
  }
  assembly_.bodies.take(staying);
  assembly_.elements = {};
  return parcels;
}

Parcel Migration::copies(std::span<const Number> rows) const {
  Parcel parcel;
  parcel.reserve(sizeof(Header) + rows.size() * sizeof(MovedBody));
  append(parcel, Header{rows.size(), 0, 0, 1});
  for (const Number row : rows) append(parcel, record_of(assembly_.bodies, row));
  return parcel;
}

void Migration::arrive(std::span<const std::byte> parcel, bool ghosts) {
  if (parcel.empty()) return;
  const auto header = read<Header>(parcel);
  GrainBodies& bodies = assembly_.bodies;
  const std::size_t old = bodies.size();
  bodies.resize(old + header.bodies);
  for (std::size_t k = 0; k < header.bodies; ++k) set_row(bodies, old + k, read<MovedBody>(parcel), ghosts);
  for (const bool of_walls : {false, true}) {
    ContactHistory& history = of_walls ? lists_.stashed_walls : lists_.stashed_pairs;
    const std::size_t count = of_walls ? header.walls : header.pairs;
    if (count > 0 && header.points > history.points) history.set_points(header.points);
    for (std::size_t k = 0; k < count; ++k) {
      const auto record = read<ContactRecord>(parcel);
      remember(of_walls, {record.first_id, record.first_part}, {record.second_id, record.second_part}, record.memory);
    }
  }
}

void Migration::remember(bool of_walls, Part first, Part second, const ContactMemory& memory) {
  const auto number = [&](Part part) {
    former_.push_back(part);
    return static_cast<Number>(former_.size() - 1);
  };
  const Number one = number(first);
  if (of_walls) lists_.stashed_walls.add(one, second.part, memory);
  else lists_.stashed_pairs.add(one, number(second), memory);
}

std::vector<Number> Migration::sort() {
  std::vector<Number> order = assembly_.key_order();
  assembly_.bodies.take(order);
  return order;
}

void Migration::settle() {
  const GrainBodies& bodies = assembly_.bodies;
  std::unordered_map<std::int64_t, Number> rows;
  rows.reserve(bodies.size());
  for (std::size_t row = 0; row < bodies.size(); ++row) rows.emplace(bodies.ids[row], static_cast<Number>(row));
  std::vector<Number> now(former_.size(), no_number);
  for (std::size_t e = 0; e < former_.size(); ++e) {
    const auto found = rows.find(former_[e].id);
    if (found == rows.end()) continue;
    const std::size_t first = assembly_.elements.used() ? assembly_.elements.offsets[found->second] : found->second;
    now[e] = static_cast<Number>(first + former_[e].part);
  }
  const auto is_ghost = [&](Number element) { return bodies.ghosts[assembly_.body_of(element)] != 0; };
  lists_.renumber(
      now, [&](Number first, Number second) { return !is_ghost(first) || !is_ghost(second); },
      [&](Number first) { return !is_ghost(first); });
  former_.clear();
}

}  // namespace vicinal::dem
