"""The lab: every experiment of the five papers, run again with one command.

``vicinal lab list``, ``vicinal lab run NAME``, ``vicinal lab report``; or from Python:

>>> from vicinal import lab
>>> "koch-relations" in lab.experiments()
True
"""

from vicinal.lab.claims import Claim, Exponent, Finding, Goal, Order, Ratio, Shown, Value, Verdict
from vicinal.lab.experiment import Case, Experiment, Plan, Scale
from vicinal.lab.experiments import experiments, find
from vicinal.lab.page import judge
from vicinal.lab.papers import Paper
from vicinal.lab.plots import Plot
from vicinal.lab.published import PublishedHashGrid
from vicinal.lab.report import write_report
from vicinal.lab.rows import Pick, Row, Scalar
from vicinal.lab.runner import LabProgress, run
from vicinal.lab.store import StoredRun

__all__ = [
    "Case",
    "Claim",
    "Experiment",
    "Exponent",
    "Finding",
    "Goal",
    "LabProgress",
    "Order",
    "Paper",
    "Pick",
    "Plan",
    "Plot",
    "PublishedHashGrid",
    "Ratio",
    "Row",
    "Scalar",
    "Scale",
    "Shown",
    "StoredRun",
    "Value",
    "Verdict",
    "experiments",
    "find",
    "judge",
    "run",
    "write_report",
]


def __dir__() -> list[str]:
    return __all__
