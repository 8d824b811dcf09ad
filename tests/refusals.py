"""What a refusal must say: the argument, the requirement, and what was passed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import vicinal as vc

REMEDY = re.compile(r"\b(must|needs|pass|use|choose|remove|make|leave)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Refusal:
    """A call, and what its message must contain beside a requirement: the argument first, then what was passed."""

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
    assert re.search(rf"\b({refusal.argument})\b", message), f"does not name the argument: {message}"
    assert re.search(refusal.finding, message), f"does not say what was passed: {message}"
    assert REMEDY.search(message), f"does not say what is required: {message}"
