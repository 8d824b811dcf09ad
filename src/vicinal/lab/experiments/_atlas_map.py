"""The map of the atlas: a field for each case, coloured by the fastest structure and marked with the choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicinal.lab.plots import COLOURS, INK
from vicinal.lab.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GOOD = 1.1
"""A choice within this factor of the best counts as equally good."""


def draw_map(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw the fields: columns are numbers of bodies and spreads of sizes, rows are layouts and motions."""
    from matplotlib.patches import Patch, Rectangle

    columns = list(dict.fromkeys((row["spread"], row["bodies"]) for row in rows))
    columns.sort(key=lambda at: (float(at[0]), float(at[1])))
    lines = list(dict.fromkeys((row["layout"], row["motion"]) for row in rows))
    winners = sorted({str(row["winner"]) for row in rows})
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(winners)}
    for row in rows:
        x, y = columns.index((row["spread"], row["bodies"])), lines.index((row["layout"], row["motion"]))
        colour = colours[str(row["winner"])]
        axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, alpha=0.4, edgecolor=colour))
        regret = float(row["regret"])
        if row["choice"] == row["winner"]:
            said = "✓"
        elif regret <= GOOD:
            said = "≈"
        else:
            said = f"{row['choice']}\n{regret:.2g} ×"
        axes.text(x, y, said, ha="center", va="center", fontsize=7.5 if "\n" in said else 11, color=INK)
    axes.set_xlim(-0.55, len(columns) - 0.45)
    axes.set_ylim(len(lines) - 0.45, -0.55)
    axes.set_xticks(range(len(columns)), [f"{float(n):,.0f}\n1 : {float(spread):g}" for spread, n in columns])
    axes.set_yticks(range(len(lines)), [f"{layout}, {float(motion):.0%}" for layout, motion in lines])
    axes.tick_params(length=0, labelsize=8.5)
    axes.set_xlabel(
        "bodies, and spread of radii\n✓ fastest chosen, ≈ an equally fast one; otherwise the choice and its regret",
        fontsize=9,
    )
    for spine in axes.spines.values():
        spine.set_visible(False)
    handles = [Patch(facecolor=colours[name], alpha=0.5, label=name) for name in winners]
    axes.legend(handles=handles, fontsize=8.5, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.06), frameon=False)
