"""``vicinal pairs``: the same pairs as the library, from file to file."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import vicinal as vc
from vicinal.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

POINTS = np.random.default_rng(5).random((300, 3))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["pairs", *map(str, arguments)])


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.npy"
    np.save(path, POINTS)
    return path


def table(result: Result) -> dict[str, str]:
    """Parse a printed table: two or more spaces separate name and value."""
    assert result.exit_code == 0, result.output
    rows = [line.strip().split("  ", 1) for line in result.stdout.splitlines()]
    return {row[0]: row[1].strip() for row in rows if len(row) == 2}


def test_npz_output_equals_the_result_of_the_library(points: Path, tmp_path: Path) -> None:
    result = run(points, "--cutoff", 0.2, "-o", tmp_path / "pairs.npz", "--want", "ijdDS", "--sort")
    assert result.exit_code == 0, result.output
    expected = vc.pairs(POINTS, cutoff=0.2, want="ijdDS", sort=True)
    with np.load(tmp_path / "pairs.npz") as stored:
        for letter, array in zip("ijdDS", expected, strict=True):
            np.testing.assert_array_equal(stored[letter], array)
    assert table(result)["written to"] == str(tmp_path / "pairs.npz")


def test_csv_in_and_out_change_nothing(points: Path, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "points.csv", POINTS, delimiter=",", fmt="%.17g", header="x,y,z", comments="")
    for source in (points, tmp_path / "points.csv"):
        target = tmp_path / f"{source.suffix[1:]}-pairs.csv"
        assert run(source, "--cutoff", 0.2, "-o", target, "--want", "ijd", "--sort").exit_code == 0
    first, second = ((tmp_path / f"{kind}-pairs.csv").read_text() for kind in ("npy", "csv"))
    assert first == second
    assert first.startswith("i,j,d\n")


def test_without_output_a_summary_is_printed(points: Path) -> None:
    rows = table(run(points, "--cutoff", 0.2, "--threads", 1))
    expected = len(vc.pairs(POINTS, cutoff=0.2)[0])
    assert rows["bodies"] == "300 (3D, float64)"
    assert rows["pairs"] == f"{expected:,}"
    assert rows["mean neighbours"] == f"{2 * expected / 300:.2f}"
    assert rows["structure"] == vc.choose(POINTS, cutoff=0.2).structure
    assert rows["box"] == "open"
    assert rows["threads"] == "1"
    assert float(rows["seconds"]) >= 0
    assert "written to" not in rows


def test_threads_last_for_one_command(points: Path) -> None:
    before = vc.get_threads()
    run(points, "--cutoff", 0.2, "--threads", before + 1)
    assert vc.get_threads() == before


def test_full_gives_both_directions_and_the_same_mean(points: Path) -> None:
    half, full = (table(run(points, "--cutoff", 0.2, *extra)) for extra in ([], ["--full"]))
    assert int(full["pairs"].replace(",", "")) == 2 * int(half["pairs"].replace(",", ""))
    assert full["mean neighbours"] == half["mean neighbours"]


@pytest.mark.parametrize(
    ("text", "box"),
    [("1", 1.0), ("1,1,1", (1.0, 1.0, 1.0)), ("1,1.5,-", (1.0, 1.5, None)), ("-,-,1", (None, None, 1.0))],
)
def test_a_periodic_box_is_passed_on(points: Path, text: str, box: float | tuple[float | None, ...]) -> None:
    rows = table(run(points, "--cutoff", 0.2, "--box", text))
    expected = len(vc.pairs(POINTS, cutoff=0.2, box=box)[0])
    assert expected > len(vc.pairs(POINTS, cutoff=0.2)[0])
    assert rows["pairs"] == f"{expected:,}"
    assert rows["box"] != "open"


def test_the_box_of_an_extended_xyz_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text('2\nLattice="5 0 0 0 5 0 0 0 5" pbc="T T F"\nAr 0.1 0 0\nAr 4.9 0 0\n')
    periodic = table(run(path, "--cutoff", 0.5))
    assert periodic["pairs"] == "1"
    assert periodic["box"] == "5 x 5 x open"
    plain = table(run(path, "--cutoff", 0.5, "--box", "open"))
    assert plain["pairs"] == "0"
    assert plain["box"] == "open"
    assert table(run(path, "--cutoff", 0.5, "--box", "9"))["pairs"] == "0"


def test_open_axes_of_an_extended_xyz_file_are_open(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text('2\nLattice="5 0 0 0 5 0 0 0 5" pbc="F T T"\nAr 0.1 0 0\nAr 4.9 0 0\n')
    assert table(run(path, "--cutoff", 0.5))["pairs"] == "0"


def test_a_tilted_lattice_is_used_unless_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text('2\nLattice="5 0 0 2 5 0 0 0 5"\nAr 1.1 0.1 0\nAr 3 4.9 0\n')
    tilted = table(run(path, "--cutoff", 0.5))
    assert (tilted["pairs"], tilted["box"]) == ("1", "(5, 0, 0) x (2, 5, 0) x (0, 0, 5)")
    for box, pairs in (("open", "0"), ("5", "0"), ("5,0,0,2,5,0,0,0,5", "1"), ("5,5.3851648,5,90,90,68.19859", "1")):
        assert table(run(path, "--cutoff", 0.5, "--box", box))["pairs"] == pairs
    refused = run(path, "--cutoff", 0.5, "--box", "5,5,5,90,90,200")
    assert refused.exit_code == 2
    assert "angle between 0 and 180" in refused.stderr


def test_a_structure_can_be_named(points: Path) -> None:
    rows = table(run(points, "--cutoff", 0.2, "--structure", "Octree"))
    assert rows["structure"] == "Octree"
    assert rows["pairs"] == f"{len(vc.pairs(POINTS, 0.2)[0]):,}"


def test_queries_are_paired_with_points(points: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "sets.npz", queries=POINTS[:10] + 0.01, more=POINTS)
    others = f"{tmp_path / 'sets.npz'}:queries"
    result = run(points, "--cutoff", 0.2, "--queries", others, "--sort", "-o", tmp_path / "pairs.npz")
    i, j = vc.pairs(POINTS, cutoff=0.2, queries=POINTS[:10] + 0.01, sort=True)
    assert table(result)["queries"] == "10"
    assert table(result)["mean neighbours"] == f"{len(i) / 10:.2f}"
    with np.load(tmp_path / "pairs.npz") as stored:
        np.testing.assert_array_equal(stored["i"], i)
        np.testing.assert_array_equal(stored["j"], j)


def test_dtype_decides_the_arithmetic(points: Path, tmp_path: Path) -> None:
    result = run(points, "--cutoff", 0.2, "--dtype", "float32", "--want", "d", "--sort", "-o", tmp_path / "d.npz")
    assert table(result)["bodies"] == "300 (3D, float32)"
    (expected,) = vc.pairs(POINTS.astype(np.float32), cutoff=0.2, want="d", sort=True)
    with np.load(tmp_path / "d.npz") as stored:
        assert stored["d"].dtype == np.float32
        np.testing.assert_array_equal(stored["d"], expected)


def test_a_dash_prints_csv_and_keeps_the_summary_apart(points: Path) -> None:
    result = run(points, "--cutoff", 0.2, "--sort", "-o", "-")
    lines = result.stdout.splitlines()
    i, j = vc.pairs(POINTS, cutoff=0.2, sort=True)
    assert lines[0] == "i,j"
    assert lines[1:] == [f"{a},{b}" for a, b in zip(i, j, strict=True)]
    assert "mean neighbours" in result.stderr


def test_an_existing_file_is_replaced_only_with_force(points: Path, tmp_path: Path) -> None:
    target = tmp_path / "pairs.csv"
    target.write_text("precious")
    refused = run(points, "--cutoff", 0.2, "-o", target)
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
    assert target.read_text() == "precious"
    assert run(points, "--cutoff", 0.2, "-o", target, "--force").exit_code == 0
    assert target.read_text().startswith("i,j\n")
    assert {entry.name for entry in tmp_path.iterdir()} == {"points.npy", "pairs.csv"}


BAD = {
    "cutoff": (["--cutoff", "-1"], 2, "cutoff"),
    "cutoff nan": (["--cutoff", "nan"], 2, "cutoff"),
    "box word": (["--cutoff", "0.1", "--box", "10,ten"], 2, "'ten'"),
    "box length": (["--cutoff", "0.1", "--box", "1,1"], 2, "box"),
    "structure": (["--cutoff", "0.1", "--structure", "Grid"], 2, "HashGrid"),
    "want": (["--cutoff", "0.1", "--want", "ijx"], 2, "want"),
    "counts": (
        ["--cutoff", "0.1", "--want", "n", "-o", "-"],
        2,
        "want must consist of the letters i, j, d, D, S, E, got",
    ),
    "streamed edges": (["--cutoff", "0.1", "--want", "E", "--stream", "-o", "edges.csv"], 2, "with chunks, got 'E'"),
    "output ending": (["--cutoff", "0.1", "-o", "pairs.h5"], 2, "'.h5'"),
    "output folder": (["--cutoff", "0.1", "-o", "missing/pairs.csv"], 1, "missing"),
    "queries missing": (["--cutoff", "0.1", "--queries", "none.npy"], 1, "none.npy: No such file"),
    "full queries": (["--cutoff", "0.1", "--queries", "none.npy", "--full"], 2, "--full"),
}


@pytest.mark.parametrize(("arguments", "code", "word"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_answered_in_one_line(points: Path, arguments: list[str], code: int, word: str) -> None:
    result = run(points, *arguments)
    assert result.exit_code == code
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("error: ")
    assert word in result.stderr


def test_queries_take_the_number_format_of_the_points(points: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "others.npy", POINTS.astype(np.float32))
    for dtype in ("float64", "float32"):
        arguments = ["--cutoff", 0.1, "--queries", tmp_path / "others.npy", "--dtype", dtype]
        expected = vc.pairs(POINTS.astype(dtype), 0.1, queries=POINTS.astype(np.float32))
        assert table(run(points, *arguments))["pairs"] == f"{len(expected[0]):,}"


def test_no_points_have_no_pairs(tmp_path: Path) -> None:
    np.save(tmp_path / "none.npy", np.zeros((0, 2)))
    rows = table(run(tmp_path / "none.npy", "--cutoff", 0.1))
    assert rows["pairs"] == "0"
    assert rows["bodies"] == "0 (2D, float64)"


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_streamed_files_hold_the_same_pairs(
    points: Path, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.setattr("vicinal.cli.pairs.CHUNK", 100)
    for cutoff, full in ((0.2, False), (0.2, True), (1e-9, False)):
        target = tmp_path / f"pairs.{ending}"
        more = ["--full"] if full else []
        result = run(
            points, "--cutoff", cutoff, "--box", 1, "-o", target, "--want", "ijdDS", "--stream", "--force", *more
        )
        columns = read_columns(target)
        expected = vc.pairs(POINTS, cutoff, box=1.0, want="ijdDS", half=not full, sort=True)
        assert table(result)["pairs"] == f"{len(expected[0]):,}"
        turned = columns[0] > columns[1]
        if not full:
            columns[0][turned], columns[1][turned] = columns[1][turned], columns[0][turned]
            columns[3][turned], columns[4][turned] = -columns[3][turned], -columns[4][turned]
        order = np.lexsort((columns[1], columns[0]))
        for column, wanted in zip(columns, expected, strict=True):
            assert np.array_equal(column[order].reshape(wanted.shape), wanted)
        assert sorted(path.name for path in tmp_path.iterdir()) == [f"pairs.{ending}", "points.npy"]


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_edges_are_written_as_the_search_returns_them(points: Path, tmp_path: Path, ending: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet") if ending == "parquet" else None
    target = tmp_path / f"edges.{ending}"
    shown = table(run(points, "--cutoff", 0.2, "--want", "E", "-o", target, "--sort"))
    (expected,) = vc.pairs(POINTS, 0.2, want="E", sort=True)
    if ending == "npz":
        with np.load(target) as file:
            edges = file["E"]
    elif parquet is not None:
        columns = parquet.read_table(target)
        edges = np.stack([columns["Ei"].to_numpy(), columns["Ej"].to_numpy()])
    else:
        assert target.read_text().startswith("Ei,Ej\n")
        edges = np.loadtxt(target, delimiter=",", skiprows=1, dtype=np.int64).T
    assert edges.dtype == np.int64
    assert np.array_equal(edges, expected)
    assert shown["pairs"] == f"{expected.shape[1]:,}"


def read_columns(path: Path) -> list[npt.NDArray[Any]]:
    """The columns i, j, d, D, S of a file of pairs."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return [file[letter] for letter in "ijdDS"]
    if path.suffix == ".csv":
        header, *lines = path.read_text(encoding="utf-8").splitlines()
        assert header == "i,j,d,Dx,Dy,Dz,Sx,Sy,Sz"
        flat = np.array([line.split(",") for line in lines], float).reshape(-1, 9)
    else:
        from pyarrow import parquet

        flat = np.stack([column.to_numpy() for column in parquet.read_table(path).columns], axis=1)
    return [flat[:, 0].astype(int), flat[:, 1].astype(int), flat[:, 2], flat[:, 3:6], flat[:, 6:9].astype(int)]


def test_a_stream_needs_a_file_and_no_order(points: Path, tmp_path: Path) -> None:
    for options in (["--stream"], ["--stream", "--sort", "-o", tmp_path / "p.csv"], ["--stream", "-o", "-"]):
        result = run(points, "--cutoff", 0.2, *options)
        assert result.exit_code != 0
        assert "--stream must be combined with --output FILE and without --sort" in result.output


def tile_columns(folder: Path, ending: str, names: str) -> Any:
    """The columns in the files of a folder, one after the other."""
    found = [np.zeros((0, 2), np.int64)]
    for path in sorted(folder.iterdir()):
        assert path.suffix == ending
        if ending == ".npz":
            with np.load(path) as stored:
                assert sorted(stored.files) == list(names)
                found.append(np.stack([stored[name] for name in names], 1))
        elif ending == ".csv":
            assert path.read_text().splitlines()[0] == ",".join(names)
            found.append(np.loadtxt(path, np.int64, delimiter=",", skiprows=1, ndmin=2).reshape(-1, 2))
        else:
            table = pytest.importorskip("pyarrow.parquet").read_table(path)
            assert table.column_names == list(names)
            found.append(np.stack([table[name].to_numpy() for name in names], 1))
    return np.concatenate(found)


def tile_pairs(folder: Path, ending: str) -> Any:
    """The pairs in the files of a folder, sorted."""
    pairs = np.sort(tile_columns(folder, ending, "ij"), axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]


def test_tiles_give_the_pairs_of_one_search(points: Path, tmp_path: Path) -> None:
    sources = [points]
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table(dict(zip("xyz", POINTS.T.copy(), strict=True))), tmp_path / "points.parquet")
    sources.append(tmp_path / "points.parquet")
    expected = np.stack(vc.pairs(POINTS, 0.2, box=1.0, sort=True), axis=1)
    options = ("--cutoff", 0.2, "--box", 1, "--tiles", "--per-tile", 50)
    runners = ["loop"] if find_spec("dask") is None else ["loop", "dask"]
    for source in sources:
        for runner, ending in ((runner, ending) for runner in runners for ending in (".npz", ".csv", ".parquet")):
            target = tmp_path / f"{source.suffix[1:]}-{runner}{ending}"
            rows = table(run(source, *options, "--runner", runner, "-o", target))
            assert rows["pairs"] == f"{len(expected):,}"
            assert rows["tiles"] == f"6, searched by {runner}"
            assert np.array_equal(tile_pairs(target, ending), expected)
    for ending in (".npz", ".csv", ".parquet"):
        table(run(points, *options, "--want", "n", "-o", tmp_path / f"n{ending}"))
        ids, counts = tile_columns(tmp_path / f"n{ending}", ending, "in").T
        assert np.array_equal(np.sort(ids), np.arange(300))
        assert np.array_equal(counts, vc.count(POINTS, 0.2, box=1.0)[ids])
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_tiles_refuse_what_they_cannot_do_and_leave_nothing(points: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.npz"
    cases: dict[str, tuple[object, ...]] = {
        "--sort must not": (points, "--sort"),
        "--full must not": (points, "--full"),
        "--stream must not": (points, "--stream"),
        "--output must be a folder": (points, "-o", "-"),
        "must end in one of .npz": (points, "-o", tmp_path / "a.h5"),
        "source must be": (tmp_path / "none.npy",),
        "source must be an array, a .npy or a .parquet": (tmp_path / "a.xyz",),
        "want must": (points, "--want", "x"),
    }
    for message, arguments in cases.items():
        output = () if "-o" in arguments else ("-o", target)
        result = run(*arguments, *output, "--cutoff", 0.2, "--tiles")
        assert result.exit_code == 2, (message, result.output)
        assert message in result.stderr
    assert "--runner needs --tiles" in run(points, "--cutoff", 0.2, "--runner", "dask").stderr
    assert [path.name for path in tmp_path.iterdir()] == ["points.npy"]
    target.mkdir()
    assert run(points, "--cutoff", 0.2, "--tiles", "-o", target).exit_code == 1
    assert run(points, "--cutoff", 0.2, "--tiles", "-o", target, "--force").exit_code == 0
    assert len(list(target.iterdir())) == 1
