"""User-defined policies with random changes: each runs, or is refused in one line.

By hand: `MONKEY=2000 SEED=7 pytest tests/tui/cli/test_odd_policies.py`, or tests.tui.cli.odd_policies.
"""

import os
from pathlib import Path

import pytest

from sim.engine import policy_calls
from sim.policies.own import loading
from tests.tui.cli.odd_policies import SOONER, search

POLICIES, SEED = int(os.environ.get("MONKEY", "12")), int(os.environ.get("SEED", "1"))


@pytest.mark.long
def test_damaged_policy_runs_or_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(policy_calls, "LONGEST_PASS", SOONER)
    monkeypatch.setattr(loading, "PATIENCE", SOONER)
    counts, faults = search(POLICIES, SEED * 1_000_000)
    assert not faults
    assert counts["all done"]
    assert counts["all refused"]
