"""An append-only log of frames: appending is cheap, and complete frames stay readable after a crash.

A frame consists of a line of JSON that describes it, its arrays one after the other, and a checksum of both. If the
process is killed, the last frame may be truncated; readers skip it.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.sim.vtkhdf import Frame

_PREFIX = struct.Struct("<QQI")
"""Size of the description in bytes, size of the arrays in bytes, and the checksum."""


def append_frame(path: Path, frame: Frame) -> int:
    """Append a frame to a log; return its size in bytes. If writing fails, the log is unchanged."""
    names, arrays = _arrays(frame)
    described = [[name, array.dtype.str, array.shape] for name, array in zip(names, arrays, strict=True)]
    head = json.dumps({"time": float(frame.time), "pieces": frame.pieces, "arrays": described}).encode()
    body = b"".join(array.tobytes() for array in arrays)
    content = _PREFIX.pack(len(head), len(body), zlib.crc32(body, zlib.crc32(head))) + head + body
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        before = os.fstat(descriptor).st_size
        try:
            _write_all(descriptor, content)
        except BaseException:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
    return len(content)


def _write_all(descriptor: int, content: bytes) -> None:
    """Write all bytes. One system call may write only some of them."""
    rest = memoryview(content)
    while rest:
        written = os.write(descriptor, rest)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[written:]


def read_frames(path: Path) -> list[Frame]:
    """Return the complete frames of a log; an empty list if there is no such file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    return list(_frames(content))


def _arrays(frame: Frame) -> tuple[list[str], list[npt.NDArray[Any]]]:
    parts: dict[str, Any] = {"points": frame.points}
    for kind, (indices, offsets) in frame.cells.items():
        parts |= {f"cells/{kind}/indices": indices, f"cells/{kind}/offsets": offsets}
    parts |= {f"point_data/{name}": values for name, values in frame.point_data.items()}
    parts |= {f"cell_data/{name}": values for name, values in frame.cell_data.items()}
    return list(parts), [np.ascontiguousarray(values) for values in parts.values()]


def _frames(content: bytes) -> Iterator[Frame]:
    at = 0
    while at + _PREFIX.size <= len(content):
        head_size, body_size, checksum = _PREFIX.unpack_from(content, at)
        head = content[at + _PREFIX.size : at + _PREFIX.size + head_size]
        begin = at + _PREFIX.size + head_size
        at = begin + body_size
        if at > len(content) or zlib.crc32(content[begin:at], zlib.crc32(head)) != checksum:
            return
        yield _frame(json.loads(head), content, begin)


def _frame(described: dict[str, Any], content: bytes, begin: int) -> Frame:
    groups: dict[str, dict[str, Any]] = {"cells": {}, "point_data": {}, "cell_data": {}}
    points: npt.NDArray[Any] = np.zeros((0, 3))
    for name, kind, shape in described["arrays"]:
        dtype = np.dtype(kind)
        count = int(np.prod(shape))
        array = np.frombuffer(content, dtype, count, begin).reshape(shape)
        begin += count * dtype.itemsize
        group, _, rest = name.partition("/")
        if group == "points":
            points = array
        else:
            groups[group][rest] = array
    cells = {
        name.removesuffix("/indices"): (indices, groups["cells"][name.replace("/indices", "/offsets")])
        for name, indices in groups["cells"].items()
        if name.endswith("/indices")
    }
    return Frame(described["time"], points, cells, groups["point_data"], groups["cell_data"], described["pieces"])
