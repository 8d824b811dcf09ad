"""Writing pairs to npz, csv and Parquet files."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from vicinal import InputError
from vicinal._check import check_want
from vicinal.io.atomic import atomic_file, check_place
from vicinal.io.parquet import write_parquets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

ENDINGS = (".npz", ".csv", ".parquet")

LETTERS = "ijdDSE"
"""What a file of pairs can hold."""
EDGES = "E"
"""The numbers of both bodies in two rows, with an entry per pair; other arrays have a row per pair. Not in chunks."""

ROWS = 16_384
"""Lines of text made at a time: large enough for speed, small enough for memory (some MB)."""


def number_of_pairs(arrays: Sequence[NDArray[Any]], want: str) -> int:
    """Return the number of pairs of what `vicinal.pairs` returned."""
    return int(arrays[0].shape[1]) if want[0] == EDGES else len(arrays[0])


def check_target(path: Path, *, overwrite: bool = False) -> None:
    """Refuse an output file that could not be written, before the work is done.

    Parameters
    ----------
    path
        File for the pairs, ending in ``.npz``, ``.csv`` or ``.parquet``.
    overwrite
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        If the ending of the name is not known.
    OSError
        If the folder does not exist, or the file does and may not be replaced.
    """
    if path.suffix.lower() not in ENDINGS:
        message = f"{path}: the file name must end in one of {' '.join(ENDINGS)}, got {path.suffix!r}"
        raise InputError(message)
    check_place(path)
    if path.exists() and not overwrite:
        message = f"{path}: exists already; choose another name or allow overwriting (--force)"
        raise FileExistsError(message)


def write_pairs(path: Path, arrays: Sequence[NDArray[Any]], *, want: str, overwrite: bool = False) -> None:
    """Write pairs to a file, which appears only once it is complete.

    Parameters
    ----------
    path
        Target. ``.npz`` holds an array per letter of `want`, under that letter; ``.csv`` and ``.parquet`` have
        the columns i, j, d, Dx, Dy, Dz, Sx, Sy, Sz, Ei, Ej as wanted, with numbers that read back bit for bit.
    arrays
        What `vicinal.pairs` returned.
    want
        The letters that `vicinal.pairs` was called with.
    overwrite
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        If the ending of the name is not known.
    OSError
        If the file cannot be written, or exists and may not be replaced.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> arrays = (np.array([0, 0]), np.array([1, 2]), np.array([0.5, 0.25]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pairs.csv")
    ...     write_pairs(path, arrays, want="ijd")
    ...     print(path.read_text(), end="")
    i,j,d
    0,1,0.5
    0,2,0.25
    """
    check_target(path, overwrite=overwrite)
    _write(path, _named(arrays, want))


def write_counts(path: Path, ids: NDArray[Any], counts: NDArray[Any]) -> None:
    """Write numbers of neighbours to a file, with the columns i and n; its name ends as those of `write_pairs` do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "counts.csv")
    ...     write_counts(path, np.array([4, 2]), np.array([0, 1]))
    ...     print(path.read_text(), end="")
    i,n
    4,0
    2,1
    """
    check_target(path)
    _write(path, {"i": ids, "n": counts})


def _write(path: Path, named: dict[str, NDArray[Any]]) -> None:
    with atomic_file(path) as file:
        if path.suffix.lower() == ".npz":
            savez: Any = np.savez  # its types have no room for names that are not known here
            savez(file, **named)
        elif path.suffix.lower() == ".parquet":
            write_parquets(file, [_columns(named)])
        else:
            _write_table(file, _columns(named), header=True)


def write_chunks(path: Path, chunks: Iterable[Sequence[NDArray[Any]]], *, want: str, overwrite: bool = False) -> int:
    """Write pairs that come in pieces, as `vicinal.pairs` with ``chunks=`` returns them; return their number.

    The file is that of `write_pairs` for all pieces together, but only one of them is in memory at a time.

    Parameters
    ----------
    path, want, overwrite
        As for `write_pairs`.
    chunks
        The pieces, one or more; the first one tells the types of the columns and may be empty.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> pieces = [(np.array([0]), np.array([1])), (np.array([0, 2]), np.array([2, 3]))]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pairs.npz")
    ...     number = write_chunks(path, pieces, want="ij")
    ...     print(number, np.load(path)["j"].tolist())
    3 [1, 2, 3]
    """
    check_target(path, overwrite=overwrite)
    counted = _Counted(chunks)
    with atomic_file(path) as file:
        if path.suffix.lower() == ".npz":
            _write_npz(file, counted, want, path.parent)
        elif path.suffix.lower() == ".parquet":
            write_parquets(file, (_columns(_named(arrays, want)) for arrays in counted))
        else:
            for number, arrays in enumerate(counted):
                write_csv(file, arrays, want=want, header=number == 0)
    return counted.total


class _Counted:
    """Chunks, and the number of pairs in those that were taken."""

    def __init__(self, chunks: Iterable[Sequence[NDArray[Any]]]) -> None:
        self._chunks, self.total = chunks, 0

    def __iter__(self) -> Iterator[Sequence[NDArray[Any]]]:
        for arrays in self._chunks:
            self.total += len(arrays[0])
            yield arrays


def _write_npz(file: BinaryIO, chunks: Iterable[Sequence[NDArray[Any]]], want: str, folder: Path) -> None:
    """Write an npz file piece by piece: columns go to files without a name first, because npz needs their lengths."""
    with ExitStack() as stack:
        parts = [stack.enter_context(TemporaryFile(dir=folder)) for _ in want]
        shapes: list[tuple[int, ...]] = [(0,)] * len(want)
        dtypes: list[np.dtype[Any]] = [np.dtype(np.int32)] * len(want)
        for arrays in chunks:
            for k, array in enumerate(arrays):
                parts[k].write(np.ascontiguousarray(array).data)
                shapes[k], dtypes[k] = (shapes[k][0] + len(array), *array.shape[1:]), array.dtype
        with ZipFile(file, "w", allowZip64=True) as archive:
            for letter, part, shape, dtype in zip(want, parts, shapes, dtypes, strict=True):
                with archive.open(f"{letter}.npy", "w", force_zip64=True) as member:
                    described = {"descr": dtype.str, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(member, described)
                    part.seek(0)
                    copyfileobj(part, member, 1 << 20)


def write_csv(file: BinaryIO, arrays: Sequence[NDArray[Any]], *, want: str, header: bool = True) -> None:
    """Write pairs as text to an open binary file; see `write_pairs`."""
    _write_table(file, _columns(_named(arrays, want)), header=header)


def _write_table(file: BinaryIO, named: dict[str, NDArray[Any]], *, header: bool) -> None:
    columns = list(named.values())
    if header:
        file.write((",".join(named) + "\n").encode())
    line = ",".join(_format(column) for column in columns) + "\n"
    for begin in range(0, len(columns[0]), ROWS):
        rows = [column[begin : begin + ROWS].tolist() for column in columns]
        # One formatting operation for the whole block: five times faster than line by line.
        file.write((line * len(rows[0]) % tuple(chain.from_iterable(zip(*rows, strict=True)))).encode())


def _named(arrays: Sequence[NDArray[Any]], want: str) -> dict[str, NDArray[Any]]:
    return dict(zip(check_want(want, LETTERS), arrays, strict=True))


def _columns(named: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the columns of a table by name, one per axis of vectors and shifts."""
    columns: dict[str, NDArray[Any]] = {}
    for letter, array in named.items():
        if letter == EDGES:
            columns |= {letter + "i": array[0], letter + "j": array[1]}
        elif array.ndim == 1:
            columns[letter] = array
        else:
            columns |= {letter + axis: array[:, k] for k, axis in enumerate("xyz"[: array.shape[1]])}
    return columns


def _format(column: NDArray[Any]) -> str:
    if column.dtype.kind in "iu":
        return "%d"
    # Nine digits determine a float32; repr gives the fewest digits that determine a float64.
    return "%.9g" if column.dtype == np.float32 else "%r"
