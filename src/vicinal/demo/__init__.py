"""The demonstration behind ``vicinal demo``: two galaxies meet, and every pair of close stars is found.

>>> from vicinal.demo import DemoSettings, simulate, summarise
>>> summary = summarise(list(simulate(DemoSettings(bodies=500, steps=2))))
>>> summary.steps
2
"""

from vicinal.demo.picture import draw
from vicinal.demo.run import DemoFrame, DemoSettings, Frame, Summary, simulate, summarise

__all__ = ["DemoFrame", "DemoSettings", "Frame", "Summary", "draw", "simulate", "summarise"]
