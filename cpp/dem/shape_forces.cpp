// Forces between two shapes of which at least one is not a sphere.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "dem/forces.hpp"
#include "dem/kernels.hpp"

namespace vicinal::dem {
namespace {

// Smaller gaps between planes, in units of the sum of the radii, may be rounding errors. The distance that `connect`
// finds is a hundred times as accurate, so a pair with a larger gap never touches.
constexpr double least_plane_gap = 1e-9;

}  // namespace

void Forces::begin_contacts(std::span<const Number> entries, std::size_t block) {
  // References to thread-local variables: each use of the variables themselves would be a function call.
  static thread_local Entries known_of_thread;
  static thread_local std::vector<double> gaps_of_thread;
  Entries& known = known_of_thread;  // pairs of curved shapes with the normal of a plane that separated them
  std::vector<double>& gaps = gaps_of_thread;
  known.clear();
  for (const Number k : entries) {
    const Number i = lists_.pairs.owners()[k], j = lists_.pairs.indices()[k];
    const Vec normal = lists_.pairs.normals()[k];
    if (!assembly_.is_convex(i) && !assembly_.is_convex(j)) {
      lists_.pairs.active()[k] = 1;
      touching_.change(block, k);
    } else if (assembly_.is_curved(i) && assembly_.is_curved(j) && dot(normal, normal) > 0) {
      known.push(i, j, k);
    } else {
      begin_contact(k, block);
    }
  }
  gaps.resize(known.size());
  kernels().gaps(curved_job({known.size(), known.i.data(), known.j.data(), known.entry.data()}), gaps.data());
  const Place* const places = assembly_.acting().places;
  for (std::size_t c = 0; c < gaps.size(); ++c) {
    if (gaps[c] > least_plane_gap * (places[known.i[c]].r + places[known.j[c]].r))
      sleep(known.entry[c], block, gaps[c]);
    else begin_contact(known.entry[c], block);
  }
}

void Forces::begin_contact(Number entry, std::size_t block) {
  const std::size_t i = lists_.pairs.owners()[entry], j = lists_.pairs.indices()[entry];
  const Place* const places = assembly_.acting().places;
  const double least = least_plane_gap * (places[i].r + places[j].r);
  Vec4& normal = lists_.pairs.normals()[entry];
  if (dot(normal, normal) > 0) {
    const double gap = assembly_.gap_along(i, j, normal);
    if (gap > least) return sleep(entry, block, gap);
  }
  // The result for a new contact must not depend on the step in which the search began, so the normal of a separating
  // plane is not used as a first guess.
  constexpr double enough = 0.1;  // a wider gap, relative to the radii, would hardly let the pair sleep longer
  const Contact contact = assembly_.pair_contact(i, j, {}, enough * (places[i].r + places[j].r));
  normal = contact.normal;
  if (contact.overlap > 0) {
    lists_.pairs.active()[entry] = 1;
    touching_.change(block, entry);
    return;
  }
  const double gap = assembly_.gap_along(i, j, normal);
  sleep(entry, block, gap > least ? gap : 0);
}

void Forces::sleep(Number entry, std::size_t block, double gap) {
  double& wake = pair_wake(entry, block);
  wake = std::min(wake, odometers_[block] + usable_gap * gap);
}

void Forces::sort_contacts(TouchingPairs::Part all, std::size_t block) {
  static thread_local std::vector<Number> of_thread[6];
  // The pairs that are not of spheres, in columns: curved shapes, then others. Pointers, because each use of the
  // thread-local variables would be a function call.
  Number* columns[6];
  for (std::size_t k = 0; k < 6; ++k) {
    if (of_thread[k].size() < all.size) of_thread[k].resize(all.size);
    columns[k] = of_thread[k].data();
  }
  TouchingPairs::Sizes sizes;
  for (std::size_t c = 0; c < all.size; ++c) {
    const Number i = all.i[c], j = all.j[c], k = all.entry[c];
    if (!assembly_.is_convex(i) && !assembly_.is_convex(j)) {
      lists_.pairs.set_points(k, 1);  // the loop over spheres knows one spring only
      all.i[sizes.spheres] = i;
      all.j[sizes.spheres] = j;
      all.entry[sizes.spheres++] = k;
      continue;
    }
    const bool curved = assembly_.is_curved(i) && assembly_.is_curved(j);
    Number* const* const to = columns + (curved ? 0 : 3);
    const std::size_t place = curved ? sizes.curved++ : sizes.others++;
    to[0][place] = i;
    to[1][place] = j;
    to[2][place] = k;
  }
  touching_.sizes[block] = sizes;
  const auto put = [](Number* const* from, TouchingPairs::Part to) {
    std::copy_n(from[0], to.size, to.i);
    std::copy_n(from[1], to.size, to.j);
    std::copy_n(from[2], to.size, to.entry);
  };
  put(columns, touching_.curved(block, first_entry(block)));
  put(columns + 3, touching_.others(block, first_entry(block)));
}

CurvedJob Forces::curved_job(TouchingPairs::Part pairs) {
  return {pairs.size,
          pairs.i,
          pairs.j,
          pairs.entry,
          assembly_.acting().places,
          assembly_.poses(),
          lists_.pairs.normals(),
          assembly_.period};
}

void Forces::curved_forces(std::size_t block, double step, std::vector<PointContact>& contacts) {
  static thread_local std::vector<LeftContact> left;
  const Assembly::Acting act = assembly_.acting();
  const TouchingPairs::Part pairs = touching_.curved(block, first_entry(block));
  if (pairs.size == 0) return;
  if (left.size() < pairs.size) left.resize(pairs.size);
  CurvedContactJob job;
  static_cast<ContactJob&>(job) = law_job(lists_.pairs, step);
  job.pairs = curved_job(pairs);
  job.normals = lists_.pairs.normals();
  job.spread = lists_.pairs.spread();
  job.rows = &lists_.pairs;
  job.gather = [](ContactRows& rows, std::size_t entry) { rows.set_points(entry, 1); };
  job.sizes = assembly_.sizes();
  job.materials = act.materials;
  job.table_edge = assembly_.law.materials();
  job.uniform = uniform(block);
  job.loads = loads_.data();
  job.targets = remote_.targets();
  job.left = left.data();
  kernels().curved_contacts(job, assembly_.law.law());
  for (std::size_t k = 0; k < job.leavings; ++k) {
    const LeftContact& one = job.left[k];
    const Number i = pairs.i[one.contact], j = pairs.j[one.contact], entry = pairs.entry[one.contact];
    if (!one.known) {
      take_contact(assembly_.pair_contact(i, j, lists_.pairs.normals()[entry]), i, j, entry, block, contacts);
      continue;
    }
    Contact contact = assembly_.pair_of(i, j);
    contact.point = centre(act.places[i]) + one.arm;
    contact.normal = one.normal;
    contact.overlap = one.arm.overlap;
    take_contact(contact, i, j, entry, block, contacts);
  }
}

void Forces::shape_forces(std::size_t block, double step) {
  static thread_local std::vector<PointContact> of_thread;
  std::vector<PointContact>& contacts = of_thread;
  contacts.clear();
  curved_forces(block, step, contacts);
  const TouchingPairs::Part others = touching_.others(block, first_entry(block));
  for (std::size_t c = 0; c < others.size; ++c) {
    const Number i = others.i[c], j = others.j[c], k = others.entry[c];
    take_contact(assembly_.pair_contact(i, j, lists_.pairs.normals()[k]), i, j, k, block, contacts);
  }
  if (contacts.empty()) return;
  const Assembly::Acting act = assembly_.acting();
  apply_law(contacts, lists_.pairs, step);
  for (const PointContact& contact : contacts) {
    const std::size_t i = contact.row, j = contact.second;
    const Vec force = contact.force, moment = contact.moment;
    const Vec arm = contact.point - centre(act.places[i]);
    add(loads_[i], force, cross(arm, force) + moment);
    const Vec other = assembly_.arm_of_second(i, j, arm);
    add(loads_[remote_.targets()[contact.entry]], -force, cross(force, other) - moment);
  }
}

void Forces::take_contact(const Contact& contact, std::size_t i, std::size_t j, Number k, std::size_t block,
                          std::vector<PointContact>& contacts) {
  const Assembly::Acting act = assembly_.acting();
  Vec4& normal = lists_.pairs.normals()[k];
  if (contact.overlap > 0) {
    const Patch patch = assembly_.pair_patch(i, j, contact);
    const Number coefficients = assembly_.law.row(act.materials[i], act.materials[j]);
    const std::size_t from = contacts.size();
    lists_.pairs.set_points(k, patch.size);
    for (std::size_t p = 0; p < patch.size; ++p) {
      PointContact& to = contacts.emplace_back();
      set_contact(to, contact, normal);
      set_point(to, patch, p, lists_.pairs.spring(k, p));
      to.row = static_cast<Number>(i);
      to.entry = k;
      to.second = static_cast<Number>(j);
      to.coefficients = coefficients;
      const Vec other = assembly_.arm_of_second(i, j, patch.points[p] - centre(act.places[i]));
      set_second(to, side_of(act.motions[j], other));
    }
    const Motion &first = act.motions[i], &second = act.motions[j];
    damp_rocking(patch, std::span(contacts).subspan(from), contact.normal,
                 (first.w + first.dw) - (second.w + second.dw));
  } else {
    end_contact(k, block);
  }
  normal = contact.normal;
}

void Forces::apply_law(std::vector<PointContact>& contacts, ContactRows& rows, double step) {
  PointJob job{law_job(rows, step)};
  job.size = contacts.size();
  job.contacts = contacts.data();
  kernels().point_contacts(job, assembly_.law.law());
}

}  // namespace vicinal::dem
