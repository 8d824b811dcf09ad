"""Small systems run fastest on one thread, above all where the machine is busy."""

from dem.conftest import one_thread

__all__ = ["one_thread"]
