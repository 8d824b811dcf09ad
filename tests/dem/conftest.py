"""Small systems are quicker on one thread, above all where the machine is busy. test_state.py tries several."""

import pytest

import vicinal


@pytest.fixture(autouse=True)
def one_thread():
    with vicinal.threads(1):
        yield
