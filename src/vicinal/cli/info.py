"""``vicinal info``: version, build, and the threads and instruction set in use."""

import json as jsonlib
import platform
from typing import Annotated, Any

import typer

from vicinal.cli.exits import exit_codes
from vicinal.cli.report import show

LABELS = {"isa": "instruction set", "isa_available": "available", "openmp": "OpenMP", "numpy": "NumPy"}
"""Labels of keys that are abbreviations."""


def info(
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Show version, instruction set, threads and build."""
    with exit_codes():
        facts = collect()
        if json:
            typer.echo(jsonlib.dumps(facts, indent=2))
        else:
            rows = [(LABELS.get(name, name.replace("_", " ")), _text(value)) for name, value in facts.items()]
            show("vicinal", rows)


def collect() -> dict[str, Any]:
    """Return the facts about the core, and the versions of Python and NumPy.

    Examples
    --------
    >>> sorted({"version", "isa", "python", "numpy"} - set(collect()))
    []
    """
    import numpy as np

    import vicinal as vc

    return {
        **vc.info(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(entry) for entry in value)
    return str(value)
