"""The five papers whose experiments the lab runs again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """Where an experiment was published."""

    letter: str
    authors: str
    year: int | None
    title: str

    def __str__(self) -> str:
        """Name the paper as the pages do."""
        return f"{self.letter}: {self.authors} {self.year}" if self.year else self.authors


KOCH = Paper(
    "A",
    "Koch",
    2020,
    "Implementation and Evaluation of Acceleration Structures for Inhomogeneous and Polydisperse Particle Dynamics",
)
SCHORNBAUM = Paper("B", "Schornbaum", 2009, "Hierarchical Hash Grids for Coarse Collision Detection")
PORRO = Paper("C", "Porro", 2021, "Delaunay Triangulations for Moving Points Fixed Radius Near Neighbors")
KURECK = Paper(
    "D", "Kureck", 2016, "Design and Implementation of Massively Parallel Algorithms on GPUs for Particle Simulation"
)
ONDERIK = Paper("E", "Onderik & Ďurikovič", 2008, "Closed Particle Search based on Cell Sorting with Keys")
BEYOND = Paper("", "Beyond the papers", None, "What none of them measured")
