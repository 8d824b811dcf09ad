"""Files in and out: points from npy, npz, csv, xyz and Parquet; pairs to npz, csv and Parquet."""

from vicinal.io.atomic import atomic_file
from vicinal.io.pairs import LETTERS, check_target, write_chunks, write_counts, write_csv, write_pairs
from vicinal.io.points import PointSet, read_points

__all__ = [
    "LETTERS",
    "PointSet",
    "atomic_file",
    "check_target",
    "read_points",
    "write_chunks",
    "write_counts",
    "write_csv",
    "write_pairs",
]
