"""Small systems run fastest on one thread, especially on a busy machine."""

from dem.conftest import one_thread

__all__ = ["one_thread"]
