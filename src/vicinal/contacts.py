"""Contacts: pairs that carry data from step to step."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._contact_checks import (
    HasRows,
    Ids,
    Places,
    Rows,
    check_dtypes,
    check_fields,
    check_ids,
    check_initial,
    check_names,
    check_pairs,
    check_rows,
    check_sign,
    disorder,
    repeated,
    rows_of,
)
from vicinal.errors import InputError

FORMAT = "vicinal contacts 1"


@dataclass(frozen=True, eq=False)
class Ended:
    """Contacts that ended, with their last data.

    Parameters
    ----------
    i, j
        Numbers of the bodies before the change, i < j.
    fields
        Last value of each field, one row per contact.
    """

    i: Ids
    j: Ids
    fields: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of contacts that ended."""
        return len(self.i)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return the last values of a field."""
        return self.fields[name]


class Contacts:
    """Pairs that carry data from step to step, such as the tangential springs of grains.

    A contact is an unordered pair of two bodies. Contacts are kept in canonical order, i < j, by `i`, then by `j`: the
    order of `vicinal.pairs(..., sort=True)`. Arrays of fields are aligned with `i` and `j` and can be written in place.
    Every change of the contacts makes new arrays, so get them again after it.

    Parameters
    ----------
    fields
        Numbers per contact of each field: {"tangent": 3, "age": 1}. A field of 1 has shape (m,), others (m, k).
    initial
        Values of the fields of a new contact, one number or one per component; the default is 0.
    dtype
        float64, float32, int64 or int32: of all fields, or by name. The default is float64.
    antisymmetric
        Names of fields that point from i to j, such as a force on i: their sign changes where `reorder` exchanges the
        bodies of a contact.

    Examples
    --------
    >>> contacts = vicinal.Contacts(fields={"tangent": 3, "age": 1})
    >>> contacts.update([4, 2], [1, 3])
    >>> contacts.i.tolist(), contacts.j.tolist()
    ([1, 2], [4, 3])
    >>> contacts["age"] += 1.0
    >>> contacts.update([0, 4], [1, 1])
    >>> contacts["age"].tolist()
    [0.0, 1.0]
    >>> contacts.began.tolist(), contacts.lasted.tolist()
    ([0], [1])
    >>> contacts.ended.i.tolist(), contacts.ended.j.tolist(), contacts.ended["age"].tolist()
    ([2], [3], [1.0])
    """

    _offsets: Places
    _indices: Ids
    _rows: Ids | None  # the row of each contact, None until it is computed
    _fields: dict[str, npt.NDArray[Any]]
    _began: Places
    _lasted: Places | None
    _ended: Ended

    def __init__(
        self,
        fields: Mapping[str, int],
        *,
        initial: Mapping[str, npt.ArrayLike] | None = None,
        dtype: npt.DTypeLike | Mapping[str, npt.DTypeLike] = "float64",
        antisymmetric: Sequence[str] = (),
    ) -> None:
        widths = check_fields(fields)
        self._initial = check_initial(initial or {}, widths, check_dtypes(dtype, widths))
        if isinstance(antisymmetric, str):
            antisymmetric = (antisymmetric,)
        check_names(antisymmetric, widths, "antisymmetric")
        self._antisymmetric = frozenset(antisymmetric)
        self._pool = _core.Pool()
        self._set((np.zeros(1, np.int64), np.zeros(0, np.int32)), {n: v[:0] for n, v in self._initial.items()})

    def __len__(self) -> int:
        """Return the number of contacts."""
        return len(self._indices)

    def __repr__(self) -> str:
        """Return the number of contacts and the names of the fields."""
        return f"Contacts({len(self)} contacts, fields: {', '.join(self._initial) or 'none'})"

    def __getstate__(self) -> dict[str, Any]:
        """Return copies of all arrays, for `copy` and `pickle`."""
        return deepcopy({name: value for name, value in self.__dict__.items() if name != "_pool"})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` returned."""
        self.__dict__.update(state)
        self._pool = _core.Pool()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the fields."""
        return iter(self._initial)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a field of this name."""
        return name in self._initial

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return the array of a field, not a copy: writing to it takes effect until the contacts change."""
        try:
            return self._fields[name]
        except KeyError:
            raise KeyError(f"{name!r} is not a field; the fields are {', '.join(self._initial) or 'none'}") from None

    def __setitem__(self, name: str, values: npt.ArrayLike) -> None:
        """Write a field, in place."""
        array = self[name]
        if values is not array:  # as after `contacts[name] += 1`
            given = _check.as_array(values, name)
            try:
                array[...] = given
            except (TypeError, ValueError):
                raise InputError(
                    f"contacts[{name!r}] must be numbers of shape {array.shape}, one row per contact, or one value for "
                    f"all, got shape {given.shape} and dtype {given.dtype}"
                ) from None

    @property
    def i(self) -> Ids:
        """The body with the smaller number of each contact."""
        if self._rows is None:
            self._rows = _core.contacts_expand(self._pool, self._offsets, self._indices)
        return self._rows

    @property
    def j(self) -> Ids:
        """The body with the larger number of each contact."""
        return self._indices

    @property
    def offsets(self) -> Places:
        """int64: the contacts of row i are those from `offsets[i]` to `offsets[i + 1]`."""
        return self._offsets

    @property
    def began(self) -> Places:
        """Positions, among the contacts, of those that began with the last change."""
        return self._began

    @property
    def lasted(self) -> Places:
        """Positions, among the contacts, of those that existed before the last change."""
        if self._lasted is None:
            new = np.zeros(len(self), bool)
            new[self._began] = True
            self._lasted = np.flatnonzero(~new)
        return self._lasted

    @property
    def ended(self) -> Ended:
        """The contacts that ended with the last change and their last data; bodies have the numbers from before it."""
        return self._ended

    # ---------------------------------------------------------------------------- steps

    def update(self, first: npt.ArrayLike | HasRows | tuple[Any, Any], second: npt.ArrayLike | None = None) -> None:
        """Set which pairs are in contact now.

        Contacts that existed before keep their data, new ones start with the initial values, and contacts that are no
        longer among the pairs are in `ended`.

        Parameters
        ----------
        first, second
            Either two arrays `i, j` with each unordered pair once, in any order and direction, as `vicinal.pairs`
            returns them; or one argument with rows, a `vicinal.Neighbors`, a `vicinal.NeighborList` or `(offsets,
            indices)`, with each pair in one row or in both.

        Examples
        --------
        >>> points = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
        >>> contacts = vicinal.Contacts({"tangent": 2})
        >>> contacts.update(*vicinal.pairs(points, radii=0.5))
        >>> contacts.update(vicinal.neighbors(points, radii=0.5))
        >>> contacts.i.tolist(), contacts.j.tolist(), contacts.began.tolist()
        ([0, 1], [1, 2], [])
        """
        if second is None:
            offsets, indices = check_rows(first)
            if self._merge(_core.contacts_copy(self._pool, offsets, indices)):
                return
            check_sign(indices, "indices")
            i, j = _core.contacts_expand(self._pool, offsets, indices), indices
            rows = self._both_ways(i, j)
        else:
            i, j = check_pairs(first, second)
            rows = None
        if not self._merge(rows or self._sorted(i, j)):
            raise repeated(i, j)

    def update_rows(self, offsets: npt.ArrayLike, indices: npt.ArrayLike) -> None:
        """Set which pairs are in contact now, as rows in canonical order; `indices` becomes `j`.

        This is `update((offsets, indices))` with a guarantee that fields are aligned with `indices`: rows that are not
        in canonical order raise an error and are not sorted.

        Parameters
        ----------
        offsets
            int64, one more than the number of rows: row i is `indices[offsets[i]:offsets[i + 1]]`.
        indices
            int32, ascending in each row, and each greater than the row's number.

        Examples
        --------
        >>> contacts = vicinal.Contacts({"age": 1})
        >>> contacts.update_rows([0, 2, 3, 3], [1, 2, 2])
        >>> contacts.i.tolist(), contacts.j.tolist()
        ([0, 0, 1], [1, 2, 2])
        """
        given = check_rows((offsets, indices))
        if not self._merge(_core.contacts_copy(self._pool, *given)):
            row, values = disorder(*given)
            raise InputError(
                f"indices must ascend in each row and be greater than the row, got {values} in row {row}; "
                "use update, which sorts them"
            )

    def find(self, i: npt.ArrayLike, j: npt.ArrayLike) -> Places:
        """Return the positions of pairs, in either direction, among the contacts; -1 for pairs that are not in contact.

        Examples
        --------
        >>> contacts = vicinal.Contacts({"age": 1})
        >>> contacts.update([3, 0], [1, 2])
        >>> contacts.find([0, 1, 0], [2, 3, 3]).tolist()
        [0, 1, -1]
        """
        first, second = check_pairs(i, j)
        check_sign(first, "i")
        check_sign(second, "j")
        return _core.contacts_find(self._offsets, self._indices, first, second)

    # ---------------------------------------------------------------------------- other numbers for the bodies

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove bodies; later numbers move up, as with `numpy.delete` and `vicinal.Index.remove`.

        Their contacts are in `ended`, with the numbers from before.

        Examples
        --------
        >>> contacts = vicinal.Contacts({"age": 1})
        >>> contacts.update([0, 1, 1], [1, 2, 3])
        >>> contacts.remove([0, 2])
        >>> contacts.i.tolist(), contacts.j.tolist(), contacts.ended.i.tolist()
        ([0], [1], [0, 1])
        """
        gone = np.sort(_check.check_ids(ids, _check.MOST_BODIES).astype(np.int32))
        before = np.searchsorted(gone, self.i), np.searchsorted(gone, self.j)
        taken = np.zeros(len(self), bool)
        for column, below in zip((self.i, self.j), before, strict=True):
            inside = below < len(gone)
            taken[inside] |= gone[below[inside]] == column[inside]
        stay = ~taken
        ended = self._take_out(np.flatnonzero(taken), self.i[taken])
        # Numbers move up without passing each other, so the order stays.
        i, j = ((column - below)[stay].astype(np.int32) for column, below in zip((self.i, self.j), before, strict=True))
        self._set(rows_of(i, j), {name: values[stay] for name, values in self._fields.items()}, ended=ended)

    def insert(self, count: int, at: int) -> None:
        """Make room for new bodies: numbers from `at` on increase by `count`.

        Bodies added by `vicinal.Index.insert` follow all others and need no call, unless planes or features of a mesh
        are numbered after the bodies: then `at` is the number of bodies before.

        Examples
        --------
        >>> contacts = vicinal.Contacts({"age": 1})
        >>> contacts.update([0, 1], [1, 5])
        >>> contacts.insert(3, at=5)
        >>> contacts.i.tolist(), contacts.j.tolist()
        ([0, 1], [1, 8])
        """
        more = _check.check_integer(count, "count", least=0, most=_check.MOST_BODIES)
        first = _check.check_integer(at, "at", least=0, most=_check.MOST_BODIES)
        if len(self) and int(self.j.max()) >= first and int(self.j.max()) + more >= _check.MOST_BODIES:
            raise InputError(
                f"count must keep all numbers below {_check.MOST_BODIES}, got {more} for {int(self.j.max())}; use less"
            )
        i, j = (np.where(column >= first, column + np.int32(more), column) for column in (self.i, self.j))
        self._set(rows_of(i, j), self._fields)

    def reorder(self, order: npt.ArrayLike) -> None:
        """Give bodies new numbers: body k is the one that was `order[k]`, as in `points[order]`.

        Numbers from `len(order)` on, such as those of planes, stay as they are. Antisymmetric fields change sign
        where the bodies of a contact change places.

        Examples
        --------
        >>> contacts = vicinal.Contacts({"push": 1, "age": 1}, antisymmetric=["push"])
        >>> contacts.update([0, 1], [1, 2])
        >>> contacts["push"] = [1.0, 2.0]
        >>> contacts.reorder([2, 1, 0])
        >>> contacts.i.tolist(), contacts.j.tolist(), contacts["push"].tolist()
        ([0, 1], [1, 2], [-2.0, -1.0])
        """
        given = check_ids(order, "order")
        new_number = np.full(len(given), -1, np.int32)
        inside = given[given < len(given)]
        new_number[inside] = np.arange(len(inside), dtype=np.int32)
        if len(inside) < len(given) or np.any(new_number < 0):
            raise InputError(
                f"order must be a permutation, got {len(given)} entries that are not 0 to {len(given) - 1}, each once; "
                "pass each number once"
            )
        last = int(self.j.max()) + 1 if len(self) else 0
        if last > len(given):
            rest = np.arange(len(given), last, dtype=np.int32)
            given, new_number = np.append(given, rest), np.append(new_number, rest)
        rows = self._sorted(new_number[self.i], new_number[self.j])
        i, j = given[_core.contacts_expand(self._pool, *rows)], given[rows[1]]
        places = _core.contacts_find(self._offsets, self._indices, i, j)
        fields = {name: values[places] for name, values in self._fields.items()}
        for name in self._antisymmetric:
            fields[name][i > j] *= -1
        self._set(rows, fields)

    # ---------------------------------------------------------------------------- files

    def save(self, path: str | Path) -> None:
        """Write everything to a file (NumPy's npz format). The file appears whole or not at all.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> contacts = vicinal.Contacts({"age": 1})
        >>> contacts.update([0], [1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     contacts.save(pathlib.Path(folder, "contacts.npz"))
        ...     vicinal.Contacts.load(pathlib.Path(folder, "contacts.npz"))
        Contacts(1 contacts, fields: age)
        """
        from vicinal.io.atomic import atomic_file

        arrays = {f"field:{name}": values for name, values in self._fields.items()}
        arrays |= {f"initial:{name}": values for name, values in self._initial.items()}
        names = np.array(sorted(self._antisymmetric), dtype=str)
        with atomic_file(Path(path)) as file:
            np.savez(file, format=np.array(FORMAT), i=self.i, j=self.j, antisymmetric=names, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path) -> Contacts:
        """Read a file of `save`. Changes are not stored: all contacts count as `lasted`."""
        try:
            with np.load(Path(path), allow_pickle=False) as file:
                arrays = dict(file)
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"path must be a file of Contacts.save, got {path}, which is another file or incomplete; use another"
            ) from error
        if str(arrays.get("format", "")) != FORMAT or not {"i", "j", "antisymmetric"} <= set(arrays):
            raise InputError(f"path must be a file of Contacts.save, got {path} with {sorted(arrays)}; use another")
        initial = {name.removeprefix("initial:"): v for name, v in arrays.items() if name.startswith("initial:")}
        made = cls(
            {name: values[0].size for name, values in initial.items()},
            initial={name: values[0] for name, values in initial.items()},
            dtype={name: values.dtype for name, values in initial.items()},
            antisymmetric=arrays["antisymmetric"].tolist(),
        )
        made.update(arrays["i"], arrays["j"])
        for name in initial:
            made[name] = arrays[f"field:{name}"]
        made._began, made._lasted = made._began[:0], None
        return made

    # ---------------------------------------------------------------------------- inside

    def _sorted(self, i: Ids, j: Ids) -> Rows:
        """Return pairs as rows in canonical order; pairs that repeat stay."""
        rows = _core.contacts_sort(self._pool, i, j)
        if rows is None:
            raise repeated(i, j)
        return rows

    def _both_ways(self, i: Ids, j: Ids) -> Rows | None:
        """Return the rows of pairs if each pair occurs in both directions, otherwise None."""
        up = i < j
        if 2 * np.count_nonzero(up) != len(i):
            return None
        rows, back = self._sorted(i[up], j[up]), self._sorted(i[~up], j[~up])
        return rows if np.array_equal(rows[0], back[0]) and np.array_equal(rows[1], back[1]) else None

    def _merge(self, rows: Rows) -> bool:
        """Replace the contacts. Return False, without a change, if the rows are not in canonical order."""
        fields = [_bytes(values) for values in self._fields.values()]
        initial = [_bytes(values) for values in self._initial.values()]
        merged = _core.contacts_merge(self._pool, self._offsets, self._indices, *rows, fields, initial)
        if merged is None:
            return False
        raw, began, ended, ended_rows = merged
        over = self._take_out(ended, ended_rows)
        made = {
            name: _values(array, values, len(rows[1]))
            for array, (name, values) in zip(raw, self._initial.items(), strict=True)
        }
        self._set(rows, made, began=began, ended=over)
        return True

    def _take_out(self, places: Places, i: Ids) -> Ended:
        return Ended(i, self._indices[places], {name: values[places] for name, values in self._fields.items()})

    def _set(
        self,
        rows: Rows,
        fields: dict[str, npt.NDArray[Any]],
        *,
        began: Places | None = None,
        ended: Ended | None = None,
    ) -> None:
        self._offsets, self._indices = rows
        self._fields = fields
        self._rows = None
        self._began = np.zeros(0, np.int64) if began is None else began
        self._lasted = None
        no_ids = np.zeros(0, np.int32)
        none = {name: values[:0].copy() for name, values in fields.items()}
        self._ended = Ended(no_ids, no_ids, none) if ended is None else ended


def _bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the same memory as bytes, as the core takes it."""
    return values.reshape(-1).view(np.uint8)


def _values(raw: npt.NDArray[np.uint8], like: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return bytes from the core as rows of a field."""
    return raw.view(like.dtype).reshape(size, *like.shape[1:])
