"""A user-defined policy in a file, and saved changes of the file."""

from pathlib import Path

import pytest

HEAD = '''from collections.abc import Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Decision, Keep, Start
from sim.decisions.reasons import InOrder
from sim.decisions.reasons_to_wait import TooFewFree
from sim.policies.policy import Policy
from sim.engine.moment import Moment


@dataclass(frozen=True)
class Fair(Policy):
    """First come, first served."""

    def decide(self, view: Moment) -> Iterator[Decision]:
'''
FCFS = """        for job in view.queue:
            if job.procs > view.free:
                return
            yield Start(job, InOrder(view.free))
"""
FIRSTFIT = FCFS.replace("return", "continue")
RAISES = FCFS.replace("return", "1 / 0")
TOO_WIDE = FCFS.replace("return", "pass")
ENDLESS = FCFS.replace("return", "while True: pass")
FORGETS = "        yield from (Start(job, InOrder(view.free)) for job in view.arrived if job.procs <= view.free)\n"


def save(path: Path, body: str) -> None:
    path.write_text(HEAD + body, encoding="utf-8")


def own_file(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str = FCFS) -> Path:
    monkeypatch.chdir(folder)
    save(folder / "fair.py", body)
    return folder / "fair.py"
