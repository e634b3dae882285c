"""Where a person wants to go, as it is typed: a time, a step, a job."""

from __future__ import annotations

import re

from sim.errors import ParameterError, TraceError
from sim.words import A_TIME, Step, parse_moment, quoted
from sim.workload.model import Workload
from tui.replay.requests import GoTo, GoToJob, GoToTime, Order


def parse_place(text: str, workload: Workload, now: float = 0.0) -> Order:
    """What was meant, or an error that says what would work; a time of day alone is one of the day of `now`."""
    typed = " ".join(text.split())
    if job := re.fullmatch(r"(?:job (\S+?)|(j ?\S+?))(?: (starts?|submitted))?", typed, re.IGNORECASE):
        return GoToJob(parse_job(job[1] or job[2], workload), start=(job[3] or "").startswith("start"))
    try:
        moment = parse_moment(typed, now)
    except ParameterError as error:
        if not str(error).startswith(A_TIME):
            raise
        raise ParameterError(
            f"{quoted(typed)} is no place to go to: a time (12d 4h, d12 04:30), a step (#1200) or "
            "a job (J17, J17 starts)"
        ) from None
    return GoTo(moment.number) if isinstance(moment, Step) else GoToTime(workload.header.seconds_at(moment))


def parse_job(text: str, workload: Workload) -> int:
    """The rank of the job that was typed as `17`, `J17` or by its name."""
    typed = text.strip()
    try:
        return workload.rank_of(typed[1:].strip() if typed[:1] in ("j", "J") else typed)
    except TraceError:
        return workload.rank_of(typed)
