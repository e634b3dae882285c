"""Warm-up and cool-down: jobs at the beginning and at the end of a run that are not measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.support.errors import ParameterError
from sim.support.formatting import listed, parse_time, quoted, written_time
from sim.workload.model import Bools, Floats


@dataclass(frozen=True)
class Cut:
    """Parts at the beginning and end of a run whose jobs are not measured: a share of the jobs, or a span of time."""

    first: tuple[float, bool] = (0.0, True)
    """(amount, flag) for the beginning: a share of the jobs (0 to 1) if the flag is True, otherwise seconds."""
    last: tuple[float, bool] = (0.0, True)

    @classmethod
    def of(cls, text: str) -> Cut:
        """Return the cut typed as `FIRST,LAST`, with parts such as 10% or 7d; without LAST, the end is measured.

        >>> Cut.of("10%,7d").written, Cut.of("0%").written
        ('10%,604800', '')
        """
        first, _, last = text.partition(",")
        cut = cls(_end(first, text), _end(last, text))
        if sum(amount for amount, is_share in (cut.first, cut.last) if is_share) >= 1:
            raise ParameterError(f"a cut leaves jobs over, unlike {quoted(text)}")
        return cut

    @property
    def written(self) -> str:
        """Return the cut as text in the form that `of` reads; "" if all jobs are measured."""
        return ",".join(map(_written_end, (self.first, self.last))) if self.first[0] or self.last[0] else ""

    @property
    def told(self) -> str:
        """Return in words which jobs are not measured; "all jobs" if none is left out.

        >>> Cut.of("10%").told, Cut.of("7d,5%").told
        ('without the first 10 % of the jobs', 'without the jobs of the first 7 days and the last 5 % of the jobs')
        """
        parts = [("first", self.first), ("last", self.last)]
        words = [
            f"the {name} {end[0] * 100:.12g} % of the jobs"
            if end[1]
            else f"the jobs of the {name} {end[0] / 86400:.12g} days"
            for name, end in parts
            if end[0]
        ]
        return f"without {listed(words)}" if words else "all jobs"

    def keeps(self, submit: Floats) -> Bools:
        """Return True for each measured job; `submit` has the submit times of all jobs, in rank order."""
        kept = np.ones(len(submit), dtype=np.bool_)
        for (amount, is_share), back in ((self.first, False), (self.last, True)):
            if is_share:
                many = int(len(submit) * amount)
                kept[len(submit) - many if back else 0 : len(submit) if back else many] = False
            elif len(submit):
                kept &= submit <= submit.max() - amount if back else submit >= submit.min() + amount
        return kept


def _end(text: str, whole: str) -> tuple[float, bool]:
    text = text.strip()
    if not text:
        return 0.0, True
    if not text.endswith("%"):
        return max(parse_time(text), 0.0), False
    try:
        share = float(text[:-1]) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise ParameterError(f"a cut is like 10%,5% or 7d,7d, got {quoted(whole)}")
    return share, True


def _written_end(end: tuple[float, bool]) -> str:
    amount, is_share = end
    return f"{amount * 100:.12g}%" if is_share else written_time(amount)
