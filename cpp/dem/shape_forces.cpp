// Forces between two shapes of which at least one is not a sphere.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/forces.hpp"
#include "dem/kernels.hpp"

namespace vicinal::dem {

// Pairs of curved shapes with a known normal are processed in vector loops, the others one by one.
void Forces::shape_forces(const Entries& entries, double step) {
  const Assembly::Acting act = assembly_.acting();
  static thread_local Entries near, apart;  // pairs that touched in the step before; pairs that did not
  static thread_local std::vector<std::uint8_t> parted;
  static thread_local std::vector<CurvedContact> found;
  static thread_local std::vector<PointContact> contacts;
  near.clear();
  apart.clear();
  contacts.clear();
  const auto find = [&](std::size_t i, std::size_t j, std::size_t k) {
    const bool fresh = lists_.pairs.active()[k] == 0;
    // The result for a new contact must not depend on the step in which the search began, so the normal of a separating
    // plane is not used as a first guess.
    take_contact(assembly_.pair_contact(i, j, fresh ? Vec{} : lists_.pairs.normals()[k]), i, j, k, contacts);
  };
  for (std::size_t c = 0; c < entries.size(); ++c) {
    const Number i = entries.i[c], j = entries.j[c], k = entries.entry[c];
    const bool curved = assembly_.is_curved(i) && assembly_.is_curved(j);
    const Vec normal = lists_.pairs.normals()[k];
    const bool known = dot(normal, normal) > 0;
    if (!curved && known && lists_.pairs.active()[k] == 0 && assembly_.are_separated(i, j, normal)) continue;
    if (!curved || !known) find(i, j, k);
    else (lists_.pairs.active()[k] != 0 ? near : apart).push(i, j, k);
  }

  const auto job = [&](const Entries& some) {
    return CurvedJob{some.size(), some.i.data(),     some.j.data(),          some.entry.data(),
                     act.places,  assembly_.poses(), lists_.pairs.normals(), assembly_.period};
  };
  // For pairs that do not touch, the stored normal is that of a separating plane, which usually stays valid for many
  // steps.
  parted.resize(apart.i.size());
  kernels().separated(job(apart), parted.data());
  for (std::size_t c = 0; c < parted.size(); ++c)
    if (parted[c] == 0) find(apart.i[c], apart.j[c], apart.entry[c]);
  found.resize(near.i.size());
  kernels().curved_contacts(job(near), found.data());
  for (std::size_t c = 0; c < found.size(); ++c) {
    const std::size_t i = near.i[c], j = near.j[c];
    if (!found[c].converged) {
      find(i, j, near.entry[c]);
      continue;
    }
    Contact contact = assembly_.pair_of(i, j);
    contact.point = centre(act.places[i]) + found[c].arm;
    contact.normal = found[c].normal;
    contact.overlap = found[c].arm.overlap;
    take_contact(contact, i, j, near.entry[c], contacts);
  }

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

void Forces::take_contact(const Contact& contact, std::size_t i, std::size_t j, std::size_t k,
                          std::vector<PointContact>& contacts) {
  const Assembly::Acting act = assembly_.acting();
  const bool fresh = lists_.pairs.active()[k] == 0;
  Vec& normal = lists_.pairs.normals()[k];
  if (contact.overlap > 0) {
    const Patch patch = assembly_.pair_patch(i, j, contact);
    const Vec before = fresh ? Vec{} : normal;
    const Number coefficients = assembly_.law.row(act.materials[i], act.materials[j]);
    const std::size_t from = contacts.size();
    lists_.pairs.set_points(k, patch.size);
    for (std::size_t p = 0; p < patch.size; ++p) {
      PointContact& to = contacts.emplace_back();
      set_contact(to, contact, before);
      set_point(to, patch, p, lists_.pairs.spring(k, p));
      to.row = static_cast<Number>(i);
      to.entry = static_cast<Number>(k);
      to.second = static_cast<Number>(j);
      to.coefficients = coefficients;
      const Vec other = assembly_.arm_of_second(i, j, patch.points[p] - centre(act.places[i]));
      set_second(to, side_of(act.motions[j], other));
    }
    const Motion &first = act.motions[i], &second = act.motions[j];
    damp_rocking(patch, std::span(contacts).subspan(from), contact.normal,
                 (first.w + first.dw) - (second.w + second.dw));
    lists_.pairs.active()[k] = 1;
  } else if (!fresh) {
    lists_.pairs.forget(k);
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
