"""Small systems run fastest on one thread, especially on a busy machine. test_state.py uses several."""

import pytest

import vicinal


@pytest.fixture(autouse=True)
def one_thread():
    with vicinal.threads(1):
        yield
