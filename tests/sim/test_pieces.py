"""Time series that several processes write together, a piece of every step each."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.test_output import frame
from vicinal import InputError
from vicinal.sim.frame_log import append_frame
from vicinal.sim.output import PictureWriter
from vicinal.sim.series import LOOSE_PARTS, SeriesReader, SeriesWriter, log_of
from vicinal.sim.team import Team
from vicinal.sim.vtkhdf import Frame, merged


class Comm:
    """The calls of a communicator that a team uses, for ranks that are threads."""

    def __init__(self, rank: int, size: int, barrier: threading.Barrier, places: list[Any]) -> None:
        self.rank, self.size, self._barrier, self._places = rank, size, barrier, places

    def allgather(self, value: Any) -> list[Any]:
        self._places[self.rank] = value
        self._barrier.wait(20)
        values = list(self._places)
        self._barrier.wait(20)
        return values

    def bcast(self, value: Any) -> Any:
        return self.allgather(value)[0]


def on_ranks(size: int, work: Callable[[Team], Any]) -> list[Any]:
    """Call a function on several ranks; return the result or the error of each."""
    barrier, places = threading.Barrier(size), [None] * size
    results: list[Any] = [None] * size

    def one(rank: int) -> None:
        try:
            results[rank] = work(Team(Comm(rank, size, barrier, places)))  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - checked by the test
            results[rank] = error

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def piece(step: int, rank: int, size: int) -> Frame | None:
    """A piece of a step; some ranks have none."""
    if rank and (step + rank) % 4 == 0:
        return None
    present = sum(piece_exists(step, other) for other in range(size))
    return replace(frame(100 * rank + step), time=0.1 * step, pieces=present)


def piece_exists(step: int, rank: int) -> bool:
    return not rank or (step + rank) % 4 != 0


def write(team: Team, path: Path, steps: range, keep: float | None = None, *, close: bool = True) -> None:
    series = SeriesWriter(path, keep=keep, team=team)
    for step in steps:
        series.append(piece(step, team.rank, team.size))
        assert len(series) == step + 1
    if close:
        series.close()


def check(path: Path, sizes: list[int]) -> None:
    """Compare with pieces that so many ranks have written, per step."""
    series = SeriesReader(path)
    assert series.times == pytest.approx(0.1 * np.arange(len(sizes)))
    for step, size in enumerate(sizes):
        expected = merged([one for rank in range(size) if (one := piece(step, rank, size)) is not None])
        read = series[step]
        assert np.array_equal(read.points, expected.points)
        for name, values in expected.point_data.items():
            assert np.array_equal(read.point_data[name], values)
        assert np.array_equal(read.cell_data["force"], expected.cell_data["force"])
        for kind, (ids, offsets) in read.cells.items():
            assert np.array_equal(ids, expected.cells[kind][0])
            assert np.array_equal(offsets, expected.cells[kind][1])
            assert offsets[-1] == len(ids)
            assert ids.max(initial=-1) < len(read.points)


def test_pieces_become_one_frame():
    first, second = frame(3), frame(5)
    whole = merged([first, second])
    n = len(first.points)
    assert np.array_equal(whole.points, np.concatenate([first.points, second.points]))
    assert np.array_equal(
        whole.cells["Lines"][0], np.concatenate([first.cells["Lines"][0], second.cells["Lines"][0] + n])
    )
    lines = len(whole.cells["Lines"][1]) - 1
    # Data of cells are in the order of kinds: all vertices, then all lines.
    expected = [one.cell_data["force"][len(one.points) :] for one in (first, second)]
    assert lines == sum(map(len, expected)) > 0
    assert np.array_equal(whole.cell_data["force"][-lines:], np.concatenate(expected))


@pytest.mark.parametrize("waits", [True, False])
def test_ranks_write_one_series(tmp_path, monkeypatch, waits):
    monkeypatch.setattr("vicinal.sim.series.INDEX_SECONDS", np.inf if waits else 0.0)
    monkeypatch.setattr("vicinal.sim.series.INDEX_SHARE", np.inf)
    count = LOOSE_PARTS + 3
    for size in (2, 4) if waits else (3,):
        path = tmp_path / str(size) / "a.vtkhdf"
        path.parent.mkdir()
        assert on_ranks(size, lambda team, path=path: write(team, path, range(count), close=False)) == [None] * size
        check(path, count * [size])
        assert on_ranks(size, lambda team, path=path: write(team, path, range(count))) == [None] * size
        check(path, count * [size])
        assert len(list(path.parent.rglob("*"))) == size + 2  # the index, a folder, and a file of each rank
        there = tmp_path / "there"
        shutil.move(path.parent, there)
        check(there / "a.vtkhdf", count * [size])
        shutil.rmtree(there)


@pytest.mark.parametrize("closed", [True, False])
def test_any_number_of_ranks_continues_a_series(tmp_path, closed):
    path = tmp_path / "a.vtkhdf"
    keep: float | None = None
    sizes: list[int] = []
    for size, begin, end in ((4, 0, 4), (3, 2, 6), (1, 5, 7), (2, 6, 9), (1, 7, 8)):
        steps = range(begin, end)
        results = on_ranks(size, lambda team, r=steps, k=keep: write(team, path, r, k, close=closed or r.stop == 8))
        assert results == [None] * size
        sizes = sizes[:begin] + len(steps) * [size]
        check(path, sizes)
        keep = {4: 0.15, 3: 0.45}.get(size, 0.1 * end - 0.15)
        if (size, end) == (2, 9):
            keep = 0.65
    assert sorted(tmp_path.iterdir()) == [path]  # one process leaves one file


def test_a_step_counts_once_all_its_pieces_are_written(tmp_path):
    path = tmp_path / "a.vtkhdf"
    on_ranks(3, lambda team: write(team, path, range(3), close=False))
    check(path, [3, 3, 3])
    for rank in range(2):  # the third rank is killed before it writes its piece
        append_frame(log_of(path, rank), replace(frame(rank), time=0.3, pieces=3))
    check(path, [3, 3, 3])
    on_ranks(2, lambda team: write(team, path, range(3, 4), keep=1.0))
    check(path, [3, 3, 3, 2])


def test_an_error_on_one_rank_is_raised_on_all_and_earlier_steps_remain(tmp_path, monkeypatch):
    full = []

    def failing(path: Path, one: Frame) -> int:
        if full and path.stem == "1":
            raise OSError(28, "No space left on device")
        return append_frame(path, one)

    monkeypatch.setattr("vicinal.sim.series.append_frame", failing)
    path = tmp_path / "a.vtkhdf"

    def work(team: Team) -> None:
        frames = PictureWriter(tmp_path, team=team)
        for step in range(3):
            if step == 2:
                full.append(1)
            one = piece(step, team.rank, team.size)
            try:
                frames.append({} if one is None else {"a.vtkhdf": one})
            except OSError:
                frames.rescue()
                raise

    errors = on_ranks(2, work)
    assert all("No space left" in str(error) for error in errors)
    check(path, [2, 2])
    assert not list(tmp_path.rglob("*.log"))  # rank 0 has made the steps visible to other programs
    wrong = on_ranks(2, lambda team: SeriesWriter(path, team=team).append(bad(team.rank)))
    assert all(isinstance(error, InputError) for error in wrong)
    check(path, [2, 2])


def bad(rank: int) -> Frame:
    return Frame(0.0, np.zeros((2, 3)), {}, {"radius": np.ones(1 + rank)})


def test_a_closed_series_takes_no_more_steps(tmp_path):
    series = SeriesWriter(tmp_path / "a.vtkhdf")
    series.append(frame(0))
    series.close()
    with pytest.raises(ValueError, match="the series is closed"):
        series.append(frame(1))


def test_vtk_reads_pieces_as_one_series(tmp_path):
    hdf = pytest.importorskip("vtkmodules.vtkIOHDF", reason="vtk is not installed; pip install vtk to check with it")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    count = LOOSE_PARTS + 2
    path = tmp_path / "a.vtkhdf"
    for closed in (False, True):
        on_ranks(3, lambda team, closed=closed: write(team, path, range(count), close=closed))
        if not closed:
            SeriesWriter(path, keep=np.inf)
        os.chdir("/")
        reader = hdf.vtkHDFReader()
        reader.SetFileName(str(path))
        reader.UpdateInformation()
        assert reader.GetNumberOfSteps() == count
        series = SeriesReader(path)
        for step in range(count):
            reader.SetStep(step)
            reader.Update()
            expected = series[step]
            output = reader.GetOutputDataObject(0)
            pieces = (
                [output.GetPartition(k) for k in range(output.GetNumberOfPartitions())]
                if output.IsA("vtkPartitionedDataSet")
                else [output]
            )
            pieces = [one for one in pieces if one is not None and one.GetNumberOfPoints()]
            for array, values in (
                (lambda one: one.GetPoints().GetData(), expected.points),
                (lambda one: one.GetPointData().GetArray("velocity"), expected.point_data["velocity"]),
            ):
                read = [vtk_to_numpy(array(one)) for one in pieces]
                assert np.array_equal(np.concatenate([np.zeros((0, 3)), *read]), values)
            lines = sum(one.GetLines().GetNumberOfCells() for one in pieces)
            assert lines == (len(expected.cells["Lines"][1]) - 1 if "Lines" in expected.cells else 0)
            force = [vtk_to_numpy(one.GetCellData().GetArray("force")) for one in pieces]
            assert np.array_equal(np.sort(np.concatenate([np.zeros(0), *force])), np.sort(expected.cell_data["force"]))
