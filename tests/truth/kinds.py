"""Search for small runs that together show every kind of sentence, for `KINDS` in `test_truth.py`.

Seeds of `KINDS` that still show a kind that no earlier one shows are kept; others are added from FIRST SEED on.

    python -m tests.truth.kinds SECONDS [FIRST SEED]
"""

import sys
from itertools import chain, count
from time import monotonic

from tests.truth.__main__ import run_of
from tests.truth.decided import UNSAID
from tests.truth.reading import falsehoods
from tests.truth.test_truth import BESIDE, KINDS
from tests.truth.words import MISPLACED, MUTANTS, READINGS, are_changed

LARGEST = 12
"""Largest number of jobs of a run that is added, as larger ones take long to check"""


def met(seed: int) -> set[str]:
    """Return the kinds of sentences in the run whose deliberate changes the checks detect; empty if a sentence is
    false."""
    for changed in (MUTANTS, MISPLACED):
        changed.clear()
    token = are_changed.set(True)
    false = list(falsehoods(run_of(seed), asked=2))
    are_changed.reset(token)
    return set() if false else {kind for kind, _, is_found in (*MUTANTS, *MISPLACED) if is_found}


def found(seconds: float, first: int) -> tuple[list[int], set[str]]:
    """Return (seeds found, kinds of sentences that no run of these seeds shows)."""
    missing = {kind.__name__ for kind in READINGS.keys() - UNSAID.keys()} - BESIDE
    until, seeds = monotonic() + seconds, list[int]()
    for seed in chain(KINDS, count(first)):
        if not missing or monotonic() > until:
            break
        if seed not in KINDS and len(run_of(seed).workload) > LARGEST:
            continue
        if new := met(seed) & missing:
            missing -= new
            seeds.append(seed)
    return seeds, missing


if __name__ == "__main__":
    seeds, missing = found(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(", ".join(map(str, sorted(seeds))))
    print("no run has " + ", ".join(sorted(missing)) if missing else "every kind is met")
