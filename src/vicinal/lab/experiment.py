"""An experiment: the set-up and the figures of a paper as data, and the functions that repeat the measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias, TypeVar

from vicinal.errors import InputError
from vicinal.lab.claims import Claim
from vicinal.lab.papers import Paper
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Row, Scalar

Chosen = TypeVar("Chosen")


class Scale(StrEnum):
    """The size of a run: about a minute, the published sizes, or larger ones."""

    SMALL = "small"
    PAPER = "paper"
    LARGE = "large"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of a run, as on the command line.

    Parameters
    ----------
    scale
        Sizes and numbers of steps.
    seed
        Seed of every random choice.
    steps
        Steps per case, instead of the number of the scale.
    structures
        Only these, instead of all that the experiment compares.

    Examples
    --------
    >>> plan = Plan(structures=("Octree",))
    >>> plan.of(["LinkedCells", "Octree"]), plan.at(10, 200, 1000)
    (['Octree'], 10)
    """

    scale: Scale = Scale.SMALL
    seed: int = 1
    steps: int | None = None
    structures: tuple[str, ...] | None = None

    def of(self, names: Iterable[str]) -> list[str]:
        """Return the structures that were requested."""
        return [name for name in names if self.structures is None or name in self.structures]

    def at(self, small: Chosen, paper: Chosen, large: Chosen | None = None) -> Chosen:
        """Return the value for the scale; without a value for large, that for paper."""
        if self.scale is Scale.SMALL:
            return small
        return large if self.scale is Scale.LARGE and large is not None else paper

    def turns(self, small: int, paper: int, large: int | None = None) -> int:
        """Return the requested number of steps, or that of the scale."""
        return self.at(small, paper, large) if self.steps is None else self.steps

    @property
    def label(self) -> str:
        """A name for the folder of a run: different plans have different folders."""
        parts = [str(self.scale)]
        if self.seed != 1:
            parts.append(f"seed{self.seed}")
        if self.steps is not None:
            parts.append(f"steps{self.steps}")
        if self.structures is not None:
            parts.append("+".join(name.replace(" ", "-") for name in self.structures))
        return ".".join(parts)

    def as_dict(self) -> dict[str, object]:
        """Return the plan as it is written to the result file."""
        chosen = None if self.structures is None else list(self.structures)
        return {"scale": str(self.scale), "seed": self.seed, "steps": self.steps, "structures": chosen}


@dataclass(frozen=True)
class Case:
    """One piece of an experiment: measured as a whole, kept when a run is interrupted.

    Parameters
    ----------
    values
        Values that identify the case; these columns are added to each of its rows.
    weight
        Expected cost relative to the other cases, from which the remaining time is estimated.
    """

    values: Mapping[str, Scalar]
    weight: float = 1.0

    @property
    def key(self) -> str:
        """The name with which a repeated run recognises finished cases."""
        return ", ".join(f"{name} {value}" for name, value in self.values.items())


Cases: TypeAlias = Callable[[Plan], Sequence[Case]]
Measure: TypeAlias = Callable[[Case, Plan], Iterable[Row]]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment, as data.

    Parameters
    ----------
    name
        As in ``vicinal lab run NAME``.
    title
        One line.
    paper, section
        Where it was published.
    setup
        The set-up, in words.
    measured
        The measured quantities, in words.
    notes
        Details that the paper does not specify, and the decisions made here.
    structures
        All structures that it compares; ``--structures`` selects some of them.
    cases
        The cases at the scale of a plan, in the order in which they are run.
    measure
        Runs a case and returns its rows: flat records of numbers and words. It runs on one thread.
    claims
        The published results, and their comparison with the rows.
    plots
        Pictures of the rows.
    """

    name: str
    title: str
    paper: Paper
    section: str
    setup: str
    measured: str
    structures: tuple[str, ...]
    cases: Cases
    measure: Measure
    notes: str = ""
    claims: tuple[Claim, ...] = ()
    plots: tuple[Plot, ...] = field(default=())

    def check(self, plan: Plan) -> None:
        """Refuse a plan with structures that the experiment does not compare."""
        for name in plan.structures or ():
            if name not in self.structures:
                raise InputError(
                    f"structures must be among those that {self.name} compares, got {name!r}; choose from "
                    + ", ".join(self.structures)
                )
