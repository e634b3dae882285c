"""Sentences of `schedscope compare` about two runs, recomputed from the starts and ends of the jobs in both."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from statistics import mean

from tests.truth.outcomes import SHOWN, Decided, Told
from tests.truth.runs import Run
from tui.cli.compare import run_pair

BATCH = 1000


class Page:
    """A comparison of two runs. The second run may be the first with a switch."""

    def __init__(self, first: Run, second: Run) -> None:
        at, spec = second.switches[0] if second.switches else (None, second.spec)
        pair = run_pair(first.workload, (first.spec, spec), at, first.placement, check=False)
        self.runs, self.pair = (Told(first), Told(second)), pair
        self.jobs = first.workload.jobs
        one, other = self.runs
        ended = [rank for rank in one.done if rank in other.wait]
        self.starts = {rank: other.start[rank] - one.start[rank] for rank in ended}
        self.ends = {rank: other.end[rank] - one.end[rank] for rank in ended}

    @cached_property
    def classes(self) -> dict[str, list[int]]:
        """Return for each class of estimates: the ranks of its jobs; "all" has all ranks."""
        found: dict[str, list[int]] = {"all": [*range(len(self.jobs))], "short": [], "medium": [], "long": []}
        for rank, job in enumerate(self.jobs):
            found["short" if job.estimate < 1000 else "medium" if job.estimate < 10000 else "long"].append(rank)
        return found

    @cached_property
    def priorities(self) -> dict[str, list[int]]:
        high = self.runs[0].run.workload.high.tolist()
        return {key: [rank for rank in self.classes["all"] if high[rank] == (key == "high")] for key in ("high", "low")}

    @cached_property
    def batches(self) -> dict[str, list[int]]:
        ranks = [*range(len(self.jobs))]
        return {f"{at + 1}-{min(at + BATCH, len(ranks))}": ranks[at : at + BATCH] for at in ranks[::BATCH]}

    @cached_property
    def categories(self) -> list[list[list[int]]]:
        """Return a table of lists of ranks: a row for each class of run times, a column for each class of
        processors."""
        lengths, widths = (0, 600, 3600, 28800, 10**12), (0, 1, 8, 32, 10**9)
        runs, jobs = self.runs[0].ran, list(enumerate(self.jobs))
        return [
            [
                [r for r, job in jobs if above < runs[r] <= most and low < job.procs <= high]
                for low, high in pairwise(widths)
            ]
            for above, most in pairwise(lengths)
        ]

    def some(self, ranks: Sequence[int]) -> list[int]:
        return [rank for rank in ranks if rank in self.runs[0].wait]

    def means(self, ranks: Sequence[int], column: str) -> list[float | None]:
        both = [[values[r] for r in ranks if r in values] for values in (getattr(told, column) for told in self.runs)]
        return [mean(values) if values else None for values in both]

    def r(self, ranks: Sequence[int], column: str) -> float | None:
        first, second = self.means(ranks, column)
        return None if first is None or second is None else (first - second) / min(first, second)

    @cached_property
    def extremes(self) -> tuple[list[int], list[int]]:
        gained = [rank for rank in sorted(self.ends, key=lambda r: self.ends[r])[:5] if self.ends[rank] < 0]
        return gained, [rank for rank in sorted(self.ends, key=lambda r: -self.ends[r])[:5] if self.ends[rank] > 0]

    @cached_property
    def different(self) -> dict[int, tuple[Decided | None, Decided | None]]:
        """Return for each job about which the runs decide differently, in order of time: (decision in the first run, in
        the second)."""
        found = {}
        for rank in range(len(self.jobs)):
            one, other = (told.decided.get(rank, []) for told in self.runs)
            for place in range(max(len(one), len(other))):
                both = one[place] if place < len(one) else None, other[place] if place < len(other) else None
                if not _alike(*both):
                    found[rank] = both
                    break
        return dict(sorted(found.items(), key=lambda item: (min(each[0] for each in item[1] if each), item[0])))


def _alike(one: Decided | None, other: Decided | None) -> bool:
    if one is None or other is None:
        return False
    kinds = SHOWN[type(one[1])] == SHOWN[type(other[1])]
    limits = getattr(one[1], "limit", None) == getattr(other[1], "limit", None)
    return kinds and limits and abs(one[0] - other[0]) <= 1e-6
