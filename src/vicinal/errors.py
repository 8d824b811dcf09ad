"""The one error users see for wrong input."""


class InputError(ValueError):
    """An argument cannot be used; the message says which, what was found, and what to do instead."""
