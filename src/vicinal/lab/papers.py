"""The five papers whose experiments the lab repeats."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """The publication of an experiment."""

    authors: str
    year: int | None
    title: str

    def __str__(self) -> str:
        """Cite the paper by author and year."""
        return f"{self.authors} {self.year}" if self.year else self.authors


KOCH = Paper(
    "Koch",
    2020,
    "Implementation and Evaluation of Acceleration Structures for Inhomogeneous and Polydisperse Particle Dynamics",
)
SCHORNBAUM = Paper("Schornbaum", 2009, "Hierarchical Hash Grids for Coarse Collision Detection")
PORRO = Paper("Porro", 2021, "Delaunay Triangulations for Moving Points Fixed Radius Near Neighbors")
KURECK = Paper(
    "Kureck", 2016, "Design and Implementation of Massively Parallel Algorithms on GPUs for Particle Simulation"
)
ONDERIK = Paper("Onderik & Ďurikovič", 2008, "Closed Particle Search based on Cell Sorting with Keys")
BEYOND = Paper("Beyond the papers", None, "Measurements that none of the papers reports")

PAPERS = (KOCH, SCHORNBAUM, PORRO, KURECK, ONDERIK, BEYOND)
"""All papers, in the order in which the lab lists their experiments."""
