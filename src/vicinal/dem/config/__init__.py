"""Everything that can be said about a simulation: one schema for TOML files and for Python.

`Scene` is the whole file; the other classes are its tables. In Python, a table may be given as the class or as a plain
dictionary with the same keys. SI units throughout; angles in radians.
"""

from vicinal.dem.config.scene import Output, Periodic, Scene, Solver, load, read

__all__ = ["Output", "Periodic", "Scene", "Solver", "load", "read"]
