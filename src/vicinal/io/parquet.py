"""Parquet files, through pyarrow: points in, pairs out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from vicinal import InputError
from vicinal.extras import need

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class ParquetPoints:
    """The points of an open file, its columns x, y and, if present, z: all at once or piece by piece."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        need("reading a Parquet file", "parquet")
        from pyarrow import parquet

        self._path = path
        with _readable(path):
            self._reader = parquet.ParquetFile(file)
        every = self._reader.schema_arrow.names
        self._names = [name for name in "xyz" if name in every]
        if self._names[:2] != ["x", "y"]:
            raise InputError(f"{path}: has no columns x and y; columns in the file: {', '.join(every)}")

    def __len__(self) -> int:
        """Return the number of points."""
        return int(self._reader.metadata.num_rows)

    def read(self) -> NDArray[Any]:
        """Return all points."""
        with _readable(self._path):
            table = self._reader.read(columns=self._names)
        return _points(self._path, table, self._names)

    def pieces(self, size: int) -> Iterator[NDArray[Any]]:
        """Iterate over the points in order, at most `size` at a time; there is at least one piece."""
        if len(self) == 0:
            yield self.read()
        batches = self._reader.iter_batches(size, columns=self._names)
        while True:
            with _readable(self._path):
                batch = next(batches, None)
            if batch is None:
                return
            yield _points(self._path, batch, self._names)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        message = f"{path}: not a readable Parquet file ({error}); write it with pyarrow.parquet"
        raise InputError(message) from error


def read_parquet(path: Path) -> NDArray[Any]:
    """Return the columns x, y and, if present, z of a file as points."""
    with path.open("rb") as file:
        return ParquetPoints(path, file).read()


def _points(path: Path, table: Any, names: list[str]) -> NDArray[Any]:
    columns = []
    for name in names:
        column = table.column(name)
        if column.null_count:
            raise InputError(f"{path}: column {name} must have no empty entries, got {column.null_count}; remove them")
        columns.append(column.to_numpy(zero_copy_only=False))
        if columns[-1].dtype.kind not in "fiu":
            raise InputError(f"{path}: column {name} must be numbers, got {column.type}; convert it first")
    return np.stack(columns, axis=1)


def write_parquets(file: BinaryIO, tables: Iterable[Mapping[str, NDArray[Any]]]) -> None:
    """Write tables of the same named columns to an open binary file, one after the other; there must be one or more."""
    need("writing a Parquet file", "parquet")
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    try:
        for columns in tables:
            table = pa.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
