"""Files: every format is read as written, errors name the malformed file, no file is partly written."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vicinal as vc
from vicinal.io import atomic_file, read_points, write_pairs

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

POINTS_2D = np.array([[0.1, -2.0], [1e-300, 3.5e200], [1 / 3, 7.0]])
POINTS_3D = np.array([[0.1, -2.0, 1 / 3], [1.5, 2.5, 3.5]])


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Points: every format


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_npy_keeps_the_dtype(tmp_path: Path, dtype: str) -> None:
    array = np.arange(12).reshape(4, 3).astype(dtype)
    np.save(tmp_path / "points.npy", array)
    loaded = read_points(tmp_path / "points.npy")
    np.testing.assert_array_equal(loaded.points, array)
    assert loaded.points.dtype == dtype
    assert loaded.box is None


def test_npz_gives_the_named_array_else_points_else_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    np.savez(path, other=POINTS_2D, points=POINTS_3D)
    np.testing.assert_array_equal(read_points(path).points, POINTS_3D)
    np.testing.assert_array_equal(read_points(f"{path}:other").points, POINTS_2D)
    np.savez(tmp_path / "one.npz", x=POINTS_2D)
    np.testing.assert_array_equal(read_points(tmp_path / "one.npz").points, POINTS_2D)


@pytest.mark.parametrize("points", [POINTS_2D, POINTS_3D], ids=["2D", "3D"])
@pytest.mark.parametrize("delimiter", [",", ";", " ", "\t", ", "])
@pytest.mark.parametrize("header", ["none", "plain", "comment"])
def test_text_reads_back_bit_for_bit(tmp_path: Path, points: NDArray[Any], delimiter: str, header: str) -> None:
    names = delimiter.join("xyz"[: points.shape[1]])
    np.savetxt(
        tmp_path / "points.csv",
        points,
        delimiter=delimiter,
        fmt="%.17g",
        header="" if header == "none" else names,
        comments="# " if header == "comment" else "",
    )
    np.testing.assert_array_equal(read_points(tmp_path / "points.csv").points, points)


@pytest.mark.parametrize(
    "text",
    [
        "id,Z,name,x,Y\n1,3,a,1,2\n2,6,b,4,5\n",
        'id;z;name;"x";y\n1;3;"a;b";1;2\n2;6;;4;5\n',
        "# x y z\n1 2 3\n\n  4 5 6  # the last\n",
        "# made by hand\n# id z x y\n7 3 1 2\n8 6 4 5\n",
        "\ufeffx,y,z\r\n1,2,3\r\n4,5,6",
        "1\t2\t3\n4\t5\t6\n",
    ],
    ids=["named columns", "quotes", "comments", "commented names", "byte order mark", "tabs"],
)
def test_text_of_many_kinds_is_understood(tmp_path: Path, text: str) -> None:
    np.testing.assert_array_equal(read_points(written(tmp_path, "points.txt", text)).points, [[1, 2, 3], [4, 5, 6]])


def test_a_header_without_lines_gives_no_points(tmp_path: Path) -> None:
    assert read_points(written(tmp_path, "none.csv", "x,y,z\n")).points.shape == (0, 3)
    assert read_points(written(tmp_path, "none.xyz", "0\n\n")).points.shape == (0, 3)


def test_xyz_reads_the_first_frame(tmp_path: Path) -> None:
    text = "2\nwater\nO 0.1 0.2 0.3\nH 1 2 3\n2\nlater\nO 9 9 9\nH 9 9 9\n"
    loaded = read_points(written(tmp_path, "water.xyz", text))
    np.testing.assert_array_equal(loaded.points, [[0.1, 0.2, 0.3], [1, 2, 3]])
    assert loaded.box is None
    assert loaded.box_fault == ""


def test_extended_xyz_describes_columns_and_box(tmp_path: Path) -> None:
    comment = 'Lattice="5 0 0 0 6 0 0 0 7" Properties=species:S:1:mass:R:1:pos:R:3:id:I:1 pbc="T F T"'
    loaded = read_points(written(tmp_path, "a.extxyz", f"1\n{comment}\nAr 39.9 1 2 3 17\n"))
    np.testing.assert_array_equal(loaded.points, [[1, 2, 3]])
    assert loaded.box == (5.0, None, 7.0)
    assert loaded.box_fault == ""


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ('Lattice="5 0 0 0 6 0 0 0"', "nine finite numbers"),
        ('Lattice="5 0 0 0 6 0 0 0 nan"', "nine finite numbers"),
        ('Lattice="5 0 0 0 6 0 0 0 7" pbc="T T"', "pbc"),
        ('pbc="T T T"', "without a Lattice"),
    ],
)
def test_an_unusable_box_does_not_invalidate_the_points(tmp_path: Path, comment: str, reason: str) -> None:
    loaded = read_points(written(tmp_path, "a.xyz", f"1\n{comment}\nAr 1 2 3\n"))
    np.testing.assert_array_equal(loaded.points, [[1, 2, 3]])
    assert loaded.box is None
    assert reason in loaded.box_fault


@pytest.mark.parametrize(
    ("comment", "box"),
    [
        ('Lattice="5 0 0 0 6 0 0 0 7"', (5.0, 6.0, 7.0)),
        ('Lattice="5 0 0 0 6 0 0 0 7" pbc="F F F"', None),
        ('Lattice="5 1 0 1 6 0 0 0 7" pbc="F F F"', None),
        ('Lattice="5 1 0 1 6 0 0 0 7" pbc="F F T"', (None, None, 7.0)),
        ('pbc="F F F"', None),
    ],
)
def test_only_periodic_edges_make_a_box(tmp_path: Path, comment: str, box: object) -> None:
    loaded = read_points(written(tmp_path, "a.xyz", f"1\n{comment}\nAr 1 2 3\n"))
    assert (loaded.box, loaded.periodic, loaded.box_fault) == (box, None, "")


def test_a_tilted_lattice_is_read_as_edge_vectors(tmp_path: Path) -> None:
    rows = ((5.0, 0.0, 0.0), (0.0, 6.0, 0.0), (1.0, 0.0, 7.0))
    for flags, periodic in (("T T T", None), ("F F T", (False, False, True))):
        comment = f'Lattice="5 0 0 0 6 0 1 0 7" pbc="{flags}"'
        loaded = read_points(written(tmp_path, "a.xyz", f"1\n{comment}\nAr 1 2 3\n"))
        assert (loaded.box, loaded.periodic, loaded.box_fault) == (rows, periodic, "")


# Points: malformed files

MALFORMED = {
    "word among numbers": ("a.csv", "x,y\n1,2\n3,four\n", ["line 3", "'four'", "column 2", "correct"]),
    "word in a long file": ("a.csv", "1 2 3\n" * 70_000 + "1 oops 3\n", ["line 70001", "'oops'"]),
    "after comments": ("a.csv", "# a\n\n1,2\n\n# b\nx,2\n", ["line 6", "'x'"]),
    "decimal comma": ("a.csv", "x;y\n1,5;2,5\n", ["line 2", "'1,5'", "point"]),
    "line too short": ("a.csv", "1,2,3\n4,5\n", ["line 2", "2 columns", "line 1 has, 3"]),
    "line too long": ("a.csv", "1 2\n4 5 6\n", ["line 2", "3 columns", "line 1 has, 2"]),
    "short under a header": ("a.csv", "a,x,y\n0,1,2\n0,1\n", ["line 3", "2 columns", "needs 3"]),
    "empty field": ("a.csv", "x,y\n1,\n", ["line 2", "''", "column 2"]),
    "four columns": ("a.csv", "1,2,3,4\n", ["line 1", "4 columns", "x, y and z"]),
    "one column": ("a.txt", "1\n2\n", ["line 1", "1 column ", "x, y and z"]),
    "header without x": ("a.csv", "lon,lat\n1,2\n", ["line 1", "lon, lat", "x, y"]),
    "x twice": ("a.csv", "x,y,X\n1,2,3\n", ["line 1", "twice"]),
    "empty text": ("a.csv", "", ["no lines with numbers", "header"]),
    "atoms no number": ("a.xyz", "two\n\nH 1 2 3\n", ["line 1", "'two'", "number of atoms"]),
    "empty xyz": ("a.xyz", "", ["line 1", "number of atoms"]),
    "atoms missing": ("a.xyz", "3\n\nH 1 2 3\n", ["line 1", "got 3 for 1 lines"]),
    "empty line in xyz": ("a.xyz", "2\n\nH 1 2 3\n\nH 1 2 3\n", ["line 4", "empty"]),
    "atom too short": ("a.xyz", "2\n\nH 1 2 3\nH 1 2\n", ["line 4", "3 columns"]),
    "atom with a word": ("a.xyz", "1\n\nH 1 2 z\n", ["line 3", "'z'", "column 4"]),
    "no positions": ("a.xyz", "1\nProperties=species:S:1:vel:R:3\nH 1 2 3\n", ["line 2", "pos:R:3"]),
    "npy that is none": ("a.npy", "x,y\n1,2\n", ["a.npy", "numpy.save"]),
    "npz that is none": ("a.npz", "x,y\n1,2\n", ["a.npz", "numpy.savez"]),
    "unknown ending": ("a.pdb", "", ["'.pdb'", ".csv", ".xyz"]),
}


@pytest.mark.parametrize(("name", "text", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_file_is_named_with_line_finding_and_remedy(
    tmp_path: Path, name: str, text: str, words: list[str]
) -> None:
    with pytest.raises(vc.InputError) as caught:
        read_points(written(tmp_path, name, text))
    message = str(caught.value)
    for word in [name, *words]:
        assert word in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["a.csv", "a.xyz"])
def test_files_that_are_not_text_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"1\n\xff\xfe,2\n")
    with pytest.raises(vc.InputError, match="not text"):
        read_points(tmp_path / name)


def test_pickled_and_truncated_arrays_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    with pytest.raises(vc.InputError, match=r"objects\.npy"):
        read_points(tmp_path / "objects.npy")
    np.save(tmp_path / "short.npy", POINTS_3D)
    whole = (tmp_path / "short.npy").read_bytes()
    (tmp_path / "short.npy").write_bytes(whole[:-5])
    with pytest.raises(vc.InputError, match=r"short\.npy"):
        read_points(tmp_path / "short.npy")


def test_a_missing_npz_array_raises_an_error_that_lists_the_others(tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    np.savez(path, first=POINTS_2D, second=POINTS_3D)
    with pytest.raises(vc.InputError, match=r"many\.npz:NAME.*first, second"):
        read_points(path)
    with pytest.raises(vc.InputError, match=r"'third'.*first, second"):
        read_points(f"{path}:third")


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    for name in ("a.npy", "a.npz", "a.npz:x", "a.csv", "a.xyz"):
        with pytest.raises(FileNotFoundError):
            read_points(tmp_path / name)


# Pairs


def arrays_of(dtype: str, *, pairs: int = 40_000) -> tuple[Any, ...]:
    random = np.random.default_rng(3)
    return (
        random.integers(2**31 - 1, size=pairs, dtype=np.int32),
        random.integers(2**31 - 1, size=pairs, dtype=np.int32),
        random.random(pairs).astype(dtype),
        random.normal(size=(pairs, 3)).astype(dtype),
        random.integers(-3, 3, size=(pairs, 3), dtype=np.int32),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_npz_pairs_read_back(tmp_path: Path, dtype: str) -> None:
    arrays = arrays_of(dtype, pairs=100)
    write_pairs(tmp_path / "pairs.npz", arrays, want="ijdDS")
    with np.load(tmp_path / "pairs.npz") as stored:
        assert stored.files == list("ijdDS")
        for letter, array in zip("ijdDS", arrays, strict=True):
            np.testing.assert_array_equal(stored[letter], array)
            assert stored[letter].dtype == array.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_csv_pairs_read_back_bit_for_bit(tmp_path: Path, dtype: str) -> None:
    arrays = arrays_of(dtype)
    write_pairs(tmp_path / "pairs.csv", arrays, want="ijdDS")
    with (tmp_path / "pairs.csv").open() as file:
        assert file.readline() == "i,j,d,Dx,Dy,Dz,Sx,Sy,Sz\n"
        table = np.loadtxt(file, delimiter=",")
    np.testing.assert_array_equal(table[:, 0], arrays[0])
    np.testing.assert_array_equal(table[:, 2].astype(dtype), arrays[2])
    np.testing.assert_array_equal(table[:, 3:6].astype(dtype), arrays[3])
    np.testing.assert_array_equal(table[:, 6:], arrays[4])


def test_csv_of_planar_vectors_has_two_columns_for_them(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.csv", (np.array([[0.5, 0.25]]),), want="D")
    assert (tmp_path / "pairs.csv").read_text() == "Dx,Dy\n0.5,0.25\n"


def test_no_pairs_give_a_header(tmp_path: Path) -> None:
    write_pairs(tmp_path / "none.csv", (np.zeros(0, np.int32), np.zeros(0, np.int32)), want="ij")
    assert (tmp_path / "none.csv").read_text() == "i,j\n"


def test_an_existing_file_is_replaced_only_on_request(tmp_path: Path) -> None:
    path = written(tmp_path, "pairs.csv", "precious")
    arrays = arrays_of("float64", pairs=1)
    with pytest.raises(FileExistsError, match="--force"):
        write_pairs(path, arrays, want="ijdDS")
    assert path.read_text() == "precious"
    write_pairs(path, arrays, want="ijdDS", overwrite=True)
    assert path.read_text().startswith("i,j")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_letter_that_pairs_do_not_have_is_refused(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow, which is not installed")
    path = tmp_path / f"pairs.{ending}"
    with pytest.raises(vc.InputError, match="want must consist of the letters i, j, d, D, S, E, got 'n'"):
        write_pairs(path, (np.zeros(3, np.int64),), want="n")
    assert not path.exists()


def test_an_unknown_ending_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(vc.InputError, match=r"\.npz \.csv \.parquet, got '\.h5'"):
        write_pairs(tmp_path / "pairs.h5", (), want="")
    with pytest.raises(FileNotFoundError, match="create"):
        write_pairs(tmp_path / "missing" / "pairs.npz", (), want="")


# Atomic files


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = written(tmp_path, "data.txt", "old")

    def write_half_and_fail() -> None:
        with atomic_file(path) as file:
            file.write(b"half of the new")
            file.flush()
            raise error

    with pytest.raises(error):
        write_half_and_fail()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.txt"]


def test_the_file_does_not_exist_before_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    with atomic_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="no umask there")
def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "data.txt"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data.txt").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_keeps_pointing_to_the_new_content(tmp_path: Path) -> None:
    path = written(tmp_path, "data.txt", "old")
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    with atomic_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "data.csv").mkdir()
    with pytest.raises(OSError, match="not a regular file"), atomic_file(tmp_path / "data.csv"):
        pass
    with pytest.raises(OSError, match="not a regular file"):
        write_pairs(tmp_path / "data.csv", (), want="", overwrite=True)
