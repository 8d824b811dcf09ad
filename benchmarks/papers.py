"""
Candidates of papers A and E, published and ours, as Markdown: the tables of docs/structures.md.

Run ``python benchmarks/papers.py`` for what a test computes as well, ``--full`` for the largest sizes (minutes, and
2 GB), ``--into docs/structures.md`` to put the tables between the marks of that file.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from trial import begin, finish, parser, published

MARKS = "<!-- candidates: begin -->", "<!-- candidates: end -->"
NAMES = ("LinkedCells", "Octree", "HashGrid")
QUICK_BODIES, QUICK_SIDE = 640_000, 32
Row = dict[str, object]


def line(*cells: object) -> str:
    """Give a line of a table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def number(value: float) -> str:
    """Three digits, as the paper prints them."""
    mantissa, power = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(power)}"


def scenarios(papers: object, seeds: int) -> list[Row]:
    """Tables 1 to 7, the mean of several placements."""
    rows = []
    for scenario in papers.SCENARIOS:
        sums = dict.fromkeys(scenario.candidates, 0.0)
        for seed in range(1, seeds + 1):
            made = scenario.indices(*scenario.bodies(seed))
            for name in sums:
                sums[name] += papers.candidates(made[name]()) * scenario.steps / seeds
        rows += [
            {
                "what": f"{scenario.table} {scenario.name}",
                "structure": name,
                "published": scenario.candidates[name],
                "ours": sums[name],
            }
            for name in NAMES
            if name in sums
        ]
    return rows


def scaling(papers: object, most: int) -> list[Row]:
    """Tables 8 and 10."""
    return [
        {
            "what": f"{'8' if name == 'Octree' else '10'}, {bodies} bodies",
            "structure": name,
            "published": row[name],
            "ours": papers.scaling_candidates(name, bodies),
        }
        for name in ("Octree", "HashGrid")
        for bodies, row in papers.SCALING.items()
        if bodies <= most
    ]


def main() -> int:
    """Count, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--full", action="store_true", help="all sizes of tables 8, 9 and 10")
    made.add_argument("--seeds", type=int, default=2, help="placements per scenario")
    made.add_argument("--into", type=Path, help="file in which to replace the tables")
    options = made.parse_args()
    options.into, into = None, options.into
    data = begin(options)
    papers = published()
    data["candidates"] = scenarios(papers, options.seeds) + scaling(papers, 10**9 if options.full else QUICK_BODIES)
    lines = [line("table of paper A", "structure", "published", "ours", "ratio"), "|---|---|---:|---:|---:|"]
    for row in data["candidates"]:
        ratio = row["ours"] / row["published"]
        lines.append(line(row["what"], row["structure"], number(row["published"]), number(row["ours"]), f"{ratio:.3f}"))
    sides = [side for side in papers.RELATIONS if options.full or side <= QUICK_SIDE]
    data["relations"] = {side: papers.relations(side) for side in sides}
    lines += ["", line("table 9, grid", "published", "ours", "(3n−2)³"), "|---|---:|---:|---:|"]
    lines += [line(f"{n}³", papers.RELATIONS[n], data["relations"][n], (3 * n - 2) ** 3) for n in sides]
    data["ratios"] = {n: (papers.expected_ratio(n), papers.pair_ratio(n)) for n in papers.RATIO_SIDES}
    lines += ["", line("paper E, side", "((3n−2)/n²)³", "ours", "ratio"), "|---|---:|---:|---:|"]
    lines += [line(n, f"{a:.5f}", f"{b:.5f}", f"{b / a:.4f}") for n, (a, b) in data["ratios"].items()]
    print("\n".join(lines))
    if into is not None:
        text = into.read_text(encoding="utf-8")
        block = f"{MARKS[0]}\n" + "\n".join(lines) + f"\n{MARKS[1]}"
        new, found = re.subn(f"{re.escape(MARKS[0])}.*{re.escape(MARKS[1])}", lambda _: block, text, flags=re.DOTALL)
        if not found:
            print(f"papers: {into} has no marks {MARKS[0]} and {MARKS[1]}", file=sys.stderr)
            return 2
        into.write_text(new, encoding="utf-8")
    finish(options, "papers", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
