"""What the first screen offers: samples, sessions and traces, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from sim.workload.samples import SAMPLES
from tui.screens.dialogs.trace_choices import recent

Kind = Literal["sample", "session", "trace", "file"]


class Entry(NamedTuple):
    """Something to open. `value` is what opens it."""

    kind: Kind
    value: str
    title: str
    what: str = ""
    """What it shows, in a line."""
    origin: str = ""
    """The paper, where it is of one."""
    policy: str = ""


def samples() -> Iterator[Entry]:
    """In the order in which to meet them.

    >>> next(samples()).origin
    'Zhang et al., figure 4'
    """
    for sample in SAMPLES:
        what, _, paper = sample.caption.rstrip(")").partition(" (")
        yield Entry("sample", sample.name, sample.showing.title, what, paper, sample.showing.policy)


def entries(sessions: Sequence[Entry], traces: Sequence[str]) -> tuple[Entry, ...]:
    """All of them: the pictures, then what was open before, then any file. Samples are there already."""
    before = [choice for choice in map(recent, traces) if choice.kind == "file"]
    return (
        *samples(), *sessions,
        *(Entry("trace", choice.value, choice.title, choice.what) for choice in before),
        Entry("file", "", "a file ...", "SWF, sacct, Batsim or CSV, wherever it is"),
    )  # fmt: skip
