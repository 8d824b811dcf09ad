"""Pictures and animations of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.errors import InputError
from vicinal.extras import need
from vicinal.sim.folder import BODIES, SURFACES, WALLS
from vicinal.sim.pictures.camera import Camera
from vicinal.sim.pictures.raster import Canvas, shade
from vicinal.sim.series import SeriesReader
from vicinal.sim.vtkhdf import Frame

Array = npt.NDArray[np.float64]

BACKGROUND = (0.965, 0.97, 0.98)
WALL = np.array([0.80, 0.83, 0.88])
EDGE = np.array([0.30, 0.34, 0.42])
BODY = np.array([0.93, 0.52, 0.16])
"""Colour of bodies in a fluid, which is coloured by what is shown of it."""

SEEN_THROUGH = 0.6
"""Opacity of a fluid drawn as one body with others in it."""

INK, MUTED = "#1d2433", "#667085"

FINE = 2
"""Oversampling: every pixel is the mean of a square with this many pixels along each side."""

MELTED = 1.8
"""Radii in the style "surface", in radii of particles: neighbours on the diagonal of a lattice overlap."""

LEAST_NEIGHBOURS = 3
"""Particles with fewer neighbours are drops, which are drawn as spheres."""

SHARP = np.cos(np.radians(25.0))
"""An edge of a mesh is drawn if the cosine between the normals of its triangles is below this."""


@dataclass(frozen=True)
class Look:
    """Options for drawing a run.

    Parameters
    ----------
    azimuth, elevation
        Direction from the scene to the eye, in degrees.
    colour
        The quantity that the colour of a particle shows: ``"speed"``, or the name of one of its data.
    pixels
        Width and height of the picture.
    style
        "spheres", or "surface": particles melt into one smooth body, as a fluid does.
    """

    azimuth: float = -65.0
    elevation: float = 18.0
    colour: str = "speed"
    style: str = "spheres"
    pixels: tuple[int, int] = (1200, 900)


class Painter:
    """Draws the frames of a run, all with the same camera and the same scale of colours.

    Parameters
    ----------
    path
        The series of particles; bodies in a fluid, walls and surfaces are read from files beside it.
    look
        Options for drawing.
    """

    def __init__(self, path: Path, look: Look) -> None:
        self.path, self.look = path, look
        self.particles = SeriesReader(path)
        if not len(self.particles):
            raise InputError(f"{path}: has no frames yet")
        self.bodies, self.walls, self.surfaces = (self._beside(name) for name in (BODIES, WALLS, SURFACES))
        steps = sorted({round(k) for k in np.linspace(0, len(self.particles) - 1, 5)})
        frames = [self.particles[step] for step in steps]
        self.low, self.high = self._bounds(frames)
        self.range = self._range(frames)

    def _beside(self, name: str) -> SeriesReader | None:
        file = self.path.with_name(name)
        return SeriesReader(file) if file != self.path and file.exists() else None

    def _bounds(self, frames: list[Frame]) -> tuple[Array, Array]:
        """Return the bounding box of all particles and of the parts of walls near them."""
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for frame in frames:
            if len(frame.points):
                reach = frame.point_data["radius"][:, None]
                low = np.minimum(low, (frame.points - reach).min(axis=0))
                high = np.maximum(high, (frame.points + reach).max(axis=0))
        walls = self.walls[-1].points if self.walls is not None and len(self.walls) else np.zeros((0, 3))
        if not np.isfinite(low).all():
            low, high = (walls.min(axis=0), walls.max(axis=0)) if len(walls) else (np.zeros(3), np.ones(3))
        elif len(walls):
            margin = 0.35 * float((high - low).max())
            low = np.minimum(low, np.maximum(low - margin, walls.min(axis=0)))
            high = np.maximum(high, np.minimum(high + margin, walls.max(axis=0)))
        return np.asarray(low, float), np.asarray(high, float)

    def _range(self, frames: list[Frame]) -> tuple[float, float]:
        values = np.concatenate([self._values(frame) for frame in frames])
        if not len(values):
            return 0.0, 1.0
        # A few extreme values would leave all others in one colour.
        low, high = (float(value) for value in np.quantile(values, [0.01, 0.99]))
        if self.look.colour == "speed":
            low = 0.0
        return low, high if high > low else low + 1.0

    def _values(self, frame: Frame) -> Array:
        name = self.look.colour
        if name == "speed":
            velocities = np.asarray(frame.point_data["velocity"], float).reshape(-1, 3)
            return np.asarray(np.linalg.norm(velocities, axis=1))
        if name not in frame.point_data:
            raise InputError(f"colour must be speed or one of {', '.join(self.particles.names)}, got {name!r}")
        values = np.asarray(frame.point_data[name], float)
        return values if values.ndim == 1 else np.asarray(np.linalg.norm(values, axis=1))

    def image(self, step: int) -> Array:
        """Return a picture of one frame, shape (height, width, 3)."""
        need("a picture", "dem", "matplotlib")
        from matplotlib import colormaps

        frame = self.particles[step]
        width, height = (FINE * size for size in self.look.pixels)
        camera = Camera(self.look.azimuth, self.look.elevation, self.low, self.high, (width, height))
        canvas = Canvas(width, height, BACKGROUND)
        walls = self._frame(self.walls, frame.time)
        if walls is not None:
            self._walls_behind(canvas, camera, walls)
        low, high = self.range
        shares = np.clip((self._values(frame) - low) / (high - low), 0, 1)
        colours = colormaps["viridis"](0.15 + 0.8 * shares)[:, :3]
        surfaces = self._frame(self.surfaces, frame.time)
        bodies = self._frame(self.bodies, frame.time)
        if bodies is None:
            self._particles(canvas, camera, frame, colours, surfaces)
        else:
            self._particles(canvas, camera, bodies, np.tile(BODY, (len(bodies.points), 1)), surfaces)
            self._particles(canvas, camera, frame, colours, None)
        if walls is not None:
            canvas.lines(camera.project(_edges(walls)), EDGE, 0.55)
        image = canvas.image()
        return np.asarray(image.reshape(height // FINE, FINE, width // FINE, FINE, 3).mean(axis=(1, 3)))

    def _particles(self, canvas: Canvas, camera: Camera, frame: Frame, colours: Array, surfaces: Frame | None) -> None:
        """Draw particles: as triangles those that have surfaces, the others as spheres or as one smooth body."""
        solid = np.zeros(len(colours), bool)
        if surfaces is not None:
            solid = np.isin(frame.point_data["id"], surfaces.cell_data["id"])
            self._solids(canvas, camera, surfaces, dict(zip(frame.point_data["id"].tolist(), colours, strict=True)))
        if solid.all():
            return
        radii = np.asarray(frame.point_data["radius"], float)[~solid] * camera.scale
        seen, paint = camera.project(frame.points[~solid]), colours[~solid]
        # Of a coupled run, only the fluid melts.
        fluid = self.bodies is None or "pressure" in frame.point_data
        melted = self._melted(frame)[~solid] & fluid
        if melted.any():
            opacity = 1.0 if self.bodies is None else SEEN_THROUGH
            canvas.surface(seen[melted], MELTED * radii[melted], paint[melted], opacity)
        canvas.spheres(seen[~melted], radii[~melted], paint[~melted])

    def _melted(self, frame: Frame) -> npt.NDArray[np.bool_]:
        """Return which particles are drawn as one body: those with neighbours, in the style "surface"."""
        if self.look.style != "surface" or not len(frame.points):
            return np.zeros(len(frame.points), bool)
        reach = 3.5 * float(np.median(frame.point_data["radius"]))
        return np.asarray(vc.count(np.asarray(frame.points, float), reach) >= LEAST_NEIGHBOURS)

    def _frame(self, series: SeriesReader | None, time: float) -> Frame | None:
        if series is None or not len(series):
            return None
        return series[int(np.abs(series.times - time).argmin())]

    def _walls_behind(self, canvas: Canvas, camera: Camera, walls: Frame) -> None:
        """Fill the walls behind the particles; walls in front of them would hide the particles."""
        corners = _corners(walls)
        normals = _normals(corners) @ camera.axes.T
        normals[normals[:, 2] < 0] *= -1
        middle = 0.5 * (self.low + self.high)
        behind = np.einsum("ij,ij->i", (middle - corners.mean(axis=1)) @ camera.axes.T, normals) > 0
        facing = normals[:, 2:]
        canvas.triangles(camera.project(corners[behind]), (WALL * (0.86 + 0.14 * facing))[behind], 0.85)

    def _solids(self, canvas: Canvas, camera: Camera, surfaces: Frame, colours: dict[int, Array]) -> None:
        corners = _corners(surfaces)
        normals = _normals(corners) @ camera.axes.T
        front = normals[:, 2] > 0
        base = np.array([colours[body] for body in surfaces.cell_data["id"][front].tolist()]).reshape(-1, 3)
        canvas.triangles(camera.project(corners[front]), shade(base, normals[front]))

    def figure(self, step: int, *, title: str = "") -> Any:
        """Return a figure of one frame with a title, the time and the scale of colours."""
        # Figure instead of pyplot, which needs a window system and has global state.
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap, Normalize
        from matplotlib.figure import Figure

        width, height = self.look.pixels
        dpi = 100
        top = 64
        figure = Figure(figsize=(width / dpi, (height + top) / dpi), dpi=dpi, facecolor=BACKGROUND)
        axes = figure.add_axes((0, 0, 1, height / (height + top)))
        axes.imshow(self.image(step), interpolation="nearest", aspect="auto")
        axes.set_axis_off()
        line = 1 - 0.42 * top / (height + top)
        time = float(self.particles.times[step])
        # Small pictures get a small font, so that title, time and scale do not overlap.
        zoom = min(1.0, width / 1000)
        figure.text(0.025, line, title, color=INK, fontsize=15 * zoom, weight="bold", va="center")
        figure.text(0.6, line, f"t = {time:.4g} s", color=MUTED, fontsize=12 * zoom, va="center", ha="right")
        shown = LinearSegmentedColormap.from_list("shown", colormaps["viridis"](np.linspace(0.15, 0.95, 64)))
        scale = figure.add_axes((0.68, line - 0.004, 0.28, 10 / (height + top)))
        bar = figure.colorbar(ScalarMappable(Normalize(*self.range), shown), cax=scale, orientation="horizontal")
        unit = {"speed": " (m/s)", "radius": " (m)", "pressure": " (Pa)"}.get(self.look.colour, "")
        bar.set_label(self.look.colour + unit, color=MUTED, fontsize=9 * zoom, labelpad=1)
        bar.ax.xaxis.set_label_position("top")
        bar.ax.locator_params(nbins=5)
        bar.ax.tick_params(colors=MUTED, labelsize=8 * zoom, length=2)
        bar.outline.set_visible(False)
        return figure


def draw_picture(painter: Painter, step: int, target: BinaryIO, *, title: str = "", kind: str = "png") -> None:
    """Write a picture of one frame."""
    painter.figure(step, title=title).savefig(target, format=kind, facecolor=BACKGROUND)


def draw_animation(
    painter: Painter, steps: list[int], target: BinaryIO, *, title: str = "", rate: float = 12.0
) -> None:
    """Write several frames as an animated GIF.

    Parameters
    ----------
    painter
        The painter of the run.
    steps
        Numbers of the frames.
    target
        Open binary file to write to.
    title
        Title of the pictures.
    rate
        Pictures per second.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    def shot(step: int) -> Image.Image:
        canvas: Any = FigureCanvasAgg(painter.figure(step, title=title))
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])

    # One palette for all pictures, since parts at rest would flicker otherwise; it is made from several pictures.
    some = {step: shot(step) for step in (steps[0], steps[len(steps) // 2], steps[-1])}
    plain = Image.Dither.NONE
    palette = Image.fromarray(np.concatenate([np.asarray(one) for one in some.values()])).quantize(255, dither=plain)
    images = [(some[step] if step in some else shot(step)).quantize(palette=palette, dither=plain) for step in steps]
    images[0].save(
        target,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=round(1000 / rate),
        loop=0,
        optimize=False,
    )


def _corners(frame: Frame) -> Array:
    """Return the corners of the triangles of a frame, shape (m, 3, 3)."""
    ids, _ = frame.cells.get("Polygons", (np.zeros(0, int), None))
    return np.asarray(frame.points[ids].reshape(-1, 3, 3), float)


def _normals(corners: Array) -> Array:
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _edges(walls: Frame) -> Array:
    """Return the edges of walls to draw: boundaries, and sharp bends of the surface, shape (m, 2, 3)."""
    corners = _corners(walls)
    if not len(corners):
        return np.zeros((0, 2, 3))
    normals = _normals(corners)
    grain = 1e-6 * max(float(np.ptp(corners)), 1e-300)
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    owner = np.tile(np.arange(len(corners)), 3)
    keys = np.round(edges / grain).astype(np.int64)
    swap = np.array([tuple(a) > tuple(b) for a, b in keys])
    keys[swap] = keys[swap][:, ::-1]
    _, group, counts = np.unique(keys.reshape(-1, 6), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    one, other = order[first], order[first + counts - 1]
    # Neighbouring triangles may have opposite orientations, so the sign of the cosine is ignored.
    bend = np.abs(np.einsum("ij,ij->i", normals[owner[one]], normals[owner[other]])) < SHARP
    return np.asarray(edges[one[(counts == 1) | bend]])
