"""The errors that vicinal raises on purpose."""


class InputError(ValueError):
    """An argument cannot be used; the message names it, the requirement, and the value passed."""


class MissingExtraError(ImportError):
    """A function needs an optional dependency; the message names the extra to install."""
