"""``vicinal pairs``: from a file of points to a file of pairs."""

import sys
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli.box import FROM_FILE, box_of_file, describe, parse_box
from vicinal.cli.exits import exit_codes
from vicinal.cli.report import show

if TYPE_CHECKING:
    from numpy.typing import NDArray

STANDARD_OUTPUT = "-"


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
            " .csv .tsv .txt .dat, .xyz .extxyz (first frame).",
        ),
    ],
    *,
    cutoff: Annotated[float, typer.Option(help="Distance up to which two points form a pair.")],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="File for the pairs, .npz or .csv; '-' prints csv."),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            help="Periodic box: one edge for a cube, or one per axis as in 10,10,- where '-' is an open axis;"
            " 'file' takes the Lattice of an extended xyz file. Space is open without it."
        ),
    ] = None,
    want: Annotated[
        str, typer.Option(help="What to write: letters out of i j d (distance) D (vector) S (shift).")
    ] = "ij",
    sort: Annotated[bool, typer.Option("--sort", help="Canonical order: by i, then j.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every pair in both directions.")] = False,
    queries: Annotated[
        str | None, typer.Option(help="Second file, for pairs (i of this file, j of POINTS) only.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use, instead of all cores.")] = None,
    dtype: Annotated[
        DType | None,
        typer.Option(help="Convert the points first; text gives float64 without it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output file.")] = False,
) -> None:
    """Find all pairs of points within a cutoff.

    Two points form a pair if their squared distance, computed in the number format of the points, is at most
    the square of the cutoff. The pairs depend on neither threads nor instruction set nor order of the input.
    """
    with exit_codes():
        import vicinal as vc
        from vicinal.io import check_target, read_points, write_csv, write_pairs

        if full and queries is not None:
            message = "--full: pairs between two sets have one direction; leave out --full or --queries"
            raise vc.InputError(message)
        printing = output == STANDARD_OUTPUT
        target = None if output is None or printing else Path(output)
        if target is not None:
            check_target(target, overwrite=force)
        edges = None if box is None or box == FROM_FILE else parse_box(box)

        found = read_points(points)
        if box == FROM_FILE:
            edges = box_of_file(points, found)
        elif box is None and found.box is not None:
            typer.echo(f"note: space is taken as open; --box {FROM_FILE} uses the box of {points}", err=True)
        bodies = _converted(found.points, dtype)
        others = None if queries is None else _converted(read_points(queries).points, dtype)
        _check_same_format(bodies, others)

        with nullcontext() if threads is None else vc.threads(threads):
            begin = perf_counter()
            arrays = vc.pairs(bodies, cutoff=cutoff, box=edges, queries=others, want=want, half=not full, sort=sort)
            elapsed = perf_counter() - begin
            structure = vc.choose(bodies, cutoff=cutoff, box=edges).structure
            used = vc.get_threads()

        if printing:
            write_csv(sys.stdout.buffer, arrays, want=want)
        elif target is not None:
            write_pairs(target, arrays, want=want, overwrite=force)

        total = len(arrays[0])
        searching = bodies if others is None else others
        ends = 2 * total if others is None and not full else total
        rows = [
            ("bodies", f"{len(bodies):,} ({bodies.shape[1]}D, {bodies.dtype})"),
            ("queries", "" if others is None else f"{len(others):,}"),
            ("cutoff", f"{cutoff:g}"),
            ("box", describe(edges)),
            ("pairs", f"{total:,}"),
            ("mean neighbours", f"{ends / max(1, len(searching)):.2f}"),
            ("structure", structure),
            ("threads", str(used)),
            ("seconds", f"{elapsed:.4f}"),
            ("written to", "" if target is None else str(target)),
        ]
        show("pairs", [(name, value) for name, value in rows if value], to_stderr=printing)


def _converted(array: "NDArray[Any]", dtype: DType | None) -> "NDArray[Any]":
    """Convert real numbers to the format asked for; anything else is left for the search to refuse."""
    return array if dtype is None or array.dtype.kind not in "fiu" else array.astype(dtype.value)


def _check_same_format(bodies: "NDArray[Any]", others: "NDArray[Any] | None") -> None:
    """Two sets must agree; the search says so too, but cannot name the option that helps."""
    from vicinal import InputError

    if others is not None and (bodies.dtype == "float32") != (others.dtype == "float32"):
        message = f"--queries: found {others.dtype}, but POINTS has {bodies.dtype}; add --dtype float64"
        raise InputError(message)
