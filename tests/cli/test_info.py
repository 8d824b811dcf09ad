"""``vicinal info``: version, build, threads and instruction set."""

from __future__ import annotations

import json
import platform

import numpy as np
from typer.testing import CliRunner

import vicinal as vc
from vicinal.cli.app import app


def test_json_holds_the_facts_of_library_and_machine() -> None:
    result = CliRunner().invoke(app, ["info", "--json"])
    assert result.exit_code == 0
    facts = json.loads(result.stdout)
    expected = json.loads(json.dumps(vc.info()))
    assert {name: facts[name] for name in expected} == expected
    assert facts["python"] == platform.python_version()
    assert facts["numpy"] == np.__version__
    assert facts["platform"] == platform.platform()


def test_the_table_names_version_instruction_set_threads_and_build() -> None:
    result = CliRunner().invoke(app, ["info"])
    assert result.exit_code == 0
    facts = vc.info()
    for label in ("version", "instruction set", "available", "threads", "OpenMP", "compiler", "NumPy"):
        assert label in result.stdout
    for name in ("version", "isa", "compiler"):
        assert str(facts[name]) in result.stdout


def test_version_is_one_line() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"vicinal {vc.info()['version']}\n"
