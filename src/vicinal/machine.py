"""What vicinal was built with and runs on."""

from __future__ import annotations

import os
from typing import TypedDict

from vicinal import _core
from vicinal.errors import InputError


class Info(TypedDict):
    """What `info` returns."""

    version: str
    isa: str
    isa_available: list[str]
    threads: int
    openmp: bool
    compiler: str
    emulated: bool


def info() -> Info:
    """Return version, instruction set, threads and build.

    Examples
    --------
    >>> vicinal.info()["isa"] in vicinal.info()["isa_available"]
    True
    """
    from importlib.metadata import version  # late: it takes longer to load than all of vicinal

    return Info(
        version=version("vicinal"),
        isa=_core.get_isa(),
        isa_available=_core.available_isas(),
        threads=_core.get_threads(),
        openmp=_core.openmp(),
        compiler=_core.compiler(),
        emulated=_core.emulated(),
    )


def _from_environment() -> None:
    wanted = os.environ.get("VICINAL_ISA", "").strip()
    if wanted:
        try:
            _core.set_isa(wanted)
        except ValueError as error:
            raise InputError(f"VICINAL_ISA: {error}") from None


_from_environment()
