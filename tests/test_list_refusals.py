"""Wrong arguments of a list are refused, and leave it as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from refusals import Refusal, check_refusal
from small_lists import CLOUD, FLOOR, entries, made_with


def boxed() -> vc.NeighborList:
    made = vc.NeighborList(boxes=True, skin=0.05)
    made.update(boxes=(CLOUD, CLOUD + 0.05))
    return made


def spoiled(value: float) -> Any:
    points = CLOUD.copy()
    points[123, 1] = value
    return points


REFUSALS = [
    Refusal("neither", lambda: vc.NeighborList(), "cutoff", "none given"),
    Refusal("both", lambda: vc.NeighborList(cutoff=1.0, radii=1.0), "cutoff", "cutoff= and radii="),
    Refusal("no layout", lambda: vc.NeighborList(cutoff=1.0, layout="columns"), "layout", "columns"),
    Refusal("no skin", lambda: vc.NeighborList(cutoff=1.0, skin="thick"), "skin", "thick"),
    Refusal("negative skin", lambda: vc.NeighborList(cutoff=1.0, skin=-1.0), "skin", "-1"),
    Refusal("nan skin", lambda: vc.NeighborList(cutoff=1.0, skin=np.nan), "skin", "nan"),
    Refusal("skin that overflows", lambda: vc.NeighborList(cutoff=1.0, skin=1e200).update(CLOUD), "skin", "e.?200"),
    Refusal("radii that overflow", lambda: vc.NeighborList(radii=1.0, skin=1e200).update(CLOUD), "skin", "e.?200"),
    Refusal("no width", lambda: vc.NeighborList(cutoff=1.0, layout="fixed"), "width", "None"),
    Refusal("width 0", lambda: vc.NeighborList(cutoff=1.0, layout="hybrid", width=0), "width", "0"),
    Refusal("width of rows", lambda: vc.NeighborList(cutoff=1.0, width=8), "width", "8"),
    Refusal("rows unsorted", lambda: vc.NeighborList(cutoff=1.0, sort=False), "sort", "False"),
    Refusal("half a flag", lambda: vc.NeighborList(cutoff=1.0, half=0.5), "half", r"0\.5"),
    Refusal("no structure", lambda: vc.NeighborList(cutoff=1.0, structure="Grid"), "structure", "Grid"),
    Refusal("the base class", lambda: vc.NeighborList(cutoff=1.0, structure=vc.Index), "structure", "Index"),
    Refusal("Delaunay of spheres", lambda: vc.NeighborList(radii=1.0, structure="Delaunay"), "structure", "Delaunay"),
    Refusal("consumer", lambda: vc.NeighborList(cutoff=1.0, consumer=-1.0), "consumer", "-1"),
    Refusal("cutoff", lambda: vc.NeighborList(cutoff=-1.0).update(CLOUD), "cutoff", "-1.0"),
    Refusal("skin as text", lambda: vc.NeighborList(cutoff=1.0, skin="fast"), "skin", "'auto', 'steps', got 'fast'"),
    Refusal("boxes too early", lambda: vc.NeighborList(boxes=(CLOUD, CLOUD)), "boxes", "got tuple; pass .* `update`"),
    Refusal("cutoff as text", lambda: vc.NeighborList(cutoff="wide"), "cutoff", "wide"),
    Refusal("radii", lambda: vc.NeighborList(radii=[1.0, 2.0]).update(CLOUD), "radii", r"\(2,\)"),
    Refusal("radii of points", lambda: vc.NeighborList(cutoff=1.0).update(CLOUD, radii=1.0), "radii", "a cutoff"),
    Refusal("nan", lambda: made_with("rows").update(spoiled(np.nan)), "points", "nan.*123"),
    Refusal("inf", lambda: made_with("rows").update(spoiled(np.inf)), "points", "inf.*123"),
    Refusal("inf in a box", lambda: made_with("rows", box=1.0).update(spoiled(-np.inf)), "points", "inf.*123"),
    Refusal("far outside a box", lambda: made_with("rows", box=1.0).update(spoiled(1e300)), "points", "300.*123"),
    Refusal("ragged", lambda: made_with("rows").update([[0.0, 1.0], [2.0]]), "points", "."),
    Refusal("flat", lambda: made_with("rows").update(CLOUD.ravel()), "points", r"\(600,\)"),
    Refusal(
        "several images in a table",
        lambda: vc.NeighborList(cutoff=0.5, box=1.0, layout="fixed", width=9).update(CLOUD),
        "box",
        r"1\.0.*images",
    ),
    Refusal(
        "a skin as thick as the box",
        lambda: vc.NeighborList(cutoff=0.4, skin=1.0, box=1.0).update(CLOUD),
        "skin",
        r"1\.0.*got 1",
    ),
    Refusal("boxes of a list of points", lambda: made_with("rows").update(boxes=(CLOUD, CLOUD)), "boxes", "points"),
    Refusal("points of a list of boxes", lambda: vc.NeighborList(boxes=True).update(CLOUD), "boxes", "points"),
    Refusal("vectors of boxes", lambda: boxed().vectors, "vectors", "boxes"),
    Refusal("vectors of a table", lambda: made_with("hybrid", width=4).vectors, "vectors", "layout"),
    Refusal("a law with planes", lambda: made_with("rows", planes=FLOOR).lennard_jones(), "lennard_jones", "planes"),
    Refusal("planes", lambda: made_with("rows", planes=CLOUD), "planes", "ndarray"),
    Refusal("values", lambda: made_with("rows").reduce(np.zeros(3)), "values", r"\(3,\)"),
    Refusal("how", lambda: made_with("rows").reduce(np.zeros(3), how="twice"), "how", "twice"),
    Refusal("one array", lambda: made_with("hybrid", width=4).reduce(np.zeros(3)), "values", "ndarray"),
    Refusal("order", lambda: made_with("rows").reorder([0, 1]), "order", "2"),
    Refusal("order twice", lambda: made_with("rows").reorder(np.zeros(200, int)), "order", "0"),
    Refusal("order beyond", lambda: made_with("rows").reorder(np.arange(1, 201)), "order", "200"),
    Refusal("law of a full list", lambda: made_with("rows", False).lennard_jones(), "lennard_jones", "half"),
    Refusal("arrays too early", lambda: vc.NeighborList(cutoff=1.0).offsets, "offsets", "not built"),
    Refusal("exact too early", lambda: vc.NeighborList(cutoff=1.0).exact(), "exact", "not built"),
    Refusal("another layout", lambda: made_with("rows").table, "table", "rows"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal_names_argument_value_and_requirement(refusal: Refusal) -> None:
    check_refusal(refusal)


@pytest.mark.parametrize("radii", [-0.01, np.nan, np.inf])
def test_a_refused_update_leaves_the_list_as_it_was(radii: float) -> None:
    made = vc.NeighborList(radii=0.05, skin=0.05)
    made.update(CLOUD)
    before = entries(made)
    wrong = np.full(200, 0.05)
    wrong[17] = radii
    with pytest.raises(vc.InputError, match=r"radii must .* in row 17"):
        made.update(CLOUD, radii=wrong)
    with pytest.raises(vc.InputError, match=r"points must .* in row 123"):
        made.update(spoiled(np.nan))
    assert entries(made) == before
    assert not made.update(CLOUD)
