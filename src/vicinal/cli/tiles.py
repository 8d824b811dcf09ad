"""``vicinal pairs --tiles``: points that do not fit into memory, searched tile by tile."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from vicinal.cli.box import describe, parse_box
from vicinal.cli.exits import refuse_ranks
from vicinal.cli.report import show
from vicinal.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

    from vicinal.tiles import Tiles, TileSearch

COUNTS = "n"


class Runner(StrEnum):
    """What runs the tasks of tiles."""

    LOOP = "loop"
    DASK = "dask"
    MPI = "mpi"


@dataclass(frozen=True)
class TileJob:
    """The options of ``vicinal pairs --tiles``."""

    source: str
    cutoff: float
    box_text: str | None
    want: str
    structure: str | None
    output: str | None
    per_tile: int
    overwrite: bool

    @property
    def box(self) -> Any:
        """The period along each axis."""
        return None if self.box_text is None else parse_box(self.box_text)

    @property
    def target(self) -> Path | None:
        """The folder for results, or None."""
        return None if self.output is None else Path(self.output)


def refuse(given: Mapping[str, object], *, output: str | None, runner: Runner, tiles: bool) -> None:
    """Refuse options that need tiles, those `given` that exclude them, and ranks without their runner."""
    if runner is not Runner.MPI:
        refuse_ranks("pairs", "add --tiles --runner mpi, or leave out mpiexec")
    if not tiles and runner is not Runner.LOOP:
        raise InputError(f"--runner needs --tiles, got {runner.value} alone; without tiles there is one search")
    if not tiles:
        return
    for name, value in given.items():
        if value:
            raise InputError(f"{name} must not be combined with --tiles, got both; leave out one of them")
    if output == "-":
        raise InputError("--output must be a folder with --tiles, got '-'; name a folder such as pairs.parquet")


@dataclass(frozen=True)
class WriteTile:
    """Runs one task and writes its result to a file; calling it returns the number of pairs. It can be pickled."""

    task: TileSearch
    path: Path | None

    def __call__(self) -> int:
        """Search and write."""
        from vicinal.io import write_counts, write_pairs

        result = self.task()
        counting = self.task.want == COUNTS
        if self.path is not None:
            if counting:
                write_counts(self.path, result.ids, *result.columns)
            else:
                write_pairs(self.path, result.columns, want=self.task.want)
        # Of counted neighbours, every pair is counted at both of its points.
        return int(result.columns[0].sum(dtype="int64")) if counting else len(result.columns[0])


def search_tiles(job: TileJob, runner: Runner) -> None:
    """Sort the points into tiles, run the tasks, and show a summary."""
    begin = perf_counter()
    if runner is Runner.MPI:
        _on_ranks(job, begin)
        return
    run = _run_in_loop if runner is Runner.LOOP else _run_by_dask
    with _target_folder(job) as folder, _tiles(job) as tiles:
        total = sum(run(_tasks(job, tiles, folder)))
    _show(job, tiles, total, runner.value, perf_counter() - begin)


def _on_ranks(job: TileJob, begin: float) -> None:
    """Rank 0 sorts the points; every rank runs every n-th task."""
    from vicinal.distributed.launcher import load_mpi

    world = load_mpi("--runner mpi").COMM_WORLD
    from vicinal.distributed import Domain
    from vicinal.distributed.messages import together

    comm = Domain(world).comm
    with _first_alone(comm, lambda: _target_folder(job)) as folder, _first_alone(comm, lambda: _tiles(job)) as tiles:
        tasks = _tasks(job, tiles, folder)[comm.rank :: comm.size]
        total = comm.allreduce(together(comm, lambda: _told(lambda: sum(_run_in_loop(tasks)))))
    if comm.rank == 0:
        _show(job, tiles, total, f"{comm.size} rank{'s' if comm.size > 1 else ''}", perf_counter() - begin)


def _run_in_loop(tasks: Sequence[WriteTile]) -> Iterator[int]:
    return (task() for task in tasks)


def _run_by_dask(tasks: Sequence[WriteTile]) -> Sequence[int]:
    try:
        dask: Any = import_module("dask")
    except ModuleNotFoundError as error:
        raise MissingExtraError("--runner dask needs dask; pip install dask", name="dask") from error
    results: Sequence[int] = dask.compute(*[dask.delayed(task)() for task in tasks])
    return results


def _tasks(job: TileJob, tiles: Tiles, folder: Path | None) -> list[WriteTile]:
    made = tiles.tasks(job.cutoff, want=job.want, structure=job.structure)
    ending = "" if folder is None or job.target is None else job.target.suffix.lower()
    return [WriteTile(task, None if folder is None else folder / f"{task.tile:06d}{ending}") for task in made]


@contextmanager
def _tiles(job: TileJob) -> Iterator[Tiles]:
    """Sort the points into tiles that exist for the duration of a block, on the disk of the results."""
    from vicinal import tiles

    with TemporaryDirectory(dir=None if job.target is None else job.target.parent, prefix=".tiles-") as name:
        yield tiles.write(job.source, Path(name) / "tiles", box=job.box, points_per_tile=job.per_tile)


@contextmanager
def _target_folder(job: TileJob) -> Iterator[Path | None]:
    """Give a folder for the results that takes its name at the end of the block, and is removed if that fails."""
    from vicinal.io.pairs import ENDINGS

    target = job.target
    if target is None:
        yield None
        return
    if target.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{target}: the name of the folder must end in one of {' '.join(ENDINGS)}, which its files have too, "
            f"got {target.suffix!r}"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: folder {target.parent} does not exist; create it first")
    if target.exists() and not (target.is_dir() and job.overwrite):
        raise FileExistsError(f"{target}: exists already; choose another name, or pass --force if it is a folder")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.mkdir()
    try:
        yield part
        if target.exists():  # old results are removed only now that the new ones are complete
            shutil.rmtree(target)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


@contextmanager
def _first_alone(comm: Intracomm, make: Callable[[], Any]) -> Iterator[Any]:
    """Enter a block on rank 0 only; all ranks get what it gives, and it ends when all are done."""
    from vicinal.distributed.messages import together

    block = make() if comm.rank == 0 else None
    given = comm.bcast(together(comm, lambda: None if block is None else _told(block.__enter__)))
    try:
        yield given
    except BaseException as error:
        if block is not None:
            block.__exit__(type(error), error, error.__traceback__)
        raise
    comm.Barrier()
    together(comm, lambda: None if block is None else _told(lambda: block.__exit__(None, None, None)))


def _told(call: Callable[[], Any]) -> Any:
    """Call a function; errors of files become those that all ranks are told of."""
    try:
        return call()
    except OSError as error:
        raise InputError(str(error)) from error


def _show(job: TileJob, tiles: Tiles, total: int, runner: str, seconds: float) -> None:
    counting = job.want == COUNTS
    pairs = total // 2 if counting else total
    rows = [
        ("bodies", f"{len(tiles):,} ({tiles.dim}D, {tiles.dtype})"),
        ("tiles", f"{len(tiles.sizes):,}, searched by {runner}"),
        ("cutoff", f"{job.cutoff:g}"),
        ("box", describe(job.box)),
        ("pairs", f"{pairs:,}"),
        ("mean neighbours", f"{2 * pairs / max(1, len(tiles)):.2f}"),
        ("seconds", f"{seconds:.4f}"),
        ("written to", "" if job.target is None else str(job.target)),
    ]
    show("pairs", [(name, value) for name, value in rows if value])
