"""Machine that an earlier part of a recording noted, from which a recorder goes on that continues the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sim.live.cluster.codec import DamagedError, number, text, texts, whole
from sim.live.cluster.machine import MOST_QOS, MOST_SHARES, Drains
from sim.live.cluster.values import Reservation, Share


@dataclass
class EarlierMachine:
    """Facts about a machine that pictures (polled states of a cluster) lose when they are over."""

    drains: Drains = field(default_factory=Drains)
    reserved: dict[tuple[str, float], Reservation] = field(default_factory=dict)
    """Reservations of nodes so far, by (name, start)."""
    shares: dict[tuple[str, str], Share] = field(default_factory=dict)
    """Shares and usage of each (account, user) when it was first seen."""
    qos: dict[str, int] = field(default_factory=dict)
    """Priority of each quality of service."""

    @classmethod
    def of(cls, words: str) -> EarlierMachine:
        """Return the facts in a text that `machine_in_words` made; none if the text is damaged."""
        made = cls()
        try:
            machine = json.loads(words)
            names = [text(node["name"]) for node in machine["nodes"]]
            for each in machine.get("reservations", ()):
                own = [names[whole(at)] for at in each["nodes"]]
                start, end = float(each["start"]), float(each["end"]) if "end" in each else None
                if each.get("drained") is True:
                    made.drains.remember(start, end, own)
                elif end is not None:
                    users, accounts = texts(each.get("users", [])), texts(each.get("accounts", []))
                    key = text(each["name"]), start
                    made.reserved[key] = Reservation(*key, end, tuple(own), users, accounts)
            made.shares = {(each.account, each.user): each for each in _shares(machine)}
            made.qos = {text(each["name"]): whole(each["priority"]) for each in machine.get("qos", ())[:MOST_QOS]}
        except (DamagedError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            return cls()
        return made


def _shares(machine: dict[str, Any]) -> Iterator[Share]:
    for at, each in enumerate(machine.get("accounts", ())[:MOST_SHARES]):
        shares = None if each["shares"] == "parent" else whole(each["shares"])
        account, user, parent = (text(each.get(name, "")) for name in ("account", "user", "parent"))
        yield Share(str(at), account, user, account if user else parent, shares, number(each.get("usage", 0.0)))
