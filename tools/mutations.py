"""Mutation test: every mutation of the core below must make some test fail.

    .venv/bin/python tools/mutations.py            all mutations (takes a quarter of an hour on two cores)
    .venv/bin/python tools/mutations.py octree     those whose file or purpose contains a word

All mutations are compiled into one extension and the environment variable VICINAL_MUTANT chooses one, so there is one
build. A mutation is an expression of the source and its replacement. A mutation whose expression no longer
exists is an error: replace it by one of the new code.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutations"
CONTRACT = ("tests/index/test_contract.py", "tests/index/test_changes.py")
LISTS = ("tests/test_neighbor_list.py",)
GRAINS = ("tests/dem",)
FLUIDS = ("tests/sph",)


@dataclass(frozen=True)
class Mutation:
    """An expression in a file of cpp/, its replacement, the resulting fault, and the tests that must detect it."""

    file: str
    old: str
    new: str
    breaks: str
    select: str = ""  # pytest -k, to save time
    tests: tuple[str, ...] = CONTRACT
    after: str = ""  # the text before the expression, where the expression alone is not unique


MUTATIONS = [
    Mutation(
        "geometry/grid.hpp",
        "dz == 0 ? 1 : -axis[1].radius",
        "dz == 0 ? 1 : 1 - axis[1].radius",
        "the stencil loses a row of cells",
        "LinkedCells",
    ),
    Mutation(
        "geometry/grid.hpp",
        "gap(0, reach_x) + gap(1, dy) + gap(2, dz) > 1 + 1e-6",
        "gap(0, reach_x) + gap(1, dy) + gap(2, dz) > 0.5",
        "the stencil is cut too round",
        "CellSorting",
    ),
    Mutation(
        "geometry/grid.hpp",
        "past <= radius || above == occupied.end()",
        "past < radius || above == occupied.end()",
        "a query beside a folded gap",
        "CellSorting",
    ),
    Mutation(
        "geometry/box.hpp",
        "w >= length",
        "w > length",
        "wrapping: a coordinate may land on the edge",
        "Exhaustive",
        after="if (w < 0) w = w + length;\n    if (",
    ),
    Mutation(
        "geometry/box.hpp",
        "count - 1 + (w + length >= length ? 1 : 0)",
        "count - 1",
        "wrapping: the count of edges of a coordinate just below zero",
        "Exhaustive",
    ),
    Mutation(
        "geometry/box.hpp",
        "(1 + 16 * eps)",
        "(1 - 16 * eps)",
        "the reach is shorter than the rounded test",
        "LinkedCells or BVH or SweepAndPrune or HashGrid",
    ),
    Mutation(
        "index/images.hpp",
        "std::floor(periodic_reach(reach.axis[a], edge) / static_cast<double>(edge)) + 1",
        "std::floor(periodic_reach(reach.axis[a], edge) / static_cast<double>(edge))",
        "the farthest images",
        "Exhaustive",
    ),
    Mutation(
        "index/cell_sorting.hpp",
        "cells_.key[f] <= last",
        "cells_.key[f] < last",
        "the last cell of a row",
        "CellSorting",
    ),
    Mutation(
        "index/cell_sorting.hpp",
        "cell[a] + (most[a] + 1) * axis.cells < axis.cells + axis.radius",
        "cell[a] + (most[a] + 1) * axis.cells < axis.cells",
        "images of cells above the box",
        "CellSorting",
    ),
    Mutation("index/linked_cells.hpp", "x <= last", "x < last", "the last cell of a row", "LinkedCells"),
    Mutation("index/hash_level.hpp", "s <= last", "s < last", "the bins of the last image", "HashGrid"),
    Mutation(
        "index/hash_level.hpp",
        "to - from >= static_cast<std::int64_t>(mask)",
        "to - from >= 2 * static_cast<std::int64_t>(mask)",
        "rows longer than the folded grid",
        "HashGrid",
    ),
    Mutation(
        "index/octree_adjacency.hpp",
        "one.low[a] > other.high[a]",
        "one.low[a] >= other.high[a]",
        "leaves that share a face",
        "Octree",
    ),
    Mutation("index/hierarchy.hpp", "mine > most", "mine >= most", "boxes of the tree that only touch", "BVH"),
    Mutation(
        "index/spatial_hash.hpp", "bucket > own", "bucket >= own", "pairs of one bucket come twice", "SpatialHash"
    ),
    Mutation(
        "index/sweep/all_axes.hpp",
        "rounded(i.low) <= rounded(j.high)",
        "rounded(i.low) < rounded(j.high)",
        "intervals that touch after a move",
        "SweepAndPrune",
    ),
    Mutation(
        "index/sweep/one_axis.hpp",
        "bounds_[a].low <= i[a].high - off",
        "bounds_[a].low < i[a].high - off",
        "intervals that touch",
        tests=("tests/index/test_sweep_and_prune.py",),
    ),
    Mutation(
        "pairs/exact_test.hpp",
        "static_cast<float>(r2 + w)",
        "static_cast<float>(r2 - w)",
        "the exact test of a tie in the band",
        "Exhaustive",
    ),
    Mutation(
        "rows/drift.hpp",
        "built * (1 - relative) - now * (1 + relative) - constant",
        "2 * (built * (1 - relative) - now * (1 + relative) - constant)",
        "a list lasts for twice its margin",
        tests=LISTS,
    ),
    Mutation(
        "rows/drift.hpp",
        "used_ + next <= 1",
        "used_ + next <= 8",
        "lists of grains last for many times their margin",
        tests=GRAINS,
        after="if (",
    ),
    Mutation(
        "dem/search.hpp",
        "job.odometer + usable_gap * found.gap",
        "job.odometer + 20 * usable_gap * found.gap",
        "groups of pairs sleep too long",
        tests=GRAINS,
    ),
    Mutation(
        "dem/wall_forces.cpp",
        "wake(odometer, -overlap, p.r)",
        "wake(odometer, 10 * p.r - overlap, p.r)",
        "spheres beside planes and cylinders sleep too long",
        tests=GRAINS,
        after=": ",
    ),
    Mutation(
        "dem/wall_forces.cpp",
        "wakes[k] = wake(odometer, -overlap, p.r)",
        "wakes[k] = wake(odometer, 10 * p.r - overlap, p.r)",
        "walls sleep too long",
        tests=GRAINS,
    ),
    Mutation(
        "dem/wall_forces.cpp",
        "dot(lists_.walls.normals()[k], touch.contact.normal) < same_contact",
        "dot(lists_.walls.normals()[k], touch.contact.normal) < -2",
        "a contact around the corner takes over the springs of the one that ends",
        tests=GRAINS,
    ),
    Mutation(
        "dem/wall_passes.hpp",
        "magnitude(along)",
        "Lanes::all(1)",
        "tablets that turn onto their band are followed as if they touched a plane at a point",
        tests=GRAINS,
    ),
    Mutation(
        "dem/wall_passes.hpp",
        "Lanes::bits(height > zero)",
        "(1u << Lanes::width) - 1",
        "tablets behind a plane are followed as if they were in front of it",
        tests=GRAINS,
    ),
    Mutation(
        "dem/wall_passes.hpp",
        "inside & ~apart",
        "~apart",
        "spheres that leave a triangle are followed as if they were on it",
        tests=GRAINS,
    ),
    Mutation(
        "dem/curved_contacts.hpp",
        "kept.spring",
        "job_.springs[entry_[c]]",
        "springs of contacts along a line are stretched twice in a step",
        tests=GRAINS,
        after="job_.springs[entry_[c]] = ",
    ),
    Mutation(
        "dem/curved_contacts.hpp",
        "job_.gather(*job_.rows, entry_[k])",
        "void()",
        "a contact along a line that becomes one at a point keeps one of its four springs",
        tests=GRAINS,
    ),
    Mutation(
        "dem/patch.hpp",
        "std::clamp(rise / stiffness, -half, half)",
        "(rise / stiffness)",
        "the load on a line leaves its ends",
        tests=GRAINS,
    ),
    Mutation(
        "dem/half_steps.hpp",
        "0.5 * job.dt",
        "0.4 * job.dt",
        "the spin of bodies that tumble is not that in the middle of the step",
        tests=GRAINS,
        after="turn<Lanes>(middle, w, ",
    ),
    Mutation(
        "dem/pair_list.hpp",
        "is_spread(k) ? p : 0",
        "0",
        "three of the four springs of a patch are lost when lists are made",
        tests=GRAINS,
    ),
    Mutation(
        "dem/laws/linear.hpp",
        "2 * a * b / (a + b)",
        "a * b / (a + b)",
        "the stiffness of two materials",
        tests=GRAINS,
    ),
    Mutation(
        "sph/particle_grid.hpp",
        "std::floor(space.period[a] / edge)",
        "std::ceil(space.period[a] / edge)",
        "cells of a periodic axis are smaller than the support",
        tests=FLUIDS,
    ),
    Mutation(
        "sph/guard.hpp",
        "dot(face.normal, place) > face.clear",
        "dot(face.normal, place) > face.clear - 1",
        "the quick answer of the guard: particles behind a wall",
        tests=FLUIDS,
    ),
    Mutation(
        "sph/simulation.cpp",
        "0.5 * h * h / nu",
        "50 * h * h / nu",
        "the longest step of a viscous fluid",
        tests=FLUIDS,
    ),
    Mutation(
        "sph/simulation.cpp",
        "left > step.dt ? 0.5 * left : left",
        "left > step.dt ? step.dt : left",
        "a short rest before the end of a run",
        tests=FLUIDS,
    ),
    Mutation(
        "sph/wall_map.hpp",
        "place + 1 < count",
        "place + 2 < count",
        "walls in the last but one cell of an axis",
        tests=("tests/ranks/test_simulations.py",),
    ),
    Mutation(
        "sph/state_equation/tait.hpp",
        "sound * sound * rest / 7",
        "sound * sound * rest / 6",
        "the pressure of a compressed fluid",
        tests=FLUIDS,
    ),
]


def mutate(source: Path, mutations: list[Mutation]) -> None:
    """Insert every mutation into a copy of the core, each selected by its number."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "cpp", source / "cpp")
    shutil.copy(ROOT / "CMakeLists.txt", source)
    (source / "cpp" / "exec" / "mutant.hpp").write_text(
        "#pragma once\n#include <cstdlib>\nnamespace vicinal {\n"
        "inline int mutant_of(const char* value) { return value == nullptr ? 0 : std::atoi(value); }\n"
        'inline const int active_mutant = mutant_of(std::getenv("VICINAL_MUTANT"));\n'
        "inline bool mutant(int number) { return active_mutant == number; }\n}\n",
        encoding="utf-8",
    )
    for number, mutation in enumerate(mutations, 1):
        path = source / "cpp" / mutation.file
        text = path.read_text(encoding="utf-8")
        old, new = mutation.after + mutation.old, f"(vicinal::mutant({number}) ? ({mutation.new}) : ({mutation.old}))"
        if text.count(old) != 1:
            sys.exit(f"{mutation.file}: {old!r} must be there once, it is there {text.count(old)} times")
        text = text.replace(old, mutation.after + new)
        if "exec/mutant.hpp" not in text:
            text = text.replace("#include", '#include "exec/mutant.hpp"\n#include', 1)
        path.write_text(text, encoding="utf-8")


def noticed(number: int, mutation: Mutation) -> bool:
    """Run the tests until one fails."""
    command = [BUILD / "venv" / "bin" / "python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    environment = os.environ | {"VICINAL_MUTANT": str(number), "VICINAL_HYPOTHESIS": "short"}
    selected = ["-k", mutation.select] if mutation.select else []
    result = subprocess.run(  # our own command
        [*command, *mutation.tests, *selected], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode > 1:
        sys.exit(result.stdout + result.stderr)
    return result.returncode != 0  # a crash, which is a negative number, is noticed as well


def main() -> None:
    """Print a line per mutation; fail if one of them was not detected."""
    parser = argparse.ArgumentParser(description="Every mutation of the core must make some test fail.")
    parser.add_argument("word", nargs="?", default="", help="only mutations whose file or purpose contains this")
    word = parser.parse_args().word
    chosen = [number for number, m in enumerate(MUTATIONS, 1) if word in m.file + " " + m.breaks]
    if not chosen:
        parser.error(f"no mutation has {word!r} in its file or purpose")
    mutate(BUILD / "source", MUTATIONS)
    build = [ROOT / "tools" / "other_build.sh", "mutations", "-DVICINAL_OPTIMIZE=1"]
    subprocess.run(build, env=os.environ | {"SOURCE": str(BUILD / "source")}, check=True)
    if noticed(0, Mutation("", "", "", "", "Octree-float64-3D")):
        sys.exit("the tests fail without any mutation")
    missed = 0
    for number in chosen:
        mutation = MUTATIONS[number - 1]
        caught = noticed(number, mutation)
        missed += not caught
        print(f"{'noticed' if caught else 'MISSED '}  {mutation.file}: {mutation.breaks}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mutations noticed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
