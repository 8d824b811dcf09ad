"""The same search on any number of MPI ranks; needs the extra ``vicinal[mpi]``.

`Domain` divides space among the ranks of an mpi4py communicator. `Domain.scatter` sends every body to the rank that
owns its part of space, and the methods of `LocalBodies` search there. The union of the pairs of all ranks is, bit for
bit, the set of pairs that one process finds.
"""

from vicinal.distributed.bodies import LocalBodies
from vicinal.distributed.domain import Domain
from vicinal.distributed.halo import Halo

__all__ = ["Domain", "Halo", "LocalBodies"]


def __dir__() -> list[str]:
    return __all__
