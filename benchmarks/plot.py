"""The picture: time per entry against the number of bodies, and the times relative to the first contestant."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from run import CaseResult

mpl.use("Agg")  # no display on a server
import matplotlib.pyplot as plt


def draw(path: Path, results: list[CaseResult], title: str) -> None:
    """One row of two panels per series of cases; CPU time throughout."""
    if not results:
        return
    series = list(dict.fromkeys(result.case.series for result in results))
    figure, axes = plt.subplots(len(series), 2, figsize=(12, 4 * len(series)), squeeze=False)
    names = list(dict.fromkeys(row.contestant for result in results for row in result.rows))
    palette = plt.get_cmap("tab20")
    colours = {name: palette(k % 20) for k, name in enumerate(names)}
    for (left, right), key in zip(axes, series, strict=True):
        own = sorted((r for r in results if r.case.series == key), key=lambda r: r.case.bodies)
        for name in names:
            points = [
                (result.case.bodies, time)
                for result in own
                for row in result.rows
                if row.contestant == name and (time := row.per_entry(result.entries)) is not None
            ]
            if points:
                left.plot(*zip(*points, strict=True), "o-", color=colours[name], label=name)
        left.set(xscale="log", yscale="log", xlabel="bodies", ylabel="ns per entry (CPU)", title=" · ".join(key))
        left.grid(visible=True, which="both", alpha=0.25)
        left.legend(fontsize=7, ncols=2)
        largest = own[-1]
        bars = [(row.contestant, ratio) for row in largest.rows if (ratio := largest.ratio(row)) is not None]
        bars.reverse()
        right.barh(
            [name for name, _ in bars],
            [ratio for _, ratio in bars],
            color=[colours[name] for name, _ in bars],
        )
        for position, (_, ratio) in enumerate(bars):
            right.text(ratio, position, f" {ratio:.1f}", va="center", fontsize=8)
        right.set(
            xscale="log",
            xlabel="CPU time, multiples of the first",
            title=f"at {largest.case.bodies:.0e} bodies",
        )
        right.axvline(1, color="black", linewidth=0.8)
    figure.suptitle(title)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
