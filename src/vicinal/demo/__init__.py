"""The demonstration behind ``vicinal demo``: two galaxies meet, and every pair of close stars is found.

>>> from vicinal.demo import DemoSettings, simulate, summarise
>>> summary = summarise(list(simulate(DemoSettings(bodies=500, steps=2))))
>>> summary.steps
2
"""

from vicinal.demo.picture import draw
from vicinal.demo.run import DemoFrame, DemoMoment, DemoSettings, Summary, simulate, summarise

__all__ = ["DemoFrame", "DemoMoment", "DemoSettings", "Summary", "draw", "simulate", "summarise"]
