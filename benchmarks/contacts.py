"""
The cost of carrying the data of contacts from step to step.

Spheres of one size, ten contacts each, move by a share of their radius per step. Untracked: the index is updated and
the pairs are found. Tracked: the same, and every pair that lasts keeps three numbers (a tangential spring). Then the
mesh: contacts of spheres with a terrain of triangles, at rest and after the mesh has moved.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from measure import once
from trial import Step, begin, both, finish, parser, seconds, verdict
from vicinal.timing import RoundTimer

NEIGHBORS = 10
SHARES = (0.01, 0.001)
MOST = 1.5  # times the untracked update


def walk(bodies: int, share: float, steps: int) -> tuple[list[Any], float]:
    """Positions step by step in a cube of edge 1, in the order of cells, and the radius."""
    np, vc = import_module("numpy"), import_module("vicinal")
    rng = np.random.default_rng(1)
    radius = float((NEIGHBORS / bodies * 3 / (4 * np.pi)) ** (1 / 3)) / 2
    at = rng.random((bodies, 3))
    at = at[vc.spatial_order(at)]
    heading = rng.normal(size=(bodies, 3))
    velocity = heading * (share * radius / np.linalg.norm(heading, axis=1))[:, None]
    return [at + k * velocity for k in range(steps)], radius


class Way:
    """One way to find pairs and pass them to the contacts."""

    def __init__(self, name: str, places: Any, radius: float) -> None:
        vc = import_module("vicinal")
        self.name = name
        self.rows = name == "rows"
        self.index: Any = vc.NeighborList(radii=radius, skin=0.0) if self.rows else vc.CellSorting(places, radii=radius)
        self.contacts = vc.Contacts({"tangent": 3})
        self.times = {"search": RoundTimer(), "track": RoundTimer()}

    def search(self, places: Any) -> Any:
        """Move the bodies and find their pairs."""
        self.index.update(places)
        if self.rows:
            return self.index.offsets, self.index.indices
        return self.index.pairs(sort=self.name == "sorted pairs")

    def track(self, pairs: Any) -> None:
        """Update the contacts."""
        if self.rows:
            self.contacts.update_rows(*pairs)
        else:
            self.contacts.update(*pairs)

    def step(self, places: Any, *, timed: bool) -> None:
        """One step; the first two fill buffers and are not timed."""
        step = Step(self.name, self.search)
        pairs = once(step, lambda: self.search(places), self.times["search"] if timed else None)
        once(step, lambda: self.track(pairs), self.times["track"] if timed else None)


def tracking(options: Any, share: float) -> dict[str, Any]:
    """Times of all ways at one speed."""
    places, radius = walk(int(options.bodies), share, options.repeats + 2)
    ways = [Way(name, places[0], radius) for name in ("pairs", "sorted pairs", "rows")]
    for turn, at in enumerate(places):
        for way in ways[turn % 3 :] + ways[: turn % 3]:
            way.step(at, timed=turn >= 2)
        if len({len(way.contacts) for way in ways}) != 1:
            raise SystemExit("the ways do not find the same contacts")
    one = ways[0].contacts
    print(f"{len(one)} contacts, {len(one.began)} began and {len(one.ended)} ended in the last step ({share:g} radii)")
    result: dict[str, Any] = {"contacts": len(one), "began": len(one.began), "share": share}
    for way in ways:
        search, track = way.times["search"], way.times["track"]
        ratio = (search.best + track.best) / search.best
        print(
            f"  {way.name:13} search {both(search)}   tracking {both(track)}   tracked / untracked {ratio:.2f} ", end=""
        )
        print(f"(at most {MOST}: {verdict(ratio <= MOST)})")
        result[way.name] = {"search": seconds(search), "track": seconds(track), "ratio": ratio}
    return result


def on_a_mesh(options: Any) -> dict[str, Any]:
    """Contacts with a terrain, at rest and moving."""
    np, vc = import_module("numpy"), import_module("vicinal")
    rng = np.random.default_rng(2)
    side = max(8, int((options.bodies / 10) ** 0.5))
    x, y = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    at = np.stack([x, y, rng.normal(size=x.shape) * 0.3], axis=-1).astype(float)
    corners = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    spheres = np.column_stack(
        [rng.uniform(0, side - 1, (int(options.bodies / 5), 2)), rng.normal(size=int(options.bodies / 5))]
    )
    mesh = vc.Mesh(triangles)
    rest, moving, built = RoundTimer(), RoundTimer(), RoundTimer()
    step = Step("mesh", mesh.contacts)
    for turn in range(options.repeats + 1):
        mesh.place()
        pairs = once(step, lambda: mesh.contacts(spheres, 0.3), rest if turn else None)
        mesh.rotate(0.1, [0, 0, 1])
        once(step, lambda: mesh.contacts(spheres, 0.3), moving if turn else None)
        once(step, lambda: vc.Mesh(triangles), built if turn else None)
    count = len(pairs)  # type: ignore[arg-type]
    print(f"\n{len(spheres)} spheres and {len(triangles)} triangles, {count} contacts")
    print(f"  at rest {both(rest)}   moving {both(moving)}   building the mesh {both(built)}")
    return {
        "spheres": len(spheres),
        "triangles": len(triangles),
        "contacts": count,
        "rest": seconds(rest),
        "moving": seconds(moving),
        "build": seconds(built),
    }


def main() -> int:
    """Measure and report."""
    made = parser(__doc__)
    made.add_argument("--bodies", type=float, default=1e6, help="spheres; five contacts for each")
    made.add_argument("--quick", action="store_true", help="twenty thousand spheres, two rounds")
    options = made.parse_args()
    if options.quick:
        options.bodies, options.repeats = 2e4, 2
    data = begin(options)
    data["tracking"] = [tracking(options, share) for share in SHARES]
    data["mesh"] = on_a_mesh(options)
    finish(options, "contacts", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
