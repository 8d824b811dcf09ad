"""Optional dependencies: searching needs NumPy only, and extras such as ``vicinal[cli]`` bring the rest."""

from __future__ import annotations

from importlib import import_module

from vicinal.errors import MissingExtraError

# The packages of each extra of pyproject.toml, by import name.
EXTRAS = {
    "cli": ("typer", "rich"),
    "dem": ("h5py", "matplotlib", "tomli_w", "trimesh"),
    "lab": ("matplotlib",),
    "mesh": ("trimesh",),
    "mpi": ("mpi4py",),
    "numba": ("numba",),
    "parquet": ("pyarrow",),
    "scipy": ("scipy",),
}


def need(user: str, extra: str, *modules: str) -> None:
    """Raise an error that names the extra to install if one of its modules is missing.

    Parameters
    ----------
    user
        The feature that needs the modules, as the subject of the message.
    extra
        Name of the extra.
    modules
        Modules to look for; by default all of the extra.

    Examples
    --------
    >>> need("this example", "cli", "sys")
    >>> try:
    ...     need("this example", "cli", "no_such_module")
    ... except ImportError as error:
    ...     print(error)
    this example needs no_such_module; pip install "vicinal[cli]"
    """
    missing = [name for name in modules or EXTRAS[extra] if not _importable(name)]
    if missing:
        names = " and ".join(name.replace("_", "-") if name in EXTRAS[extra] else name for name in missing)
        raise MissingExtraError(f'{user} needs {names}; pip install "vicinal[{extra}]"', name=missing[0])


def _importable(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True
