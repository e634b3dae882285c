"""Check random runs for a number of seconds, then print how many sentences of each kind were checked.

Progress is printed after every 500 runs.

    python -m tests.truth SECONDS [FIRST SEED]
"""

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from time import monotonic

from tests.truth import runs
from tests.truth.helping import read_help, read_longest
from tests.truth.metrics import read_metrics
from tests.truth.partings import read_parting
from tests.truth.reading import Untruth, falsehoods
from tests.truth.rules import Rules
from tests.truth.words import COUNTS

TOLD = 500
"""Number of runs between two lines of progress."""
FOLLOWING = 5
"""For one of this many seeds, a run with jobs that wait for other jobs is checked as well."""
SCALED = 10
"""One of this many runs is also compared with a run on a time scale of hours and days."""


def run_of(seed: int) -> runs.Run:
    return (
        runs.changing_run(seed)
        if seed % 5 == 3
        else runs.random_run(seed, runs.PEERS if seed % 5 == 4 else runs.FAMILIES)
    )


def found_in(run: runs.Run, seed: int) -> Iterator[Untruth]:
    """Yield the false sentences that the program shows of a run and, if it has no switches, of its comparison with
    another run."""
    try:
        yield from falsehoods(run, asked=4)
        if seed % FOLLOWING == 0:
            yield from falsehoods(runs.following_run(seed), asked=4)
        if len(run.workload) and not run.engine.moment.switches:
            first, other = runs.scaled_runs(run, seed) if seed % SCALED == 0 else (run, runs.another_run(run, seed))
            rank = seed % len(run.workload)
            beside = *read_help((first, other), rank), *(() if first.switches else read_longest(first))
            if not run.switches and Rules(run.first).name in runs.FAMILIES[:9]:
                beside += (*read_metrics(runs.taken_over(run, seed)),)
            for false in (*read_parting(first, other), *read_metrics(first), *read_metrics(other), *beside):
                yield Untruth(first.spec, 0, 0, str(false))
    except Exception as error:  # a sentence without a check is a finding as well
        yield Untruth(run.spec, 0, 0, f"Unread: {error!r}")


def read_for(seconds: float, first: int) -> int:
    """Check runs for `seconds`, with seeds from `first` on; return the number of false sentences."""
    until, false = monotonic() + seconds, Counter[str]()
    for seed in count(first):
        if monotonic() > until:
            break
        if seed > first and (seed - first) % TOLD == 0:
            print(f"{sum(COUNTS.values()):,} sentences of {seed - first:,} runs, {sum(false.values()):,} of them false")
        run = run_of(seed)
        for found in found_in(run, seed):
            kind = found.what.partition(":")[0]
            false[kind] += 1
            if false[kind] <= 3:
                print(f"seed {seed}, {found.policy}, step {found.step}, at {found.time}: {found.what}")
    for kind, many in COUNTS.most_common():
        print(f"{many:10,} {kind}" + (f", {false[kind]:,} of them false" if false[kind] else ""))
    print(f"{sum(COUNTS.values()):10,} sentences of {seed - first:,} runs, {sum(false.values()):,} of them false")
    return sum(false.values())


if __name__ == "__main__":
    sys.exit(bool(read_for(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
