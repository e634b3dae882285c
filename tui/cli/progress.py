"""Simulations from beginning to end, with their progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sim.engine.engine import Engine

_STEPS = 1000


class Bar(Protocol):
    """What shows progress: told how many more jobs have finished."""

    def update(self, more: int) -> None: ...


def run_to_end(engine: Engine, label: str) -> None:
    """Run the engine; while that takes long, a terminal sees how far it is."""
    with _progress(len(engine.workload), label) as bar:
        done = 0
        while engine.advance(_STEPS):
            if bar is not None:
                bar.update(engine.state.tally.finished - done)
                done = engine.state.tally.finished


@contextmanager
def _progress(jobs: int, label: str) -> Iterator[Bar | None]:
    if not sys.stderr.isatty():
        yield None
        return
    import click

    with click.progressbar(length=jobs, label=label, file=sys.stderr, width=30) as bar:
        yield bar
    sys.stderr.write("\x1b[1A\x1b[2K")  # the finished bar makes room for the result
