"""Entries of the first screen, as plain values: samples, lessons, sessions and traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from sim.workload.samples import ALSO, SAMPLES, Sample
from tui.annexes import annexed
from tui.screens.dialogs.trace_choices import recent

Kind = Literal["sample", "also", "lesson", "learn", "session", "trace", "file"]


class MenuEntry(NamedTuple):
    kind: Kind
    value: str
    title: str
    what: str = ""
    origin: str = ""
    """Paper and figure that the sample reproduces; "" for other entries."""
    policy: str = ""

    @property
    def has_picture(self) -> bool:
        return self.kind in ("sample", "lesson")


def samples() -> Iterator[MenuEntry]:
    return map(_sample, SAMPLES)


def _sample(sample: Sample, kind: Kind = "sample") -> MenuEntry:
    what, _, paper = sample.caption.rstrip(")").partition(" (")
    return MenuEntry(kind, sample.name, sample.title, what, paper, sample.policy)


def entries(sessions: Sequence[MenuEntry], traces: Sequence[str], seen: Mapping[str, int]) -> tuple[MenuEntry, ...]:
    before = [choice for choice in map(recent, traces) if choice.kind == "file"]
    return (
        *samples(), annexed("entry of lessons")(seen), *sessions, *(_sample(sample, "also") for sample in ALSO),
        *(MenuEntry("trace", choice.value, choice.title, choice.what) for choice in before),
        MenuEntry("file", "", "a file ...", "SWF, sacct, Batsim or CSV, wherever it is"),
    )  # fmt: skip
