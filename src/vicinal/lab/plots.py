"""Plots of rows, as data: columns of the axes, rows of each line, published figures."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from vicinal.extras import need
from vicinal.lab.rows import Row, Scalar, matching

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, GRID, PAPER = "#1b1d22", "#6b7078", "#c9ccd3", "#fefefd"
"""Colours that a page replaces by its own, light or dark."""

COLOURS = ("#2f7ed8", "#e0663e", "#2fa084", "#a667d6", "#c8951a", "#d6518f", "#5f8a2e", "#7b8794", "#3fb2c9", "#9a6a4a")
"""Readable on a white and on a dark background."""

MARKS = "osD^vPX*<>"
WIDTH, HEIGHT = 7.2, 4.3


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A picture of some columns.

    Parameters
    ----------
    name
        Name of the file, without ending.
    title, xlabel, ylabel
        Title and labels, with units.
    x, y
        Columns.
    series
        Column whose values distinguish lines (or groups of bars).
    where
        Which rows.
    kind
        "line" against numbers, "bar" against words.
    log
        Axes that are logarithmic: "xy", "x", "y" or "".
    published
        The published figures: a line of (x, y) for each value of `series`, drawn dashed.
    draw
        Function that draws something else on the axes, given the rows.
    height
        Height in inches.
    """

    name: str
    title: str
    x: str = ""
    y: str = ""
    series: str = "structure"
    xlabel: str = ""
    ylabel: str = ""
    where: Mapping[str, Scalar] = field(default_factory=dict)
    kind: Literal["line", "bar"] = "line"
    log: Literal["xy", "x", "y", ""] = "xy"
    published: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    draw: Callable[[Axes, Sequence[Row]], None] | None = None
    height: float = HEIGHT


def render(plot: Plot, rows: Sequence[Row], salt: str) -> str | None:
    """Draw a plot as SVG, or return None if it has no rows.

    Parameters
    ----------
    plot
        The plot to draw.
    rows
        All rows of a run.
    salt
        Makes the ids inside the picture differ from those of other pictures on a page.
    """
    need("a plot", "lab", "matplotlib")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    chosen = matching(rows, plot.where)
    if plot.draw is None:
        chosen = [row for row in chosen if plot.x in row and plot.y in row]
    if not chosen:
        return None
    style: dict[str, Any] = {
        "svg.fonttype": "none",  # text stays text: sharp, searchable, in the colours of the page
        "svg.hashsalt": salt,
        "font.size": 10.5,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "axes.facecolor": PAPER,
        "figure.facecolor": PAPER,
        "legend.facecolor": PAPER,
        "legend.edgecolor": GRID,
        "legend.framealpha": 0.85,
        "grid.color": GRID,
    }
    with mpl.rc_context(style):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH, plot.height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(plot.title, loc="left", fontsize=11.5, fontweight="bold")
        if plot.draw is not None:
            plot.draw(axes, chosen)
        else:
            _frame(axes, plot)
            (_bars if plot.kind == "bar" else _lines)(axes, plot, chosen)
        target = io.StringIO()
        figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    return target.getvalue()


def _frame(axes: Axes, plot: Plot) -> None:
    axes.set_xlabel(plot.xlabel or plot.x)
    axes.set_ylabel(plot.ylabel or plot.y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, which="major", linewidth=0.7)
    axes.set_axisbelow(True)
    if "x" in plot.log and plot.kind == "line":
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("log")


def values_of(rows: Sequence[Row], column: str) -> list[Scalar]:
    """Return the values of a column in the order in which they first appear."""
    return list(dict.fromkeys(row[column] for row in rows if column in row))


def _lines(axes: Axes, plot: Plot, rows: Sequence[Row]) -> None:
    names = values_of(rows, plot.series)
    for k, name in enumerate(names):
        points = sorted((float(row[plot.x]), float(row[plot.y])) for row in rows if row.get(plot.series) == name)
        colour = COLOURS[k % len(COLOURS)]
        style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "marker": MARKS[k % len(MARKS)], "markersize": 5}
        axes.plot(*zip(*points, strict=True), label=str(name), **style)
        if str(name) in plot.published:
            dashed: dict[str, Any] = {"color": colour, "linewidth": 1.2, "linestyle": (0, (4, 3)), "alpha": 0.8}
            axes.plot(*zip(*plot.published[str(name)], strict=True), label=f"{name}, published", **dashed)
    if names:
        axes.legend(fontsize=9, loc="best", ncols=1 + (len(names) > 6))


def _bars(axes: Axes, plot: Plot, rows: Sequence[Row]) -> None:
    places, names = values_of(rows, plot.x), values_of(rows, plot.series)
    width = 0.84 / max(len(names), 1)
    for k, name in enumerate(names):
        heights = {row[plot.x]: float(row[plot.y]) for row in rows if row.get(plot.series) == name}
        at = [places.index(place) + (k - (len(names) - 1) / 2) * width for place in heights]
        axes.bar(at, list(heights.values()), width * 0.92, label=str(name), color=COLOURS[k % len(COLOURS)])
        for mark, height in _published_marks(plot, str(name), places, at, heights):
            axes.plot([mark - width / 2, mark + width / 2], [height, height], color=INK, linewidth=1.6)
    if plot.published:
        axes.plot([], [], color=INK, linewidth=1.6, label="published")
    axes.set_xticks(range(len(places)), [str(place) for place in places])
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.15)
    axes.legend(fontsize=9, loc="best", ncols=1 + (len(names) > 4))


def _published_marks(
    plot: Plot, name: str, places: list[Scalar], at: list[float], heights: Mapping[Scalar, float]
) -> list[tuple[float, float]]:
    """Return the position and height at which a published figure is drawn on a bar."""
    told = dict(plot.published.get(name, ()))
    return [
        (mark, told[number])
        for mark, place in zip(at, heights, strict=True)
        if (number := float(place) if not isinstance(place, str) else float(places.index(place))) in told
    ]


def for_page(svg: str) -> str:
    """Embed a picture in a page: without prologue and names of groups, and with the colours of the page."""
    body = re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])
    for colour, name in ((INK, "--ink"), (FAINT, "--faint"), (GRID, "--rule")):
        body = body.replace(colour, f"var({name})")
    return body.replace(PAPER, "var(--card)")
