// Fluids for Python: arrays in, arrays out. Arguments were checked in Python (src/vicinal/sph/).
#include "python/sph.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "distributed/node.hpp"
#include "python/arrays.hpp"
#include "python/vectors.hpp"
#include "sph/guard.hpp"
#include "sph/simulation.hpp"

namespace vicinal {
namespace {

namespace nb = nanobind;
using sph::Simulation;

// A new array of n rows, filled by f(row).
template <class T, class F>
nb::object filled(std::size_t n, std::size_t width, F&& f) {
  auto owner = std::make_unique<std::vector<T>>(n * width);
  T* const first = owner->data();
  for (std::size_t k = 0; k < n; ++k) f(k, first);
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[2] = {n, width};
  return nb::cast(nb::ndarray<nb::numpy, T>(first, width == 1 ? 1 : 2, shape, capsule));
}

sph::SmoothingKind smoothing_named(const std::string& name) {
  for (const auto kind : {sph::SmoothingKind::wendland_c2, sph::SmoothingKind::wendland_c4, sph::SmoothingKind::quintic,
                          sph::SmoothingKind::cubic})
    if (name == sph::with_smoothing(kind, []<class Kind>() { return Kind::name; })) return kind;
  throw nb::key_error(name.c_str());
}

using Numbers = std::map<std::string, double>;
using Vectors = std::map<std::string, std::vector<double>>;
using Names = std::map<std::string, std::string>;

template <int D>
sph::Vector<D> vector_of(const std::vector<double>& from) {
  sph::Vector<D> to{};
  for (std::size_t a = 0; a < D; ++a) to[a] = from.at(a);
  return to;
}

template <int D>
sph::FluidSettings<D> settings_of(const Numbers& numbers, const Vectors& vectors, const Names& names) {
  sph::FluidSettings<D> s;
  const std::string& scheme = names.at("scheme");
  s.scheme = scheme == "edac" ? sph::Scheme::edac : scheme == "dfsph" ? sph::Scheme::dfsph : sph::Scheme::delta;
  const std::vector<double>&rest = vectors.at("phase_density"), &sound = vectors.at("phase_sound"),
        &viscosity = vectors.at("phase_viscosity");
  if (rest.empty() || rest.size() > sph::most_phases) throw nb::value_error("too few or too many phases");
  for (std::size_t k = 0; k < rest.size(); ++k) s.phases.push_back({rest[k], sound.at(k), viscosity.at(k)});
  s.spacing = numbers.at("spacing");
  s.smoothing_length = numbers.at("smoothing_length");
  s.smoothing = smoothing_named(names.at("kernel"));
  s.state = {names.at("state") == "tait" ? sph::StateKind::tait : sph::StateKind::linear, rest[0], sound[0]};
  s.viscosity_kind = names.at("viscosity") == "laminar" ? sph::ViscosityKind::laminar : sph::ViscosityKind::artificial;
  s.viscosity = numbers.at("viscosity");
  s.diffusion = numbers.at("diffusion");
  s.shifting = numbers.at("shifting");
  s.tension = numbers.at("tension");
  s.background = numbers.at("background");
  s.tensile_control = numbers.at("tensile_control") != 0;
  s.gravity = vector_of<D>(vectors.at("gravity"));
  s.space.low = vector_of<D>(vectors.at("low"));
  s.space.period = vector_of<D>(vectors.at("period"));
  s.courant = numbers.at("courant");
  s.tolerance = numbers.at("tolerance");
  return s;
}

std::uint16_t phase_of(std::uint32_t number, std::size_t phases) {
  if (number >= phases) throw nb::value_error("a particle has a phase that does not exist");
  return static_cast<std::uint16_t>(number);
}

// Numbers as an array that is valid during a call.
template <class T>
nb::object seen_by_python(std::span<T> numbers) {
  const std::size_t shape[1] = {numbers.size()};
  return nb::cast(nb::ndarray<nb::numpy, T>(numbers.data(), 1, shape, nb::none()), nb::rv_policy::reference);
}

// The place of every particle in the order of ids.
template <class T, int D>
std::vector<std::uint32_t> rows_of(const Simulation<T, D>& sim) {
  const std::size_t n = sim.particles.size();
  std::vector<std::uint32_t> rows(n);
  bool dense = true;
  for (std::size_t k = 0; k < n; ++k) {
    rows[k] = sim.particles[k].id;
    dense &= rows[k] < n;
  }
  if (dense) return rows;  // ids differ, so they are all numbers below n
  std::vector<std::uint64_t> named(n);
  for (std::size_t k = 0; k < n; ++k) named[k] = (std::uint64_t{rows[k]} << 32) | k;
  std::sort(named.begin(), named.end());
  for (std::size_t row = 0; row < n; ++row) rows[named[row] & 0xffffffffU] = static_cast<std::uint32_t>(row);
  return rows;
}

constexpr const char* limit_names[] = {"sound", "force", "viscosity", "shifting", "tension", "flow", "pressure"};

class AnySph {
  template <int D>
  void make(bool exact, const sph::FluidSettings<D>& settings) {
    if (exact) sim_ = std::make_unique<Simulation<double, D>>(settings);
    else sim_ = std::make_unique<Simulation<float, D>>(settings);
  }
  template <class F>
  auto visit(F&& f) const {
    return std::visit([&](auto& sim) { return f(std::as_const(*sim)); }, sim_);
  }
  template <class F>
  auto visit(F&& f) {
    return std::visit([&](auto& sim) { return f(*sim); }, sim_);
  }
  std::variant<std::unique_ptr<Simulation<float, 2>>, std::unique_ptr<Simulation<float, 3>>,
               std::unique_ptr<Simulation<double, 2>>, std::unique_ptr<Simulation<double, 3>>>
      sim_;
  nb::object swap_, agree_, add_, poll_;  // of ranks
  nb::object node_object_;
  Node* node_ = nullptr;  // the same object

 public:
  AnySph(bool three, bool exact, const Numbers& numbers, const Vectors& vectors, const Names& names) {
    if (three) make<3>(exact, settings_of<3>(numbers, vectors, names));
    else make<2>(exact, settings_of<2>(numbers, vectors, names));
  }
  AnySph(const AnySph&) = delete;
  AnySph& operator=(const AnySph&) = delete;
  ~AnySph() {
    if (node_ != nullptr) node_->poll = nullptr;
  }

  // More particles; `excess` is the density above rest, and ids begin with `first`.
  void add(const In<double>& x, const In<double>& u, const In<double>& excess, const In<std::uint32_t>& phases,
           std::uint32_t first) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      const std::size_t n = excess.size(), old = sim.particles.size();
      if (x.size() != n * D || u.size() != n * D || phases.size() != n)
        throw nb::value_error("columns differ in length");
      sim.particles.resize(old + n);
      for (std::size_t k = 0; k < n; ++k) {
        auto& p = sim.particles[old + k];
        p = {};
        for (std::size_t a = 0; a < D; ++a) p.x[a] = x.data()[k * D + a], p.u[a] = u.data()[k * D + a];
        p.excess = excess.data()[k];
        p.phase = phase_of(phases.data()[k], sim.settings.phases.size());
        if (sim.settings.scheme == sph::Scheme::dfsph) {
          p.pressure = std::max(sim.settings.pressure(p.excess, p.phase), 0.0);
          p.excess = 0;
          sim.largest.pressure = std::max(sim.largest.pressure, p.pressure);
        } else {
          p.volume = sim.settings.volume();
          p.per_moment = 1;
        }
        p.id = first + static_cast<std::uint32_t>(k);
        double square = 0;
        for (const double c : p.u) square += c * c;
        double& fastest = sim.largest.speeds[p.phase];
        fastest = std::max(fastest, std::sqrt(square));
      }
    });
  }
  // Keeps the particles whose flags, in the order of ids, are set.
  void keep(const In<bool>& flags) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      if (flags.size() != sim.particles.size()) throw nb::value_error("there is another number of particles");
      const std::vector<std::uint32_t> rows = rows_of(sim);
      std::size_t to = 0;
      for (std::size_t k = 0; k < rows.size(); ++k)
        if (flags.data()[rows[k]]) sim.particles[to++] = sim.particles[k];
      sim.particles.resize(to);
    });
  }

  // Wall particles: positions, normals, velocities and accelerations, and whether fluid slips along them.
  void set_walls(const In<double>& x, const In<double>& normals, const In<double>& u, const In<double>& accelerations,
                 const In<bool>& slip) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      const std::size_t n = slip.size();
      for (const auto* column : {&x, &normals, &u, &accelerations})
        if (column->size() != n * D) throw nb::value_error("columns differ in length");
      if (sim.fixed_walls() != n) {
        sim.walls.reset(n + sim.bodies.parts.size());
        for (auto& p : sim.walls.span()) p.pressure = 0;
        sim.place_bodies();
      }
      for (std::size_t k = 0; k < n; ++k) {
        auto& p = sim.walls[k];
        for (std::size_t a = 0; a < D; ++a) {
          p.x[a] = x.data()[k * D + a], p.normal[a] = normals.data()[k * D + a];
          p.u[a] = u.data()[k * D + a], p.acceleration[a] = accelerations.data()[k * D + a];
        }
        sim.settings.space.wrap(p.x);
        p.slips = slip.data()[k] ? 1 : 0;
      }
      sim.walls_moved = true;
    });
  }

  // Rigid bodies: the arms and normals of their wall particles in the axes of the bodies, the body of each, and whether
  // fluid slips along it. Bodies are nowhere until they are placed.
  void set_bodies(std::size_t count, const In<double>& arms, const In<double>& normals, const In<std::uint32_t>& owners,
                  const In<bool>& slip) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      const std::size_t fixed = sim.fixed_walls(), n = owners.size();
      if (arms.size() != 3 * n || normals.size() != 3 * n || slip.size() != n)
        throw nb::value_error("columns differ in length");
      sim.bodies.poses.assign(count, {});
      sim.bodies.loads.assign(count, {});
      sim.bodies.parts.resize(n);
      sim.walls.resize(fixed + n);
      sim.walls_moved = true;
      for (std::size_t k = 0; k < n; ++k) {
        const double *const arm = arms.data() + 3 * k, *const normal = normals.data() + 3 * k;
        const std::uint32_t owner = owners.data()[k];
        if (owner >= count) throw nb::value_error("a wall particle belongs to no body");
        sim.bodies.parts[k] = {
            {arm[0], arm[1], arm[2]}, {normal[0], normal[1], normal[2]}, owner, slip.data()[k] ? 1U : 0U};
        sim.walls[fixed + k] = {};
      }
    });
  }
  // 19 numbers per body: centre, quaternion, velocity, spin, and the rates of the last two.
  void place_bodies(const In<double>& poses) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      if (poses.size() != 19 * sim.bodies.poses.size()) throw nb::value_error("there is another number of bodies");
      for (std::size_t k = 0; k < sim.bodies.poses.size(); ++k) {
        const double* const p = poses.data() + 19 * k;
        const auto vector = [&](std::size_t from) { return mesh::Vec3{p[from], p[from + 1], p[from + 2]}; };
        sim.bodies.poses[k] = {vector(0), {p[3], p[4], p[5], p[6]}, vector(7), vector(10), vector(13), vector(16)};
      }
      sim.place_bodies();
    });
  }
  // Force and torque of the fluid on every body in the last step.
  [[nodiscard]] nb::object body_loads() const {
    return visit([&]<class T, int D>(const Simulation<T, D>& sim) {
      const auto& loads = sim.bodies.loads;
      return filled<double>(loads.size(), 6, [&](std::size_t k, double* to) {
        const auto put = [&](std::size_t at, const mesh::Vec3& a) {
          to[6 * k + at] = a.x, to[6 * k + at + 1] = a.y, to[6 * k + at + 2] = a.z;
        };
        put(0, loads[k].force), put(3, loads[k].torque);
      });
    });
  }

  // The guard must outlive the fluid; none if it is null.
  void set_guard(sph::Guard* guard) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) { sim.guard = guard; });
  }

  // Several ranks: corners of the parts of all ranks, which of them this is, the reach of particles, the number of
  // particles of all ranks, and functions that all ranks call in every step: `swap` takes bytes for all ranks and their
  // numbers and returns those from all ranks, `agree` replaces numbers by the largest ones of all ranks, and `add`
  // whole numbers by their sums.
  void set_ranks(const In<double>& parts, std::size_t rank, double reach, std::size_t total, nb::object swap,
                 nb::object agree, nb::object add) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      const std::size_t ranks = parts.size() / (2 * D);
      if (parts.size() != ranks * 2 * D || rank >= ranks) throw nb::value_error("parts and rank do not fit");
      std::vector<sph::SpacePart<D>> boxes(ranks);
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t a = 0; a < D; ++a) {
          boxes[r].low[a] = parts.data()[r * 2 * D + a];
          boxes[r].high[a] = parts.data()[r * 2 * D + D + a];
        }
      sim.share.emplace(std::move(boxes), rank, reach, sim.settings.space);
      sim.total = total;
      swap_ = std::move(swap), agree_ = std::move(agree), add_ = std::move(add);
      sim.share->swap = [this, rank](const sph::Parcels& parcels, const typename sph::Share<D>::Take& take) {
        if (node_ != nullptr && node_->swap(parcels.bytes, parcels.counts, take)) return;
        nb::gil_scoped_acquire lock;
        const nb::object arrived =
            swap_(seen_by_python(std::span(parcels.bytes)), seen_by_python(std::span(parcels.counts)));
        const auto bytes = nb::cast<In<std::uint8_t>>(arrived[0]);
        const auto counts = nb::cast<In<std::int64_t>>(arrived[1]);
        std::span<const std::uint8_t> rest(bytes.data(), bytes.size());
        for (std::size_t r = 0; r < counts.size(); ++r) {
          const auto count = static_cast<std::size_t>(counts.data()[r]);
          if (count > rest.size()) throw nb::value_error("parcels of particles have a wrong size");
          if (r != rank) take(r, rest.first(count));
          rest = rest.subspan(count);
        }
      };
      sim.share->add = [this](std::span<std::int64_t> numbers) {
        if (node_ != nullptr && node_->add(numbers)) return;
        nb::gil_scoped_acquire lock;
        add_(seen_by_python(numbers));
      };
      sim.agree = [this](std::span<double> numbers) {
        if (node_ != nullptr && node_->agree(numbers)) return;
        nb::gil_scoped_acquire lock;
        agree_(seen_by_python(numbers));
      };
    });
  }
  // Memory that all ranks share, or None. What does not fit goes through the functions of set_ranks. `poll`: see Node.
  void set_node(nb::object node, nb::object poll) {
    if (node_ != nullptr) node_->poll = nullptr;
    node_object_ = std::move(node), poll_ = std::move(poll);
    node_ = node_object_.is_none() ? nullptr : &nb::cast<Node&>(node_object_);
    if (node_ == nullptr) return;
    node_->poll = [this] {
      const nb::gil_scoped_acquire lock;
      return nb::cast<bool>(poll_());
    };
  }

  // Takes steps until a moment is reached, at most so many. Returns their number and whether the state is sound.
  std::tuple<std::int64_t, bool> run(double until, std::int64_t steps) {
    return without_lock([&] {
      return visit([&]<class T, int D>(Simulation<T, D>& sim) {
        std::int64_t done = 0;
        while (done < steps && sim.time < until) {
          throw_if_interrupted();
          ++done;
          if (!sim.step()) return std::tuple(done, false);
        }
        return std::tuple(done, true);
      });
    });
  }
  // Steps end at this time instead of passing it.
  void set_end(double time) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) { sim.end = time; });
  }
  // Evaluates the rates, if the present state has none yet.
  void prime() {
    without_lock([&] {
      visit([&]<class T, int D>(Simulation<T, D>& sim) {
        if (!sim.primed) sim.prime();
      });
    });
  }
  [[nodiscard]] std::tuple<double, std::string> next() const {
    return visit([&]<class T, int D>(const Simulation<T, D>& sim) {
      const sph::StepLength length = sim.next();
      return std::tuple(length.dt, std::string(limit_names[static_cast<int>(length.limit)]));
    });
  }
  // Iterations and errors of the solvers for density and divergence in the last step.
  [[nodiscard]] std::tuple<std::int64_t, double, std::int64_t, double> solved() const {
    return visit([]<class T, int D>(const Simulation<T, D>& sim) {
      const sph::Solved &density = sim.solver.density, &divergence = sim.solver.divergence;
      return std::tuple(density.iterations, density.error, divergence.iterations, divergence.error);
    });
  }
  [[nodiscard]] double time() const {
    return visit([]<class T, int D>(const Simulation<T, D>& sim) { return sim.time; });
  }
  [[nodiscard]] std::int64_t steps() const {
    return visit([]<class T, int D>(const Simulation<T, D>& sim) { return sim.steps; });
  }
  [[nodiscard]] std::tuple<std::int64_t, double> unsolved() const {
    return visit([]<class T, int D>(const Simulation<T, D>& sim) {
      return std::tuple(sim.solver.unsolved.count, sim.solver.unsolved.error);
    });
  }
  [[nodiscard]] std::int64_t broken() const {
    return visit([]<class T, int D>(const Simulation<T, D>& sim) { return std::int64_t{sim.broken}; });
  }
  [[nodiscard]] std::size_t size() const {
    return visit([]<class T, int D>(const Simulation<T, D>& sim) { return sim.particles.size(); });
  }

  // A column of the fluid in the order of ids.
  [[nodiscard]] nb::object column(const std::string& name) const {
    return visit([&]<class T, int D>(const Simulation<T, D>& sim) {
      const std::vector<std::uint32_t> rows = rows_of(sim);
      const auto vectors = [&](auto member) {
        return filled<double>(rows.size(), D, [&](std::size_t k, double* to) {
          for (std::size_t a = 0; a < D; ++a) to[rows[k] * D + a] = (sim.particles[k].*member)[a];
        });
      };
      const auto scalars = [&](auto value) {
        return filled<double>(rows.size(), 1,
                              [&](std::size_t k, double* to) { to[rows[k]] = value(sim.particles[k]); });
      };
      using P = sph::Particle<D>;
      if (name == "ids") return scalars([](const P& p) { return static_cast<double>(p.id); });
      if (name == "positions") return vectors(&P::x);
      if (name == "velocities") return vectors(&P::u);
      if (name == "accelerations") return vectors(&P::acceleration);
      if (name == "rates") return scalars([](const P& p) { return p.rate; });
      if (name == "shifts") return vectors(&P::shift);
      if (name == "gradients") return vectors(&P::gradient);
      if (name == "excess") return scalars([](const P& p) { return p.excess; });
      if (name == "pressures") return scalars([&](const P& p) { return sim.pressure(p); });
      if (name == "volumes") return scalars([](const P& p) { return p.volume; });
      if (name == "phases") return scalars([](const P& p) { return static_cast<double>(p.phase); });
      if (name == "surface") return scalars([](const P& p) { return static_cast<double>(p.surface); });
      throw nb::key_error(name.c_str());
    });
  }
  [[nodiscard]] nb::object wall_column(const std::string& name) const {
    return visit([&]<class T, int D>(const Simulation<T, D>& sim) {
      const auto states = sim.walls.span();
      const auto vectors = [&](auto member) {
        return filled<double>(states.size(), D, [&](std::size_t k, double* to) {
          for (std::size_t a = 0; a < D; ++a) to[k * D + a] = (states[k].*member)[a];
        });
      };
      using S = sph::WallParticle<D>;
      if (name == "positions") return vectors(&S::x);
      if (name == "velocities") return vectors(&S::u);
      if (name == "pressures")
        return filled<double>(states.size(), 1, [&](std::size_t k, double* to) { to[k] = states[k].pressure; });
      throw nb::key_error(name.c_str());
    });
  }

  // Everything that a later `restore` needs: bytes of the particles in the order of ids, and the clock.
  [[nodiscard]] nb::tuple state() const {
    return visit([&]<class T, int D>(const Simulation<T, D>& sim) {
      using P = sph::Particle<D>;
      const std::vector<std::uint32_t> rows = rows_of(sim);
      constexpr std::size_t width = offsetof(P, id) / sizeof(double);
      nb::object numbers = filled<double>(rows.size(), width, [&](std::size_t k, double* to) {
        std::memcpy(to + rows[k] * width, &sim.particles[k], width * sizeof(double));
      });
      nb::object marks = filled<std::uint32_t>(rows.size(), 2, [&](std::size_t k, std::uint32_t* to) {
        const P& p = sim.particles[k];
        to[2 * rows[k]] = p.id, to[2 * rows[k] + 1] = p.surface + (std::uint32_t{p.phase} << 16);
      });
      std::vector<double> clock{sim.time, sim.largest.acceleration, sim.largest.shift, sim.largest.pressure};
      clock.insert(clock.end(), sim.largest.speeds.begin(), sim.largest.speeds.end());
      for (const sph::Solved& solved : {sim.solver.density, sim.solver.divergence})
        clock.insert(clock.end(), {static_cast<double>(solved.iterations), solved.error});
      return nb::make_tuple(numbers, marks, clock, sim.steps, sim.primed);
    });
  }
  void restore(const In<double>& numbers, const In<std::uint32_t>& marks, const std::vector<double>& clock,
               std::int64_t steps, bool primed) {
    visit([&]<class T, int D>(Simulation<T, D>& sim) {
      using P = sph::Particle<D>;
      constexpr std::size_t width = offsetof(P, id) / sizeof(double);
      const std::size_t n = marks.size() / 2;
      if (numbers.size() != n * width || clock.size() != 8 + sph::most_phases)
        throw nb::value_error("the state has another size");
      sim.particles.reset(n);
      for (std::size_t k = 0; k < n; ++k) {
        P& p = sim.particles[k];
        std::memcpy(static_cast<void*>(&p), numbers.data() + k * width, width * sizeof(double));
        p.id = marks.data()[2 * k], p.surface = static_cast<std::uint16_t>(marks.data()[2 * k + 1] & 0xffff);
        p.phase = phase_of(marks.data()[2 * k + 1] >> 16, sim.settings.phases.size());
      }
      sim.time = clock[0];
      sim.largest.acceleration = clock[1], sim.largest.shift = clock[2], sim.largest.pressure = clock[3];
      std::copy_n(clock.begin() + 4, sph::most_phases, sim.largest.speeds.begin());
      const double* solved = clock.data() + 4 + sph::most_phases;
      for (sph::Solved* const to : {&sim.solver.density, &sim.solver.divergence}) {
        to->iterations = static_cast<std::int64_t>(*solved++);
        to->error = *solved++;
      }
      sim.steps = steps;
      sim.primed = primed;
    });
  }
};

}  // namespace

void bind_sph(nb::module_& m) {
  nb::class_<AnySph>(m, "Sph", "A fluid of particles with its walls.")
      .def(nb::init<bool, bool, const Numbers&, const Vectors&, const Names&>(), nb::arg("three"), nb::arg("exact"),
           nb::arg("numbers"), nb::arg("vectors"), nb::arg("names"))
      .def("add", &AnySph::add, nb::arg("x"), nb::arg("u"), nb::arg("excess"), nb::arg("phases"), nb::arg("first"))
      .def("keep", &AnySph::keep, nb::arg("flags"))
      .def("set_walls", &AnySph::set_walls, nb::arg("x"), nb::arg("normals"), nb::arg("u"), nb::arg("accelerations"),
           nb::arg("slip"))
      .def("set_bodies", &AnySph::set_bodies, nb::arg("count"), nb::arg("arms"), nb::arg("normals"), nb::arg("owners"),
           nb::arg("slip"))
      .def("place_bodies", &AnySph::place_bodies, nb::arg("poses"))
      .def("body_loads", &AnySph::body_loads)
      .def("set_guard", &AnySph::set_guard, nb::arg("guard").none(), nb::keep_alive<1, 2>())
      .def("set_ranks", &AnySph::set_ranks, nb::arg("parts"), nb::arg("rank"), nb::arg("reach"), nb::arg("total"),
           nb::arg("swap"), nb::arg("agree"), nb::arg("add"))
      .def("set_node", &AnySph::set_node, nb::arg("node").none(), nb::arg("poll"))
      .def("run", &AnySph::run, nb::arg("until"), nb::arg("steps"))
      .def("set_end", &AnySph::set_end, nb::arg("time"))
      .def("prime", &AnySph::prime)
      .def("next", &AnySph::next)
      .def("solved", &AnySph::solved)
      .def("unsolved", &AnySph::unsolved)
      .def("time", &AnySph::time)
      .def("steps", &AnySph::steps)
      .def("broken", &AnySph::broken)
      .def("size", &AnySph::size)
      .def("column", &AnySph::column, nb::arg("name"))
      .def("wall_column", &AnySph::wall_column, nb::arg("name"))
      .def("state", &AnySph::state)
      .def("restore", &AnySph::restore, nb::arg("numbers"), nb::arg("marks"), nb::arg("clock"), nb::arg("steps"),
           nb::arg("primed"));
}

}  // namespace vicinal
