"""Contacts persist from step to step: data follows the pair, for any order and renumbering of the bodies."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import vicinal as vc
from compare import COPIES
from oracle import Array
from refusals import Refusal, check_refusal

FIELDS = {"tangent": 3, "age": 1, "colour": 2}
SETTING: dict[str, Any] = {
    "initial": {"tangent": [1.0, 2.0, 3.0], "colour": 7},
    "dtype": {"colour": np.int32, "age": np.float32},
    "antisymmetric": ["tangent"],
}
START = {"tangent": (1.0, 2.0, 3.0), "age": 0.0, "colour": (7, 7)}

Pair = tuple[int, int]
Data = dict[str, Any]


def rows_from(pairs: list[Pair], rows: int, rng: np.random.Generator | None = None) -> tuple[Array, Array]:
    """Rows with each pair (first, second) in the row of its first body; optionally shuffled within each row."""
    neighbors: list[list[int]] = [[] for _ in range(rows)]
    for first, second in sorted(pairs):
        neighbors[first].append(second)
    if rng is not None:
        for row in neighbors:
            rng.shuffle(row)
    offsets = np.cumsum([0, *(len(row) for row in neighbors)])
    return offsets.astype(np.int64), np.array([k for row in neighbors for k in row], np.int32)


# -------------------------------------------------------------------------------- against a dictionary


class Story(RuleBasedStateMachine):
    """Contacts and a dictionary; every change is made to both."""

    def __init__(self) -> None:
        super().__init__()
        self.contacts = vc.Contacts(FIELDS, **SETTING)
        self.model: dict[Pair, Data] = {}
        self.began: set[Pair] = set()
        self.ended: dict[Pair, Data] = {}
        self.size = 6

    def teardown(self) -> None:
        vc.set_threads(1)

    @rule(
        seed=st.integers(0, 2**32 - 1),
        share=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
        kept=st.sampled_from([0.0, 0.5, 0.95, 1.0]),
        form=st.sampled_from(["pairs", "sorted pairs", "half rows", "full rows", "mixed rows", "Neighbors", "rows"]),
        threads=st.integers(1, 3),
    )
    def step(self, seed: int, share: float, kept: float, form: str, threads: int) -> None:
        rng = np.random.default_rng(seed)
        all_pairs = [(i, j) for j in range(self.size) for i in range(j)]
        now = [p for p in all_pairs if rng.random() < (kept if p in self.model else share * (1 - kept) + 0.02)]
        turned = [p if rng.random() < 0.5 else p[::-1] for p in now]
        vc.set_threads(threads)
        if form == "pairs":
            rng.shuffle(turned)
            both = np.array(turned, np.int64).reshape(-1, 2)
            self.contacts.update(both[:, 0], both[:, 1])
        elif form == "sorted pairs":
            both = np.array(sorted(now), np.int32).reshape(-1, 2)
            self.contacts.update(both[:, 0], both[:, 1])
        elif form == "rows":
            self.contacts.update_rows(*rows_from(now, self.size))
        elif form == "half rows":
            self.contacts.update(rows_from(now, self.size, rng))
        elif form == "mixed rows":
            self.contacts.update(rows_from(turned, self.size, rng))
        else:
            full = rows_from(now + [p[::-1] for p in now], self.size, rng)
            self.contacts.update(full if form == "full rows" else vc.Neighbors(*full, columns=self.size))
        self.began = set(now) - set(self.model)
        self.ended = {pair: data for pair, data in self.model.items() if pair not in now}
        self.model = {pair: self.model.get(pair, START) for pair in now}

    @rule(seed=st.integers(0, 2**32 - 1))
    def write(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        written = self.contacts["tangent"]
        for k, pair in enumerate(sorted(self.model)):
            new = tuple(rng.random(3))
            written[k] = new
            self.model[pair] = {**self.model[pair], "tangent": new, "age": float(self.model[pair]["age"]) + 1.0}
        self.contacts["age"] += 1
        assert self.contacts["tangent"] is written

    @rule(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    def remove(self, seed: int, share: float) -> None:
        rng = np.random.default_rng(seed)
        gone = [k for k in range(self.size) if rng.random() < share]
        rng.shuffle(gone)
        self.contacts.remove(gone)
        stay = [k for k in range(self.size) if k not in gone]
        number = {old: new for new, old in enumerate(stay)}
        self.ended = {p: data for p, data in self.model.items() if p[0] in gone or p[1] in gone}
        self.model = {(number[i], number[j]): d for (i, j), d in self.model.items() if i in number and j in number}
        self.began = set()
        self.size = len(stay)

    @rule(count=st.integers(0, 3), at=st.integers(0, 20))
    def insert(self, count: int, at: int) -> None:
        count = min(count, 24 - self.size)
        at = min(at, self.size)
        self.contacts.insert(count, at=at)
        self.size += count
        self.model = {(i + count * (i >= at), j + count * (j >= at)): data for (i, j), data in self.model.items()}
        self.began, self.ended = set(), {}

    @rule(seed=st.integers(0, 2**32 - 1))
    def reorder(self, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(self.size)
        self.contacts.reorder(order)
        number = np.argsort(order).tolist()
        model = {}
        for (old_i, old_j), data in self.model.items():
            i, j = number[old_i], number[old_j]
            sign = 1 if i < j else -1
            model[min(i, j), max(i, j)] = {**data, "tangent": tuple(sign * t for t in data["tangent"])}
        self.model = model
        self.began, self.ended = set(), {}

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "contacts.npz")
            self.contacts.save(path)
            self.contacts = vc.Contacts.load(path)
            assert [entry.name for entry in Path(folder).iterdir()] == ["contacts.npz"]
        self.began, self.ended = set(), {}

    @invariant()
    def agree(self) -> None:
        c = self.contacts
        pairs = sorted(self.model)
        assert len(c) == len(pairs)
        assert list(zip(c.i.tolist(), c.j.tolist(), strict=True)) == pairs
        assert c.offsets[0] == 0
        assert [c.j[c.offsets[i] : c.offsets[i + 1]].tolist() for i in range(len(c.offsets) - 1)] == [
            [b for a, b in pairs if a == i] for i in range(len(c.offsets) - 1)
        ]
        for name in FIELDS:
            assert c[name].tolist() == [plain(self.model[pair][name]) for pair in pairs]
        assert [pairs[k] for k in c.began] == sorted(self.began)
        assert [pairs[k] for k in c.lasted] == [pair for pair in pairs if pair not in self.began]
        assert list(zip(c.ended.i.tolist(), c.ended.j.tolist(), strict=True)) == sorted(self.ended)
        for name in FIELDS:
            assert c.ended[name].tolist() == [plain(self.ended[pair][name]) for pair in sorted(self.ended)]
        if pairs:
            i, j = np.array(pairs).T
            assert c.find(j, i).tolist() == list(range(len(pairs)))
        assert c.find([self.size], [self.size + 1]).tolist() == [-1]


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.usefixtures("threads")
def test_contacts_agree_with_a_dictionary() -> None:
    run_state_machine_as_test(Story, settings=settings(settings.default, stateful_step_count=30))


# -------------------------------------------------------------------------------- many


def crowd(steps: int, n: int = 10_000) -> list[tuple[Array, Array]]:
    """Pairs of moving bodies, in arbitrary order."""
    rng = np.random.default_rng(8)
    x, v = rng.random((n, 3)), rng.normal(size=(n, 3)) * 5e-4
    return [vc.pairs(x + k * v, cutoff=0.06) for k in range(steps)]


def everything(contacts: vc.Contacts) -> list[Array]:
    over, c = contacts.ended, contacts
    now = [c.i, c.j, c.offsets, c.began, c.lasted, c["sum"], c["age"]]
    return [*now, over.i, over.j, over["sum"], over["age"]]


@pytest.mark.usefixtures("threads")
def test_one_two_or_three_threads_give_the_same_arrays() -> None:
    """Enough bodies for many pieces, compared with a set."""
    steps = crowd(4)
    made = []
    for threads in (1, 2, 3):
        vc.set_threads(threads)
        contacts = vc.Contacts({"sum": 3, "age": 1})
        arrays = []
        before: set[Pair] = set()
        for i, j in steps:
            contacts.update(i, j)
            now = {(min(p), max(p)) for p in zip(i.tolist(), j.tolist(), strict=True)}
            pairs = list(zip(contacts.i.tolist(), contacts.j.tolist(), strict=True))
            assert pairs == sorted(now)
            assert [pairs[k] for k in contacts.began] == sorted(now - before)
            assert list(zip(contacts.ended.i.tolist(), contacts.ended.j.tolist(), strict=True)) == sorted(before - now)
            contacts["sum"] += np.sin(contacts.i + 2.0 * contacts.j)[:, None] * [1, 2, 3]
            contacts["age"] += 1
            before = now
            arrays += everything(contacts)
        contacts.reorder(np.random.default_rng(1).permutation(10_000))
        made.append(arrays + everything(contacts))
        ages = contacts["age"]
        assert ages.min() == 1
        assert ages.max() == 4
    for other in made[1:]:
        for a, b in zip(made[0], other, strict=True):
            assert np.array_equal(a, b)


def test_every_form_of_the_same_pairs_gives_the_same_contacts() -> None:
    x = np.random.default_rng(3).random((5000, 3))
    made = []
    for form in range(5):
        contacts = vc.Contacts({"age": 1})
        i, j = vc.pairs(x, cutoff=0.06, sort=True)
        if form == 0:
            contacts.update(i, j)
        elif form == 1:
            contacts.update(*vc.pairs(x, cutoff=0.06))
        elif form == 2:
            contacts.update(vc.neighbors(x, cutoff=0.06))
        elif form == 3:
            contacts.update(vc.neighbors(x, cutoff=0.06, sort=True))
        else:
            contacts.update_rows(np.searchsorted(i, np.arange(5001)), j)
        assert np.array_equal(contacts.i, i)
        assert np.array_equal(contacts.j, j)
        made.append(contacts)
    assert len(made[0]) > 10_000


def test_rows_of_every_length_are_sorted() -> None:
    """Short rows are sorted by a network, long ones are not; both at the end of a bucket and inside."""
    rng = np.random.default_rng(5)
    lengths = [*range(20), 100, 0, 3, 1000, 8, 9, 7, 1]
    pairs = [(row, row + 1 + k) for row, length in enumerate(lengths) for k in rng.permutation(length).tolist()]
    both = rng.permutation(np.array(pairs))
    contacts = vc.Contacts({})
    contacts.update(both[:, 1], both[:, 0])
    assert list(zip(contacts.i.tolist(), contacts.j.tolist(), strict=True)) == sorted(pairs)


# -------------------------------------------------------------------------------- by hand


def test_fields_are_written_in_place_and_old_arrays_stay_as_they_were() -> None:
    contacts = vc.Contacts({"spring": 3})
    contacts.update([0], [1])
    before = contacts["spring"]
    before[0, 2] = 5.0
    assert contacts["spring"][0].tolist() == [0, 0, 5]
    contacts.update([0, 2], [1, 3])
    contacts["spring"][:] = 9.0
    assert before.tolist() == [[0, 0, 5]]


def test_later_changes_of_the_input_do_not_affect_the_data() -> None:
    offsets, others = np.array([0, 2, 2, 2]), np.array([1, 2], np.int32)
    contacts = vc.Contacts({"age": 1})
    contacts.update_rows(offsets, others)
    others[0], offsets[1] = 2, 0
    assert contacts.j.tolist() == [1, 2]
    assert contacts.offsets.tolist() == [0, 2, 2, 2]


def test_a_contact_that_ends_and_returns_is_a_new_contact() -> None:
    contacts = vc.Contacts({"age": 1}, initial={"age": 3.0})
    contacts.update([5], [2])
    contacts["age"] = 8.0
    contacts.update([], [])
    assert contacts.ended["age"].tolist() == [8]
    contacts.update([2], [5])
    assert contacts["age"].tolist() == [3]
    assert len(contacts.ended) == 0


def test_each_contact_takes_eight_bytes_and_its_fields() -> None:
    contacts = vc.Contacts({"tangent": 3, "age": 1}, dtype=np.float32)
    contacts.update(*crowd(1)[0])
    arrays = contacts.i, contacts.j, contacts["tangent"], contacts["age"]
    assert sum(array.nbytes for array in arrays) == len(contacts) * (8 + 16)
    assert {array.dtype.name for array in arrays} == {"int32", "float32"}


def test_contacts_may_have_no_fields() -> None:
    contacts = vc.Contacts({})
    contacts.update([3], [1])
    assert (contacts.i.tolist(), contacts.j.tolist()) == ([1], [3])
    assert repr(contacts) == "Contacts(1 contacts, fields: none)"
    assert list(vc.Contacts({"a": 1, "b": 2})) == ["a", "b"]
    assert "a" in vc.Contacts({"a": 1})


def test_an_index_and_its_contacts_change_alike() -> None:
    """`insert` and `remove` renumber as those of an index do."""
    rng = np.random.default_rng(2)
    index = vc.CellSorting(rng.random((300, 3)), radii=0.05, planes=([0, 0, 0.01], [0, 0, 1]))
    contacts = vc.Contacts({"name": 1})
    contacts.update(*index.pairs())
    contacts["name"] = np.arange(len(contacts))
    gone = rng.permutation(300)[:80]
    index.remove(gone)
    contacts.remove(gone)
    i, j = index.pairs(sort=True)
    assert np.array_equal(contacts.i, i)
    assert np.array_equal(contacts.j, j)
    index.insert(np.full((7, 3), 0.5), radii=0.01)
    contacts.insert(7, at=220)
    contacts.update(*index.pairs())
    assert len(contacts.ended) == 0
    assert np.all(contacts.j[contacts.began] >= 220)
    assert np.all(np.diff(contacts["name"][contacts.lasted]) > 0)


def test_a_neighbour_list_and_its_contacts_are_reordered_alike() -> None:
    """Rows of a half list are in canonical order, also after both were reordered."""
    rng = np.random.default_rng(6)
    x, v = rng.random((2000, 3)), rng.normal(size=(2000, 3)) * 1e-3
    rows = vc.NeighborList(cutoff=0.08, skin=0.01)
    contacts = vc.Contacts({"name": 1})
    names: dict[frozenset[int], float] = {}
    numbers = np.arange(2000)
    for step in range(12):
        x = x + v
        if step == 6:
            order = vc.spatial_order(x)
            x, v, numbers = x[order], v[order], numbers[order]
            rows.reorder(order)
            contacts.reorder(order)
        rows.update(x)
        contacts.update_rows(rows.offsets, rows.indices)
        assert np.array_equal(contacts.j, rows.indices)
        fresh = contacts.began
        contacts["name"][fresh] = step * 1e6 + np.arange(len(fresh))
        pairs = [frozenset(p) for p in zip(numbers[contacts.i].tolist(), numbers[contacts.j].tolist(), strict=True)]
        now = dict(zip(pairs, contacts["name"].tolist(), strict=True))
        assert {p: now[p] for p in now.keys() & names.keys()} == {p: names[p] for p in now.keys() & names.keys()}
        names = now


def test_numbers_that_an_order_leaves_out_stay() -> None:
    """Such as those of planes, after the bodies."""
    contacts = vc.Contacts({"age": 1})
    contacts.update([0, 1, 2], [1, 7, 8])
    contacts["age"] = [1.0, 2.0, 3.0]
    contacts.reorder([2, 0, 1])
    assert (contacts.i.tolist(), contacts.j.tolist()) == ([0, 1, 2], [8, 2, 7])
    assert contacts["age"].tolist() == [3, 1, 2]


def test_a_refused_update_leaves_the_contacts_as_they_were() -> None:
    contacts = vc.Contacts({"age": 1})
    contacts.update([0, 1], [1, 2])
    contacts["age"] = [4.0, 5.0]
    for wrong in (([0, 1, 2], [1, 0, 1]), ([3], [3])):
        with pytest.raises(vc.InputError):
            contacts.update(*wrong)
    with pytest.raises(vc.InputError):
        contacts.update_rows([0, 2, 2, 2], [2, 1])
    assert contacts.j.tolist() == [1, 2]
    assert contacts["age"].tolist() == [4, 5]
    assert contacts.began.tolist() == [0, 1]


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contacts = vc.Contacts({"age": 1})
    contacts.save(tmp_path / "contacts.npz")
    before = (tmp_path / "contacts.npz").read_bytes()

    def breaks(file: Any, **_: object) -> None:
        file.write(b"half")
        raise OSError

    monkeypatch.setattr(np, "savez", breaks)
    with pytest.raises(OSError):
        contacts.save(tmp_path / "contacts.npz")
    assert (tmp_path / "contacts.npz").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


# -------------------------------------------------------------------------------- refused


def some() -> vc.Contacts:
    contacts = vc.Contacts({"age": 1})
    contacts.update([0, 1], [1, 2])
    return contacts


def assigned(values: Any) -> None:
    some()["age"] = values


def loaded(content: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.npz")
        path.write_bytes(content)
        return vc.Contacts.load(path)


def other_file() -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "other.npz")
        np.savez(path, nothing=np.zeros(3))
        return vc.Contacts.load(path)


REFUSALS = [
    Refusal("fields that are a list", lambda: vc.Contacts(["a"]), "fields", r"\['a'\]"),  # type: ignore[arg-type]
    Refusal("a name that is a number", lambda: vc.Contacts({3: 1}), "fields", "3"),  # type: ignore[dict-item]
    Refusal("no components", lambda: vc.Contacts({"a": 0}), "fields", "0"),
    Refusal("half a component", lambda: vc.Contacts({"a": 1.5}), "fields", "1.5"),  # type: ignore[dict-item]
    Refusal("initial value of an unknown field", lambda: vc.Contacts({"a": 1}, initial={"b": 1}), "initial", "'b'"),
    Refusal(
        "initial value of another length", lambda: vc.Contacts({"a": 3}, initial={"a": [1, 2]}), "initial", r"\[1, 2\]"
    ),
    Refusal("initial text", lambda: vc.Contacts({"a": 3}, initial={"a": "no"}), "initial", "no"),
    Refusal("initial list", lambda: vc.Contacts({"a": 3}, initial=[3]), "initial", r"\[3\]"),  # type: ignore[arg-type]
    Refusal("complex data", lambda: vc.Contacts({"a": 1}, dtype="complex128"), "dtype", "complex"),
    Refusal("unknown data", lambda: vc.Contacts({"a": 1}, dtype="float65"), "dtype", "float65"),
    Refusal("no data", lambda: vc.Contacts({"a": 1}, dtype=None), "dtype", "None"),
    Refusal("dtype of an unknown field", lambda: vc.Contacts({"a": 1}, dtype={"b": "f8"}), "dtype", "'b'"),
    Refusal("antisymmetric unknown field", lambda: vc.Contacts({"a": 1}, antisymmetric=["b"]), "antisymmetric", "'b'"),
    Refusal("a pair twice", lambda: some().update([0, 1, 1], [1, 2, 0]), "i, j", r"\(0, 1\)"),
    Refusal("a pair thrice", lambda: some().update([4, 4, 4], [5, 5, 5]), "i, j", r"\(4, 5\)"),
    Refusal("a body with itself", lambda: some().update([3, 1], [3, 2]), "i, j", "3"),
    Refusal("unequal lengths", lambda: some().update([3, 1], [2]), "j", "1.*2"),
    Refusal("negative numbers", lambda: some().update([3, -1], [2, 2]), "i", "-1"),
    Refusal("negative int32", lambda: some().update(np.array([3, -1], np.int32), np.array([2, 2])), "i", "-1"),
    Refusal("negative neighbors", lambda: some().update(([0, 2, 2], np.array([-4, 1], np.int32))), "indices", "-4"),
    Refusal("negative in a row", lambda: some().update_rows([0, 1], np.array([-4], np.int32)), "indices", "-4"),
    Refusal("negative to find", lambda: some().find(np.array([-4], np.int32), [1]), "i", "-4"),
    Refusal("too large numbers", lambda: some().update([3], [2**31]), "j", str(2**31)),
    Refusal("fractions", lambda: some().update([3.5], [2]), "i", "float64"),
    Refusal("a table", lambda: some().update([[3]], [[2]]), "i", r"\(1, 1\)"),
    Refusal("one array", lambda: some().update([1, 2, 3]), "rows", "list"),
    Refusal("pairs as one tuple", lambda: some().update(([0, 1], [1, 2])), "offsets", "2 indices"),
    Refusal("falling offsets", lambda: some().update(([0, 2, 1, 3], [1, 2, 2])), "offsets", r"\[2, 1\].*row 1"),
    Refusal("offsets that end early", lambda: some().update(([0, 1, 1], [1, 2])), "offsets", "2 indices"),
    Refusal("offsets that start late", lambda: some().update(([1, 2], [1, 2])), "offsets", "row 0"),
    Refusal("no offsets", lambda: some().update(([], [])), "offsets", r"\(0,\)"),
    Refusal("one wrong offset", lambda: some().update(([3], [])), "offsets", "3"),
    Refusal("a pair twice in a row", lambda: some().update(([0, 2], [1, 1])), "i, j", r"\(0, 1\)"),
    Refusal("some pairs in both rows", lambda: some().update(([0, 2, 3, 3], [1, 2, 0])), "i, j", r"\(0, 1\)"),
    Refusal("rows out of order", lambda: some().update_rows([0, 0, 2, 2], [3, 2]), "indices", r"\[3, 2\] in row 1"),
    Refusal("rows of smaller numbers", lambda: some().update_rows([0, 0, 1], [0]), "indices", r"\[0\] in row 1"),
    Refusal("a field of another length", lambda: assigned([1.0, 2.0, 3.0]), "contacts", r"'age'.*\(3,\)"),
    Refusal("a field of text", lambda: assigned("old"), "contacts", "'age'.*<U3"),
    Refusal("removed twice", lambda: some().remove([1, 1]), "ids", "1"),
    Refusal("negative removed", lambda: some().remove([-1]), "ids", "-1"),
    Refusal("fewer than none inserted", lambda: some().insert(-1, at=0), "count", "-1"),
    Refusal("inserted before all", lambda: some().insert(1, at=-1), "at", "-1"),
    Refusal("too many inserted", lambda: some().insert(2**31 - 2, at=1), "count", str(2**31 - 2)),
    Refusal("an order with gaps", lambda: some().reorder([0, 1, 3]), "order", "3"),
    Refusal("an order that repeats", lambda: some().reorder([0, 1, 1]), "order", "3"),
    Refusal("a file of text", lambda: loaded(b"hello"), "path", "some.npz"),
    Refusal("an empty file", lambda: loaded(b""), "path", "some.npz"),
    Refusal("another file", other_file, "path", "nothing"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal_names_argument_value_and_requirement(refusal: Refusal) -> None:
    check_refusal(refusal)


def test_an_unknown_field_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="age"):
        some()["tangent"]
    with pytest.raises(KeyError, match="tangent"):
        some()["tangent"] = 3
    with pytest.raises(FileNotFoundError):
        vc.Contacts.load("/nowhere/contacts.npz")


def test_a_list_is_accepted_as_it_is() -> None:
    points = np.random.default_rng(0).random((300, 3))
    made = vc.NeighborList(radii=0.04, skin=0.02)
    made.update(points)
    contacts = vc.Contacts({"age": 1})
    contacts.update(made)
    assert np.array_equal(contacts.j, made.indices)
    assert np.array_equal(contacts.offsets, made.offsets[: len(contacts.offsets)])
    full = vc.NeighborList(radii=0.04, skin=0.02, half=False)
    full.update(points)
    contacts.update(full)
    assert np.array_equal(contacts.j, made.indices)
    assert len(contacts.began) == 0


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_contacts_go_their_own_ways(way: str) -> None:
    made = vc.Contacts({"age": 1, "push": 3}, initial={"age": 2.0}, antisymmetric=["push"])
    made.update([0, 1, 2], [1, 2, 3])
    made.update([0, 1, 4], [1, 2, 5])
    made["push"] = np.arange(9.0).reshape(3, 3)
    copied = COPIES[way](made)
    for mine, theirs in ((made.i, copied.i), (made.j, copied.j), (made["push"], copied["push"])):
        assert np.array_equal(mine, theirs)
    assert copied.began.tolist() == made.began.tolist() == [2]
    assert copied.ended.j.tolist() == [3]
    copied["age"] += 1.0
    assert made["age"].tolist() == [2.0, 2.0, 2.0]
    copied.update([1, 4], [2, 5])
    copied.reorder([5, 4, 3, 2, 1, 0])
    assert copied["push"].tolist() == [[-6.0, -7.0, -8.0], [-3.0, -4.0, -5.0]]
    assert len(made) == 3
