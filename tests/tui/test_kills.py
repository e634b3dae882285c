"""A program that is killed at any time leaves an autosave, from which the next start goes on.

By hand: `KILLS=200 SEED=7 pytest -n0 -s tests/tui/test_kills.py` prints how much of the work before the kill was lost.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import nan
from random import Random
from time import monotonic, sleep

import pytest

from sim.session.session import read_session
from sim.support.formatting import parse_time
from tests.tui.terminals import Terminal, terminal
from tui.sessions.autosave import state_folder
from tui.sessions.session_manager import AUTOSAVE

KILLS, SEED = int(os.environ.get("KILLS", "1")), os.environ.get("SEED", "1")
TRACES = (("lublin-128", "conservative"), ("lublin-128", "gang-backfill"), ("z-figure7", "easy"))
KEYS = " +pwt?x/\x1b\x1b[C\x1b[D12\t"
TOP = re.compile(r"(d[\d,]+ \d\d:\d\d:\d\d) +step ([\d,]+) /")
Frame = tuple[float, float, int]
"""Time at which the screen showed a moment of the run, and this moment: seconds and steps"""


def frames(at: Terminal) -> Iterator[Frame]:
    for time, line in at.top_lines():
        if found := TOP.search(line):
            yield time, parse_time(found[1]), int(found[2].replace(",", ""))


def is_at(frame: Frame, clock: float, step: int) -> bool:
    """Return True if the frame shows this moment; the screen rounds its seconds."""
    return frame[2] == step and abs(frame[1] - clock) <= 1


def lost(shown: Iterable[Frame], clock: float, step: int, killed: float) -> float:
    """Return the seconds since the moment was last on the screen, or between two frames. A moment that was saved after
    the last frame gives nan.

    >>> shown = [(0.0, 6.0, 0), (1.0, 60.0, 3), (2.0, 120.0, 5), (3.0, 6.0, 0)]
    >>> [lost(shown, clock, step, 3.5) for clock, step in ((6.0, 0), (90.0, 3), (121.0, 5))]
    [0.0, 0.5, nan]
    """
    moments = [*shown]
    if moments and is_at(moments[-1], clock, step):
        return 0.0
    for (_, *before), (time, *after) in reversed([*pairwise(moments)]):
        if all(min(a, b) <= now <= max(a, b) for a, b, now in zip(before, after, (int(clock), step), strict=True)):
            return killed - time
    return nan


@pytest.mark.long
@pytest.mark.parametrize("kill", range(KILLS))
def test_a_kill_at_any_time_leaves_an_autosave(kill: int) -> None:
    lot = Random(f"{SEED} {kill}")
    trace, policy = lot.choice(TRACES)
    with terminal(trace, "--policy", policy, start="from tui.cli.main import program; program()") as at:
        at.wait_for(lambda: list(state_folder().glob("*.session")))
        at.type(" ")
        until = monotonic() + lot.uniform(0, 4 * AUTOSAVE)
        while monotonic() < until:
            sleep(lot.uniform(0, 0.3))
            if lot.random() < 0.3:
                at.type(lot.choice(KEYS))
        at.program.kill()
        killed = monotonic()
        at.wait()
        assert b"Traceback" not in at.written
    (path,) = state_folder().glob("*.session")
    session = read_session(path)
    clock = float(str(session.view["clock"]))
    print(f"kill {kill}: {trace} {policy}: {lost(frames(at), clock, session.step, killed):.1f} s of work are lost")
    with terminal() as again:
        again.wait_for(lambda: b"The last session ended unexpectedly" in again.written)
        again.type("c")
        again.wait_for(lambda: any(is_at(frame, clock, session.step) for frame in [*frames(again)][-1:]))
