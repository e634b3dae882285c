"""Fixture of pytest for a teacher's tests of submissions: `submission` makes a run and returns its schedule.

def test_short_job_passes(submission):
    assert submission(read("z-figure4")).start[4] == 600
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sim.classroom.grading.outside import Bounds, Remote, code_in_submission
from sim.engine.schedule import Schedule
from sim.timeline.scenario import run
from sim.workload.model import Workload
from tui.classroom.graded_tests import SUBMISSION


@pytest.fixture
def submission() -> Iterator[Callable[[Workload], Schedule]]:
    policy = Remote.loaded(Bounds(), *code_in_submission(Path(os.environ[SUBMISSION])))
    with policy.process:
        yield lambda workload: run(workload, policy)
