"""Parquet files, through pyarrow: points in, pairs out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from vicinal import InputError
from vicinal.extras import need

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


def read_parquet(path: Path) -> NDArray[Any]:
    """Return the columns x, y and, if present, z of a file as points."""
    need("reading a Parquet file", "parquet")
    import pyarrow as pa
    from pyarrow import parquet

    with path.open("rb") as file:
        try:
            reader = parquet.ParquetFile(file)
            names = [name for name in "xyz" if name in reader.schema_arrow.names]
            if names[:2] != ["x", "y"]:
                message = f"{path}: has no columns x and y; columns in the file: {', '.join(reader.schema_arrow.names)}"
                raise InputError(message)
            table = reader.read(columns=names)
        except pa.ArrowException as error:
            message = f"{path}: not a readable Parquet file ({error}); write it with pyarrow.parquet"
            raise InputError(message) from error
    columns = []
    for name in names:
        column = table.column(name)
        if column.null_count:
            raise InputError(f"{path}: column {name} must have no empty entries, got {column.null_count}; remove them")
        columns.append(column.to_numpy())
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
