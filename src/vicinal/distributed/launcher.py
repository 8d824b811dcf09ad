"""What the launcher of MPI ranks has told this process."""

from __future__ import annotations

import os


def started_ranks() -> int:
    """Return how many ranks the launcher has started, 1 without a launcher."""
    names = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
    return max([1, *(int(text) for name in names if (text := os.environ.get(name, "")).isdigit())])
