"""A program that is killed at any time leaves an autosave that can be read.

By hand: `KILLS=200 SEED=7 pytest -s tests/tui/test_kills.py` prints how old the autosaves were.
"""

from __future__ import annotations

import os
from random import Random
from time import sleep, time

import pytest

from sim.session.session import read_session
from tests.tui.terminals import terminal
from tui.sessions.autosave import state_folder
from tui.sessions.session_manager import AUTOSAVE

KILLS, SEED = int(os.environ.get("KILLS", "1")), os.environ.get("SEED", "1")
TRACES = (("lublin-128", "conservative"), ("lublin-128", "gang-backfill"), ("z-figure7", "easy"))
KEYS = " +pwtv?x/\x1b\x1b[C\x1b[D12\t"


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_kill_at_any_time_leaves_an_autosave(kill: int) -> None:
    lot = Random(f"{SEED} {kill}")
    trace, policy = lot.choice(TRACES)
    with terminal(trace, "--policy", policy, start="from tui.cli.main import program; program()") as at:
        at.wait_for(lambda: list(state_folder().glob("*.session")))
        at.type(" ")
        until = time() + lot.uniform(0, 4 * AUTOSAVE)
        while time() < until:
            sleep(lot.uniform(0, 0.3))
            if lot.random() < 0.3:
                at.type(lot.choice(KEYS))
        at.program.kill()
        killed = time()
        at.wait()
        assert b"Traceback" not in at.written
    (path,) = state_folder().glob("*.session")
    read_session(path)
    print(f"kill {kill}: {trace} {policy}: {max(killed - path.stat().st_mtime, 0):.1f} s old")
