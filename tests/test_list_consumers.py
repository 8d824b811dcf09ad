"""Compiled loops over a list: built in, in Numba, and in C."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vicinal as vc

PAGE = Path(__file__).resolve().parent.parent / "docs" / "lists.md"
C_LOOP = r"""
#include <stdint.h>
%s
double energy(const struct vicinal_list *list, const double *x, double cutoff) {
  double sum = 0;
  for (int64_t i = 0; i < list->bodies; ++i)
    for (int64_t k = list->offsets[i]; k < list->offsets[i + 1]; ++k) {
      double r2 = 0;
      for (int a = 0; a < 3; ++a) {
        const double d = x[3 * list->indices[k] + a] - x[3 * i + a];
        r2 += d * d;
      }
      const double r6 = 1 / (r2 * r2 * r2);
      if (r2 <= cutoff * cutoff) sum += 4 * r6 * (r6 - 1);
    }
  return sum;
}
int64_t missing(const struct vicinal_list *list) { return (list->table == 0) + (list->counts == 0) + (list->i == 0); }
"""


def expected(points: Any, cutoff: float, box: float | None = None) -> tuple[float, Any]:
    i, j, D, d = vc.pairs(points, cutoff=cutoff, box=box, want="ijDd")
    r6 = 1 / d**6
    force = (24 * r6 * (1 - 2 * r6) / d**2)[:, None] * D
    forces = np.zeros_like(points)
    np.add.at(forces, i, force)
    np.add.at(forces, j, -force)
    return float((4 * r6 * (r6 - 1)).sum()), forces


def crystal(dim: int = 3) -> Any:
    sites = np.argwhere(np.ones((8,) * dim)) * 1.1
    return sites + np.random.default_rng(0).normal(0, 0.03, sites.shape)


@pytest.mark.parametrize("box", [None, 8.8])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dtype, accuracy", [(np.float32, 1e-4), (np.float64, 1e-11)])
def test_the_built_in_law_is_that_of_the_pairs(box: float | None, dim: int, dtype: Any, accuracy: float) -> None:
    points = crystal(dim).astype(dtype)
    made = vc.NeighborList(cutoff=2.5, skin=0.4, box=box)
    made.update(points)
    moved = (points + np.random.default_rng(1).normal(0, 0.02, points.shape)).astype(dtype)
    assert not made.update(moved + dtype(8.8 * 3 if box else 0))
    energy, forces = made.lennard_jones()
    energy_of_pairs, forces_of_pairs = expected(moved.astype(float), 2.5, box)
    assert energy == pytest.approx(energy_of_pairs, rel=accuracy)
    assert forces.dtype == dtype
    assert np.allclose(forces, forces_of_pairs, rtol=0, atol=accuracy * np.abs(forces_of_pairs).max() * 10)


def test_units_are_those_of_the_law() -> None:
    made = vc.NeighborList(cutoff=2.5, skin=0.4)
    made.update(crystal())
    far = vc.NeighborList(cutoff=5.0, skin=0.8)
    far.update(2 * crystal())
    energy, forces = made.lennard_jones()
    double, weaker = far.lennard_jones(epsilon=3.0, sigma=2.0)
    assert double == pytest.approx(3 * energy)
    assert np.allclose(weaker, 1.5 * forces)


def test_numba_runs_over_a_list_by_its_arrays_and_by_its_pointers(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="Numba is not installed: its example is not run")
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python( numba)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    for _, source in blocks:
        if ">>>" not in source:
            exec(compile(source, str(PAGE), "exec"), names)
    assert names["by_arrays"] == names["by_pointers"]
    assert names["by_arrays"] == pytest.approx(names["energy"])


def test_c_runs_over_a_list_by_its_struct(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: the struct is not tried from C")
    struct = re.search(r"```c\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert struct is not None
    source, library = tmp_path / "loop.c", tmp_path / "loop.so"
    source.write_text(C_LOOP % struct[1], encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", str(source), "-o", str(library)], check=True)
    loop = ctypes.CDLL(str(library))
    loop.energy.restype = ctypes.c_double
    points = crystal()
    made = vc.NeighborList(cutoff=2.5, skin=0.4)
    made.update(points)
    pointers = made.pointers
    address = ctypes.c_void_p(points.ctypes.data)
    assert loop.energy(ctypes.byref(pointers), address, ctypes.c_double(2.5)) == pytest.approx(expected(points, 2.5)[0])
    assert loop.missing(ctypes.byref(pointers)) == 3


@pytest.mark.parametrize(
    "options, has",
    [
        ({}, "offsets indices"),
        ({"layout": "pairs"}, "offsets indices i j"),
        ({"layout": "pairs", "sort": False}, "i j"),
        ({"layout": "fixed", "width": 300}, "table counts"),
        ({"layout": "hybrid", "width": 9}, "table counts offsets i j"),
    ],
    ids=str,
)
def test_pointers_are_those_of_the_arrays(options: Any, has: str) -> None:
    made = vc.NeighborList(cutoff=2.5, skin=0.4, **options)
    made.update(crystal())
    pointers = made.pointers
    assert pointers.bodies == 512
    assert pointers.entries == made.stats.entries
    assert pointers.width == options.get("width", 0)
    assert pointers.extra == (len(made.i) if "i" in has.split() else 0)
    for name in ("offsets", "indices", "table", "counts", "i", "j"):
        address = ctypes.cast(getattr(pointers, name), ctypes.c_void_p).value
        assert address == (getattr(made, name).ctypes.data if name in has.split() else None)
