"""The demonstration behind ``vicinal demo``: two galaxies meet, and every pair of close stars is found.

>>> from vicinal.demo import Settings, simulate, summarise
>>> summary = summarise(list(simulate(Settings(bodies=500, steps=2))))
>>> summary.steps
2
"""

from vicinal.demo.picture import draw
from vicinal.demo.run import Frame, Settings, Step, Summary, simulate, summarise

__all__ = ["Frame", "Settings", "Step", "Summary", "draw", "simulate", "summarise"]
