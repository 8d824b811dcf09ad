"""The picture of the demonstration: stars coloured by their number of neighbours, at several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.extras import need

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from numpy.typing import NDArray

    from vicinal.demo.run import DemoMoment

SIZE = (16.0, 10.0)
"""Width and height of the picture in inches."""

DPI = 150

BACKGROUND = "#05060d"
TEXT = "#dfe5f5"
MUTED = "#8b93ad"

COLOURS = ("#24409c", "#4f74e8", "#a08ef0", "#f08fb0", "#ffb26b", "#ffe2a0", "#fffaf0")
"""From lonely to crowded: the blue of loose outskirts, the gold of crowded centres."""

FAINTEST = 0.72
"""Brightness of a pixel with a single star; without it the tails would drown in the background."""

GLOW = 4
"""Reach of the glow around bright stars, in pixels."""

MAX_PIXEL = 5
"""Largest dot that stands for a star, in pixels of the picture."""

LARGE_VIEW = (3.8, 1.72)
SMALL_VIEW = (2.9, 1.8)
"""The part of the orbital plane that a panel shows at least: half its width and half its height."""


def draw(
    frames: Sequence[DemoMoment],
    *,
    title: str,
    subtitle: str,
    target: BinaryIO,
    kind: str = "png",
    dpi: int = DPI,
) -> None:
    """Draw the last frame large and the earlier ones in a strip below it.

    Parameters
    ----------
    frames
        Moments in order of time, at least one.
    title, subtitle
        Two lines over the picture.
    target
        Open binary file to write to.
    kind
        Picture format, as Matplotlib names it.
    dpi
        Pixels per inch; the picture is 16 by 10 inches.
    """
    # Figure instead of pyplot: no window system is touched and no global state is left behind.
    need("a picture", "lab", "matplotlib")
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.figure import Figure

    colours = LinearSegmentedColormap.from_list("crowding", COLOURS)
    most = max((int(frame.counts.max(initial=0)) for frame in frames), default=0)
    norm = LogNorm(1, max(10, most))

    figure = Figure(figsize=SIZE, dpi=dpi, facecolor=BACKGROUND)
    figure.text(0.025, 0.955, title, color=TEXT, fontsize=23, weight="bold", va="center")
    figure.text(0.025, 0.917, subtitle, color=MUTED, fontsize=13.5, va="center")

    strip = list(frames[:-1])
    bottom = 0.235 if strip else 0.02
    large = figure.add_axes((0.0, bottom, 1.0, 0.89 - bottom))
    _panel(large, frames[-1], colours=colours, norm=norm, least=LARGE_VIEW, label_size=14, dpi=dpi)
    for place, frame in enumerate(strip):
        width = (1.0 - 0.05 - 0.012 * (len(strip) - 1)) / len(strip)
        axes = figure.add_axes((0.025 + place * (width + 0.012), 0.025, width, 0.2))
        _panel(axes, frame, colours=colours, norm=norm, least=SMALL_VIEW, label_size=11, dpi=dpi)
        axes.patch.set_edgecolor("#20263c")
        axes.patch.set_linewidth(1.0)

    scale = figure.add_axes((0.745, 0.945, 0.23, 0.016))
    bar = figure.colorbar(ScalarMappable(norm, colours), cax=scale, orientation="horizontal")
    bar.set_label("neighbours of a star", color=MUTED, fontsize=11.5, labelpad=2)
    bar.ax.xaxis.set_major_formatter("{x:.0f}")
    bar.ax.tick_params(colors=MUTED, labelsize=10, length=3, which="both")
    bar.outline.set_visible(False)
    figure.savefig(target, format=kind, facecolor=BACKGROUND)


def _panel(
    axes: Axes,
    frame: DemoMoment,
    *,
    colours: Colormap,
    norm: Normalize,
    least: tuple[float, float],
    label_size: int,
    dpi: int,
) -> None:
    """Show one frame in its axes, at equal scale along both axes for any shape of the panel."""
    place = axes.get_position()
    width, height = place.width * SIZE[0], place.height * SIZE[1]
    # Fewer stars get larger pixels, or they would be lost in the dark.
    coarse = int(np.clip(round((300_000 / max(1, len(frame.points))) ** 0.5), 1, MAX_PIXEL))
    pixels = (round(width * dpi / coarse), round(height * dpi / coarse))
    unit = max(least[0] / width, least[1] / height)
    view = (unit * width, unit * height)
    axes.imshow(
        light(frame.points, frame.counts, view=view, pixels=pixels, colours=colours, norm=norm),
        origin="lower",
        extent=(-view[0], view[0], -view[1], view[1]),
        interpolation="nearest" if coarse == 1 else "bicubic",
        aspect="auto",
    )
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)
    label = f"t = {frame.time:.1f}"
    axes.text(0.025, 0.05, label, transform=axes.transAxes, color=MUTED, fontsize=label_size)


def light(
    points: NDArray[Any],
    counts: NDArray[Any],
    *,
    view: tuple[float, float],
    pixels: tuple[int, int],
    colours: Colormap,
    norm: Normalize,
) -> NDArray[np.float64]:
    """Collect the stars into pixels: colour from their mean neighbour count, brightness from their number.

    Parameters
    ----------
    points, counts
        Positions, seen along the third axis if there is one, and neighbours of each star.
    view
        Half the width and half the height shown.
    pixels
        Width and height of the result.
    colours, norm
        Colour map and scale of the neighbour counts.

    Returns
    -------
    array
        RGB image, shape (height, width, 3), lowest row first.
    """
    width, height = pixels
    column = np.floor((points[:, 0] / view[0] + 1.0) * (0.5 * width)).astype(np.int64)
    row = np.floor((points[:, 1] / view[1] + 1.0) * (0.5 * height)).astype(np.int64)
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    pixel = row[inside] * width + column[inside]
    stars = np.bincount(pixel, minlength=width * height).reshape(height, width).astype(float)
    shade = np.asarray(norm(np.maximum(counts[inside], 1)), dtype=float)
    shades = np.bincount(pixel, weights=shade, minlength=width * height).reshape(height, width)

    hue = np.asarray(colours(shades / np.maximum(stars, 1.0)))[..., :3]
    lit = stars > 0
    brightness = np.where(lit, FAINTEST + (1.0 - FAINTEST) * (1.0 - np.exp(-0.5 * (stars - 1.0))), 0.0)
    image = hue * brightness[..., None]
    image = np.maximum(image, _glow(image))
    base = np.array([int(BACKGROUND[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.asarray(np.clip(base + (1.0 - base) * image, 0.0, 1.0), dtype=np.float64)


def _glow(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blur an image softly: twice a running mean along both axes, close to a Gaussian."""
    soft = image
    for _ in range(2):
        # A running mean is a difference of running sums; the swap makes the next pass work on the other axis.
        for _axis in (0, 1):
            total = np.cumsum(np.pad(soft, [(GLOW + 1, GLOW), (0, 0), (0, 0)]), axis=0)
            mean = (total[2 * GLOW + 1 :] - total[: -2 * GLOW - 1]) / (2 * GLOW + 1)
            soft = np.swapaxes(mean, 0, 1)
    return soft
