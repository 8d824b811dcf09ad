"""The error raised for wrong input."""


class InputError(ValueError):
    """An argument cannot be used; the message names it, the requirement, and what was passed."""
