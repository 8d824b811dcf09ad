"""The experiments, one small file each: a new one is a new file with an `EXPERIMENT` in it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from vicinal.errors import InputError
from vicinal.lab.experiment import Experiment


@cache
def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of the papers.

    Examples
    --------
    >>> all(name == experiment.name for name, experiment in experiments().items())
    True
    """
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    found.sort(key=lambda experiment: (experiment.paper.letter or "~", experiment.name))
    return {experiment.name: experiment for experiment in found}


def find(name: str) -> Experiment:
    """Return an experiment by name."""
    known = experiments()
    if name not in known:
        raise InputError(f"NAME: {name!r} is not an experiment; choose from {', '.join(known)}")
    return known[name]
