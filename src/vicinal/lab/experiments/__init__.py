"""The experiments, one file each. A new experiment is a new file that defines `EXPERIMENT`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from vicinal.errors import InputError
from vicinal.lab.experiment import Experiment
from vicinal.lab.papers import PAPERS


@cache
def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of the papers.

    Examples
    --------
    >>> all(name == experiment.name for name, experiment in experiments().items())
    True
    """
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    listed = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    listed.sort(key=lambda experiment: (PAPERS.index(experiment.paper), experiment.name))
    return {experiment.name: experiment for experiment in listed}


def find(name: str) -> Experiment:
    """Return an experiment by name."""
    known = experiments()
    if name not in known:
        raise InputError(f"NAME must be an experiment, got {name!r}; choose from {', '.join(known)}")
    return known[name]
