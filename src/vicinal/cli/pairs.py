"""``vicinal pairs``: read points from a file, write their pairs to another."""

import sys
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli.box import OPEN, describe, parse_box
from vicinal.cli.exits import exit_codes
from vicinal.cli.report import show
from vicinal.cli.tiles import Runner, TileJob, refuse, search_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

STANDARD_OUTPUT = "-"
CHUNK = 10_000_000
"""Pairs that are in memory at a time while they are written."""


class DType(StrEnum):
    """Number formats to search in."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


def pairs(
    points: Annotated[
        str,
        typer.Argument(
            metavar="POINTS",
            help="File of points: .npy, .npz (FILE.npz:NAME for a named array),"
            " .csv .tsv .txt .dat, .xyz .extxyz (first frame), .parquet.",
        ),
    ],
    *,
    cutoff: Annotated[float, typer.Option(help="Distance up to which two points form a pair.")],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="File for the pairs, .npz, .csv or .parquet; '-' prints csv."),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            help="Periodic box: one edge for a cube; one per axis as in 10,10,- where '-' is an open axis; lengths and"
            " angles as in 5,5,9,90,90,120; nine numbers (in 2D four) for edge vectors;"
            f" '{OPEN}' for open space. The default is the Lattice of an extended xyz file, else open space."
        ),
    ] = None,
    want: Annotated[
        str, typer.Option(help="What to write: letters out of i j d (distance) D (vector) S (shift) E (edge_index).")
    ] = "ij",
    sort: Annotated[bool, typer.Option("--sort", help="Canonical order: by i, then j.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every pair in both directions.")] = False,
    queries: Annotated[str | None, typer.Option(help="Second file: only pairs (i of this file, j of POINTS).")] = None,
    structure: Annotated[
        str | None,
        typer.Option(help="Search structure, such as HashGrid, instead of the one chosen automatically."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use, instead of all cores.")] = None,
    dtype: Annotated[
        DType | None,
        typer.Option(help="Convert the points first. Text gives float64 by default."),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Write while searching, for pairs that do not fit into memory; not with --sort."),
    ] = False,
    tiles: Annotated[
        bool,
        typer.Option(
            "--tiles",
            help="For points that do not fit into memory (.npy, .parquet): sort them into tiles on disk and search one"
            " after the other. The output is a folder with a file per tile; its name ends in .npz,"
            " .csv or .parquet, as the files in it do. --want n counts neighbours.",
        ),
    ] = False,
    runner: Annotated[
        Runner,
        typer.Option(
            help="How tiles are searched: by a loop; by Dask's scheduler; by the ranks that mpiexec has started."
        ),
    ] = Runner.LOOP,
    per_tile: Annotated[int, typer.Option(min=1, help="Mean number of points per tile.")] = 1_000_000,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output file.")] = False,
) -> None:
    """Find all pairs of points within a cutoff.

    Two points form a pair if their squared distance, computed in the dtype of POINTS, is at most the square of the
    cutoff. The pairs depend neither on the threads nor on the instruction set nor on the order of the input.
    """
    with exit_codes():
        import vicinal as vc
        from vicinal._check import check_want
        from vicinal.io import LETTERS, check_target, read_points, write_chunks, write_csv, write_pairs
        from vicinal.io.pairs import number_of_pairs

        refuse(
            {"--sort": sort, "--full": full, "--queries": queries, "--stream": stream, "--dtype": dtype},
            output=output,
            runner=runner,
            tiles=tiles,
        )
        if tiles:
            job = TileJob(points, cutoff, box, want, structure, output, per_tile, force)
            with nullcontext() if threads is None else vc.threads(threads):
                search_tiles(job, runner)
            return
        if full and queries is not None:
            message = "--full must not be combined with --queries: pairs of a query and a point have one direction"
            raise vc.InputError(message)
        printing = output == STANDARD_OUTPUT
        target = None if output is None or printing else Path(output)
        if stream and (target is None or sort):
            message = (
                "--stream must be combined with --output FILE and without --sort: pairs are written as they are found"
            )
            raise vc.InputError(message)
        if target is not None:
            check_target(target, overwrite=force)
        edges, periodic = None if box is None else parse_box(box), None

        source = read_points(points)
        if box is None:
            if source.box_fault:
                message = (
                    f"{points}, {source.box_fault}; pass --box with lengths, or --box {OPEN} to ignore the Lattice"
                )
                raise vc.InputError(message)
            edges, periodic = source.box, source.periodic
        bodies = _converted(source.points, dtype)
        others = None if queries is None else read_points(queries).points

        with nullcontext() if threads is None else vc.threads(threads):
            begin = perf_counter()
            search: Any = partial(
                vc.pairs,
                cutoff=cutoff,
                box=edges,
                periodic=periodic,
                want=check_want(want, LETTERS),
                half=not full,
                structure=structure,
            )
            if stream and target is not None:
                # An empty result tells the types of the columns, should there be no pairs at all.
                pieces = chain([search(bodies[:0])], search(bodies, queries=others, chunks=CHUNK))
                total = write_chunks(target, pieces, want=want, overwrite=force)
            else:
                arrays = search(bodies, queries=others, sort=sort)
                total = number_of_pairs(arrays, want)
            elapsed = perf_counter() - begin
            used_structure = structure or vc.choose(bodies, cutoff, box=edges, periodic=periodic).structure
            used = vc.get_threads()

        if printing:
            write_csv(sys.stdout.buffer, arrays, want=want)
        elif target is not None and not stream:
            write_pairs(target, arrays, want=want, overwrite=force)

        searching = bodies if others is None else others
        ends = 2 * total if others is None and not full else total
        rows = [
            ("bodies", f"{len(bodies):,} ({bodies.shape[1]}D, {bodies.dtype})"),
            ("queries", "" if others is None else f"{len(others):,}"),
            ("cutoff", f"{cutoff:g}"),
            ("box", describe(edges)),
            ("pairs", f"{total:,}"),
            ("mean neighbours", f"{ends / max(1, len(searching)):.2f}"),
            ("structure", used_structure),
            ("threads", str(used)),
            ("seconds", f"{elapsed:.4f}"),
            ("written to", "" if target is None else str(target)),
        ]
        show("pairs", [(name, value) for name, value in rows if value], to_stderr=printing)


def _converted(array: "NDArray[Any]", dtype: DType | None) -> "NDArray[Any]":
    """Convert real numbers to a dtype; anything else is left for the search to refuse."""
    return array if dtype is None or array.dtype.kind not in "fiu" else array.astype(dtype.value)
