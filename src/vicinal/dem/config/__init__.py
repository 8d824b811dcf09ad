"""The schema of the table ``dem`` of a scene: contact law, materials, bodies, insertion."""

from vicinal.dem.config.section import Dem

__all__ = ["Dem"]
