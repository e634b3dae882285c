"""Runs have the digests that another engine wrote; `--hypothesis-profile=long` makes all 2,000 runs."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.sim.engine.digests import KINDS, SEEDS, digest, lines

EVERY = 1 if settings().max_examples > 1000 else 13
"""One of this many runs is made."""


@pytest.mark.parametrize("kind", KINDS)
def test_runs_have_the_digests_of_another_engine(kind: str) -> None:
    runs = [(line, seed) for line in lines() if line.kind == kind for seed in SEEDS][::EVERY]
    assert [(line[:3], seed) for line, seed in runs if digest(line, seed) != line.digests[seed]] == []
