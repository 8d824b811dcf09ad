"""Pictures and animations of runs, drawn without a graphics card or a window."""

from vicinal.sim.pictures.draw import Look, Painter, draw_animation, draw_picture

__all__ = ["Look", "Painter", "draw_animation", "draw_picture"]
