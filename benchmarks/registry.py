"""Find contestants by name."""

from __future__ import annotations

from contestants import Contestant
from ours import STRUCTURES, variants
from peers import PEERS


def peers_named(names: tuple[str, ...]) -> list[Contestant]:
    """Peers by name, case ignored; ``all`` for every one, ``none`` for none."""
    known = {peer.name.lower(): peer for peer in PEERS}
    if names == ("all",):
        return [peer() for peer in PEERS]
    if names == ("none",):
        return []
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        message = f"unknown peer {', '.join(unknown)}; known: {', '.join(peer.name for peer in PEERS)}, all, none"
        raise ValueError(message)
    return [known[name.lower()]() for name in names]


def contestant_named(name: str) -> Contestant:
    """Find one contestant, ours or a peer, by the name it shows in the table."""
    for contestant in (*variants(STRUCTURES), *peers_named(("all",))):
        if contestant.name == name:
            return contestant
    message = f"no contestant is called {name!r}"
    raise ValueError(message)
