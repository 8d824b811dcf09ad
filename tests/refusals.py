"""The parts of an error message: the argument, the requirement, and the value passed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import vicinal as vc

REMEDY = re.compile(r"\b(must|needs|pass|use|choose|remove|make|leave)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Refusal:
    """A call, and the parts of its message besides the requirement: the argument, and the value passed."""

    name: str
    call: Callable[[], object]
    argument: str
    finding: str

    def __str__(self) -> str:
        return self.name


def check_refusal(refusal: Refusal) -> None:
    with pytest.raises(vc.InputError) as caught:
        refusal.call()
    message = str(caught.value)
    assert re.search(rf"\b({refusal.argument})\b", message), f"the argument is not named: {message}"
    assert re.search(refusal.finding, message), f"the value passed is not named: {message}"
    assert REMEDY.search(message), f"the requirement is not stated: {message}"
