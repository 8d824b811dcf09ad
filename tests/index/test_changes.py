"""Insertion, removal, motion and growth: after any sequence of changes an index equals a new one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import vicinal as vc
from compare import ask, ask_queries, assert_same_bits, assert_same_half, assert_same_pairs
from oracle import Array, Pairs, exact_pairs
from structures import STRUCTURES, Structure

SPACES: dict[str, Any] = {"open": None, "periodic": (5.0, 4.5, 6.0), "slab": (None, 4.0, 5.0)}
# In units.
SIZES = [0, 0, 0.001, 0.25, 0.5, 0.5, 1, 1, 2, 8]
CUTOFF = 1.0
STORY_UNIT = 0.5
STORY_TELLER = Structure("Exhaustive")

of_every_kind = pytest.mark.parametrize(
    ("structure", "kind"),
    [pytest.param(structure, kind, id=f"{structure}-{kind}") for structure in STRUCTURES for kind in structure.kinds],
)
in_every_space = pytest.mark.parametrize(
    ("structure", "kind", "box"),
    [
        pytest.param(structure, kind, box, id=f"{structure}-{kind}-{name}")
        for structure, (name, box) in product(STRUCTURES, SPACES.items())
        for kind in structure.kinds
        if structure.lives_in(max(structure.dims), box)
    ],
)


class Crowd:
    """Bodies and an index of them: every change is made to both."""

    def __init__(self, structure: Structure, kind: str, box: Any, dim: int, dtype: Any, unit: float) -> None:
        self.structure, self.kind, self.dim, self.dtype, self.unit = structure, kind, dim, dtype, dtype(unit)
        self.box = None if box is None else tuple(None if edge is None else edge * unit for edge in box[:dim])
        self.sizes = [size for size in SIZES if size <= (8 if self.box is None else 2)]
        self.x, self.extra = self.bodies(np.random.default_rng(0), 0)
        self.index = structure.build(**self.keywords(self.x, self.extra), **self.space, size=self.most)

    @property
    def space(self) -> dict[str, Any]:
        own = {"cutoff": float(self.unit) * CUTOFF} if self.kind == "points" else {}
        return {"box": self.box, **own}

    @property
    def most(self) -> float:
        """The size of the largest body that may occur."""
        return float(self.unit) * (CUTOFF if self.kind == "points" else 2.01 * max(self.sizes))

    def bodies(self, rng: np.random.Generator, n: int, snapped: bool = True, span: int = 6) -> tuple[Array, Array]:
        """Positions and sizes, mostly on fractions of a unit, so that ties are the rule."""
        shape = n, self.dim
        ticks = rng.integers(-4 * span, 4 * span + 1, shape) / 4 if snapped else rng.uniform(-span, span, shape)
        sizes = rng.choice(self.sizes, n if self.kind != "boxes" else (n, self.dim))
        return ticks.astype(self.dtype) * self.unit, sizes.astype(self.dtype) * self.unit

    def keywords(self, x: Array, extra: Array) -> dict[str, Any]:
        if self.kind == "boxes":
            return {"boxes": (x, x + extra)}
        return {"points": x, "radii": extra} if self.kind == "spheres" else {"points": x}

    def everything(self) -> dict[str, Any]:
        return {**self.keywords(self.x, self.extra), **self.space}

    # ---------------------------------------------------------------------------- changes

    def insert(self, x: Array, extra: Array) -> None:
        numbers = self.index.insert(**self.keywords(x, extra))
        assert_same_bits(numbers, np.arange(len(self.x), len(self.x) + len(x), dtype=np.int32))
        self.x, self.extra = np.concatenate([self.x, x]), np.concatenate([self.extra, extra])

    def remove(self, ids: Array) -> None:
        self.index.remove(ids)
        self.x, self.extra = np.delete(self.x, ids, axis=0), np.delete(self.extra, ids, axis=0)

    def move(self, x: Array) -> None:
        """Boxes keep their edges and spheres their radii."""
        self.x = x
        self.index.update(**({"points": x} if self.kind != "boxes" else self.keywords(x, self.extra)))

    def replace(self, x: Array, extra: Array) -> None:
        self.x, self.extra = x, extra
        self.index.update(**self.keywords(x, extra))

    # ---------------------------------------------------------------------------- invariants

    def check(self) -> None:
        """Compare with a new index of the simplest structure, which the contract suite compares with the oracle."""
        assert len(self.index) == len(self.x)
        new = vc.Exhaustive(**self.everything())
        expected = ask(new.pairs, self.kind, half=False, sort=True)
        assert_same_pairs(ask(self.index.pairs, self.kind, half=False, sort=True), expected)
        assert_same_half(ask(self.index.pairs, self.kind), expected)
        assert np.array_equal(self.index.count(), np.bincount(expected.i, minlength=len(self.x)))
        assert self.index.stats.bodies == len(self.x)

    def check_queries(self, x: Array, extra: Array) -> None:
        others = {name if name == "queries" else f"query_{name}": v for name, v in self.asked(x, extra).items()}
        expected = ask_queries(vc.Exhaustive(**self.everything()), others, sort=True)
        assert_same_pairs(ask_queries(self.index, others, sort=True), expected)

    def asked(self, x: Array, extra: Array) -> dict[str, Any]:
        given = self.keywords(x, extra)
        return {"queries" if name == "points" else name: value for name, value in given.items()}

    def check_oracle(self) -> None:
        expected = exact_pairs(**self.everything())
        assert_same_pairs(ask(self.index.pairs, self.kind, half=False, sort=True), expected)


# -------------------------------------------------------------------------------- any sequence

SEEDS = st.integers(0, 2**16)
LOOK = st.booleans()  # whether to search after a change: some structures defer work until then


class Life(RuleBasedStateMachine):
    """Any sequence of changes and searches."""

    def __init__(self, structure: Structure, kind: str) -> None:
        super().__init__()
        self.structure, self.kind = structure, kind
        self.crowd: Crowd

    @initialize(
        dim=st.sampled_from([2, 3]),
        dtype=st.sampled_from([np.float64, np.float32]),
        space=st.sampled_from(list(SPACES)),
        unit=st.sampled_from([1.0, 0.1]),
        n=st.integers(0, 30),
        seed=SEEDS,
    )
    def begin(self, dim: int, dtype: Any, space: str, unit: float, n: int, seed: int) -> None:
        dim = dim if dim in self.structure.dims else max(self.structure.dims)
        box = SPACES[space] if self.structure.periodic else None
        self.crowd = Crowd(self.structure, self.kind, box, dim, dtype, unit)
        self.crowd.insert(*self.crowd.bodies(np.random.default_rng(seed), n))
        self.crowd.check()

    def look(self, look: bool) -> None:
        if look:
            self.crowd.check()

    @rule(n=st.integers(0, 6), seed=SEEDS, snapped=st.booleans(), look=LOOK)
    def insert(self, n: int, seed: int, snapped: bool, look: bool) -> None:
        if len(self.crowd.x) < 60:
            self.crowd.insert(*self.crowd.bodies(np.random.default_rng(seed), n, snapped))
        self.look(look)

    @rule(n=st.integers(0, 8), seed=SEEDS, look=LOOK)
    def remove(self, n: int, seed: int, look: bool) -> None:
        size = len(self.crowd.x)
        self.crowd.remove(np.random.default_rng(seed).permutation(size)[: min(n, size)])
        self.look(look)

    @rule(look=LOOK)
    def remove_all(self, look: bool) -> None:
        self.crowd.remove(np.arange(len(self.crowd.x))[::-1])
        self.look(look)

    @rule(seed=SEEDS, share=st.sampled_from([0.0, 0.1, 1.0]), step=st.sampled_from([0.01, 0.25, 1.0]), look=LOOK)
    def drift(self, seed: int, share: float, step: float, look: bool) -> None:
        """Some or all bodies move a little."""
        crowd, rng = self.crowd, np.random.default_rng(seed)
        steps = rng.integers(-1, 2, crowd.x.shape) * (rng.random((len(crowd.x), 1)) < share)
        crowd.move(crowd.x + (steps * step).astype(crowd.dtype) * crowd.unit)
        self.look(look)

    @rule(seed=SEEDS, far=st.sampled_from([3.0, 20.0, 1e6]), look=LOOK)
    def teleport(self, seed: int, far: float, look: bool) -> None:
        """One body moves, possibly very far."""
        crowd, rng = self.crowd, np.random.default_rng(seed)
        x = crowd.x.copy()
        if len(x):
            reach = min(far, 20.0) if crowd.box is not None else far
            x[rng.integers(len(x))] = rng.uniform(-reach, reach, crowd.dim) * crowd.unit
        crowd.move(x)
        self.look(look)

    @precondition(lambda self: self.kind != "points")
    @rule(seed=SEEDS, share=st.sampled_from([0.1, 1.0]), look=LOOK)
    def resize(self, seed: int, share: float, look: bool) -> None:
        crowd, rng = self.crowd, np.random.default_rng(seed)
        _, sizes = crowd.bodies(rng, len(crowd.x))
        change = rng.random(len(crowd.x)) < share
        crowd.replace(crowd.x, np.where(change.reshape(-1, *[1] * (sizes.ndim - 1)), sizes, crowd.extra))
        self.look(look)

    @rule(n=st.integers(0, 40), seed=SEEDS, look=LOOK)
    def replace(self, n: int, seed: int, look: bool) -> None:
        self.crowd.replace(*self.crowd.bodies(np.random.default_rng(seed), n))
        self.look(look)

    @rule(look=LOOK)
    def update_without_a_change(self, look: bool) -> None:
        self.crowd.move(self.crowd.x.copy())
        self.look(look)

    @rule(n=st.integers(0, 5), seed=SEEDS, times=st.sampled_from([0.0, 1.0, 3.0]))
    def query(self, n: int, seed: int, times: float) -> None:
        """Queries of size 0, of the bodies' sizes and much larger."""
        crowd = self.crowd
        x, extra = crowd.bodies(np.random.default_rng(seed), n)
        crowd.check_queries(x, extra * crowd.dtype(times))

    def teardown(self) -> None:
        if hasattr(self, "crowd"):
            self.crowd.check()
            self.crowd.check_oracle()


@of_every_kind
def test_after_any_sequence_of_changes_an_index_is_like_a_new_one(structure: Structure, kind: str) -> None:
    few = settings(max_examples=max(4, settings().max_examples // 8), stateful_step_count=25)
    run_state_machine_as_test(lambda: Life(structure, kind), settings=few)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Step:
    """A change, given by the name of a method of Crowd, and the pairs after it; None: no search."""

    change: str
    bodies: tuple[Array, ...]
    expected: Pairs | None


@cache
def story(kind: str, dim: int, box: Any) -> list[Step]:
    """A crowd that fills, moves, grows, empties and fills again, several times. The same for every structure."""
    rng = np.random.default_rng(5)
    crowd = Crowd(STORY_TELLER, kind, box, dim, np.float64, STORY_UNIT)
    steps = []
    for k in range(24):
        n = len(crowd.x)
        bodies: tuple[Array, ...]
        if k % 6 == 0:
            change, bodies = (
                "insert",
                crowd.bodies(rng, 300, snapped=False, span=12 if box is None and kind != "points" else 5),
            )
        elif k % 6 == 5:
            change, bodies = "remove", (rng.permutation(n)[: n * 4 // 5],)
        elif k % 6 == 3 and kind != "points":
            change, bodies = "replace", (crowd.x, crowd.bodies(rng, n)[1])
        else:
            moving = rng.random((n, 1)) < (0.02, 1.0, 0.3)[k % 3]
            change, bodies = "move", (crowd.x + moving * rng.normal(0, 0.1, crowd.x.shape),)
        getattr(crowd, change)(*bodies)
        expected = ask(crowd.index.pairs, kind, half=False, sort=True)
        steps.append(Step(change, bodies, None if k % 5 == 4 else expected))
    assert sum(len(step.expected) for step in steps if step.expected) > 1000
    return steps


@of_every_kind
def test_a_long_life_of_many_bodies(structure: Structure, kind: str) -> None:
    """Enough bodies for several cells, levels and leaves, and enough steps to fill, empty and refill them."""
    dim = max(structure.dims)
    for box in (None, SPACES["slab"]) if structure.periodic else (None,):
        crowd = Crowd(structure, kind, box, dim, np.float64, STORY_UNIT)
        for step in story(kind, dim, box):
            getattr(crowd, step.change)(*step.bodies)
            if step.expected is not None:
                assert_same_pairs(ask(crowd.index.pairs, kind, half=False, sort=True), step.expected)
                assert len(crowd.index.pairs()[0]) == len(step.expected) // 2
        crowd.check_queries(*crowd.bodies(np.random.default_rng(6), 30, snapped=False))
        crowd.check()


# -------------------------------------------------------------------------------- single changes


def crowd_of(structure: Structure, kind: str, n: int, box: Any = None) -> Crowd:
    crowd = Crowd(structure, kind, box, max(structure.dims), np.float64, 1.0)
    crowd.insert(*crowd.bodies(np.random.default_rng(n), n))
    return crowd


@in_every_space
def test_a_filled_index_is_like_a_new_one(structure: Structure, kind: str, box: Any) -> None:
    """One by one, and many at once, starting from an empty index."""
    crowd = crowd_of(structure, kind, 0, box)
    x, extra = crowd.bodies(np.random.default_rng(1), 80)
    for k in range(20):
        crowd.insert(x[k : k + 1], extra[k : k + 1])
        crowd.check()
    crowd.insert(x[20:], extra[20:])
    crowd.check()
    crowd.check_oracle()


@in_every_space
def test_an_emptied_index_is_like_a_new_one(structure: Structure, kind: str, box: Any) -> None:
    crowd = crowd_of(structure, kind, 60, box)
    for ids in ([59], [0], [30, 3, 7], list(range(1, 55, 3)), [0], list(range(36))[::-1]):
        crowd.remove(np.array(ids))
        crowd.check()
    assert len(crowd.index) == 0
    crowd.insert(*crowd.bodies(np.random.default_rng(2), 30))
    crowd.check()
    crowd.check_oracle()


@of_every_kind
def test_nothing_to_insert_or_remove_changes_nothing(structure: Structure, kind: str) -> None:
    crowd = crowd_of(structure, kind, 30)
    empty = crowd.bodies(np.random.default_rng(0), 0)
    crowd.insert(*empty)
    crowd.remove(np.zeros(0, int))
    crowd.index.remove([])
    crowd.check()


@of_every_kind
def test_bodies_that_grow_and_shrink_again(structure: Structure, kind: str) -> None:
    if kind == "points":
        pytest.skip("points have no size")
    crowd = crowd_of(structure, kind, 50)
    before = crowd.extra
    grown = before.copy()
    grown[7] = max(crowd.sizes)
    for extra in (grown, before, before * 0 + crowd.sizes[-2], grown):
        crowd.replace(crowd.x, extra)
        crowd.check()
        crowd.move(crowd.x[::-1].copy())
        crowd.check()


@of_every_kind
def test_a_query_larger_than_all_bodies_changes_no_later_answer(structure: Structure, kind: str) -> None:
    crowd = crowd_of(structure, kind, 50)
    x, extra = crowd.bodies(np.random.default_rng(3), 4)
    for times in (0, 5, 1):
        crowd.check_queries(x, extra * times)
        crowd.check()
    crowd.insert(x, extra)
    crowd.check_queries(x, extra * 5)
    crowd.move(crowd.x * 0.5)
    crowd.check_queries(x, extra * 5)
    crowd.check()


@of_every_kind
def test_later_changes_of_the_input_do_not_affect_an_index(structure: Structure, kind: str) -> None:
    crowd = crowd_of(structure, kind, 40)
    x, extra = crowd.bodies(np.random.default_rng(4), 10)
    given = crowd.keywords(x.copy(), extra.copy())
    crowd.insert(x, extra)
    crowd.index.remove(range(40, 50))
    crowd.index.insert(**given)
    for value in given.values():
        for array in value if isinstance(value, tuple) else (value,):
            array[:] += 1000
    crowd.check()


@of_every_kind
def test_a_refused_change_leaves_the_index_as_it_was(structure: Structure, kind: str) -> None:
    crowd = crowd_of(structure, kind, 40)
    x, extra = crowd.bodies(np.random.default_rng(4), 10)
    broken = x.copy()
    broken[3, 1] = np.nan
    flat = np.zeros((3, 5 - crowd.dim))
    for refused in (
        lambda: crowd.index.insert(**crowd.keywords(broken, extra)),
        lambda: crowd.index.insert(**crowd.keywords(flat, flat if kind == "boxes" else flat[:, 0])),
        lambda: crowd.index.update(**crowd.keywords(broken, extra)),
        lambda: crowd.index.remove([40]),
        lambda: crowd.index.remove([-1]),
        lambda: crowd.index.remove([3, 3]),
        lambda: crowd.index.remove([0.5]),
        lambda: crowd.index.insert(),
        lambda: crowd.index.update(),
    ):
        with pytest.raises(vc.InputError):
            refused()
        crowd.check()
