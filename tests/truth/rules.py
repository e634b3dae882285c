"""Policies by their specs: the parameters, and the properties of each family of policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.truth.world import Work

DEFAULTS: dict[str, dict[str, Any]] = {
    "fcfs": {"order": "fcfs"},
    "firstfit": {"order": "fcfs"},
    "easy": {"order": "fcfs", "depth": 1, "tail": "queue"},
    "easy++": {"correct": "steps"},
    "lookahead": {"order": "fcfs", "window": 50},
    "greedy": {"order": "fcfs", "by": "jobs"},
    "conservative": {"order": "fcfs", "compress": "start"},
    "replan": {"order": "fcfs"},
    "shadow": {"order": "sjf", "shadows": 1.0},
    "relaxed": {"order": "fcfs", "omega": 2.0, "relative": "wait"},
    "slack": {"order": "fcfs", "compress": "start", "slack": 1.0},
    "recorded": {},
    "multiqueue": {"classes": "1000/10000", "speculate": 0.0, "speculate_over": 1000.0},
    "selective": {"sf": 2.0, "tick": 60.0, "restart": "own", "seats": "apart", "memory": "no"},
    "tunable": {"sf": 2.0, "tick": 60.0, "restart": "own", "seats": "apart", "memory": "no", "limit": 1.5},
    "immediate": {"slice": 600.0, "restart": "own", "seats": "apart", "memory": "no"},
    "gang": {"mpl": 5, "slice": 200.0, "cs": 0.0},
    "gang-backfill": {"mpl": 5, "slice": 200.0, "cs": 0.0},
    "gang-migrate": {"mpl": 5, "slice": 200.0, "cs": 0.0, "cost": 10.0, "q": 64},
    "gang-migrate-backfill": {"mpl": 5, "slice": 200.0, "cs": 0.0, "cost": 10.0, "q": 64},
}
KEEP_RESERVATIONS = {"conservative", "slack", "multiqueue"}
SUSPEND = {"selective", "tunable", "immediate", "gang", "gang-backfill", "gang-migrate", "gang-migrate-backfill"}


class Rules:
    """A policy given by its spec: its name, parameters and properties."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.name, _, given = spec.partition(":")
        self._values = dict(DEFAULTS[self.name])
        for pair in filter(None, given.split(",")):
            key, _, text = pair.partition("=")
            default = self._values.get(key, "")
            self._values[key] = type(default)(text) if isinstance(default, int | float) else text

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def get(self, key: str, default: Any) -> Any:
        return self._values.get(key, default)

    @property
    def keeps(self) -> bool:
        return self.name in KEEP_RESERVATIONS

    @property
    def promises(self) -> bool:
        if self.name in ("easy", "lookahead", "greedy"):
            return bool(self["order"] == "fcfs" and self.get("depth", 1) == 1)
        return self.name in ("conservative", "multiqueue") or (self.name == "slack" and not self["slack"])

    @property
    def suspends(self) -> bool:
        return self.name in SUSPEND

    @property
    def is_gang(self) -> bool:
        return self.name.startswith("gang")

    @property
    def classes(self) -> list[float]:
        return [] if self["classes"] == "none" else [float(part) for part in self["classes"].split("/")]

    def class_of(self, job: Work) -> int:
        return sum(limit <= job.estimate for limit in self.classes)

    def is_tried(self, job: Work) -> bool:
        return (
            self.name == "multiqueue"
            and self["speculate"] > 0
            and job.estimate >= self["speculate_over"]
            and job.reserve is None
        )
