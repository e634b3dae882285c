"""Parser of places that a user types: a time, a step or a job."""

from __future__ import annotations

import re

import numpy as np

from sim.support.errors import ParameterError, TraceError
from sim.support.formatting import A_TIME, Step, parse_moment, quoted
from sim.workload.model import Field, Workload
from tui.replay.requests import GoTo, GoToJob, GoToTime, Order


def parse_place(text: str, workload: Workload, now: float = 0.0) -> Order:
    """Return the request for a typed time, step or job; a time of day means the day of `now`."""
    typed = " ".join(text.split())
    if job := re.fullmatch(r"(?:job (\S+?)|(j ?\S+?))(?: (starts?|submitted))?", typed, re.IGNORECASE):
        return GoToJob(workload.rank_of(job[1] or job[2]), start=(job[3] or "").startswith("start"))
    try:
        moment = parse_moment(typed, now)
    except ParameterError as error:
        if not str(error).startswith(A_TIME):
            raise
        raise ParameterError(
            f"cannot go to {quoted(typed)}: expected a time (12d 4h, d12 04:30), a step (#1200) or "
            "a job (J17, J17 starts)"
        ) from None
    return GoTo(moment.number) if isinstance(moment, Step) else GoToTime(workload.header.seconds_at(moment))


def find_job(text: str, workload: Workload, after: int) -> int:
    """Return the rank of `17` or `J17`, or of the user's (`ann`, `user 3`) next job after rank `after`, else first."""
    user = re.fullmatch(r"user[ :]\s*(.+)", text.strip(), re.IGNORECASE)
    try:
        return workload.rank_of(text)
    except TraceError as no_job:
        if text.strip().isdecimal():
            raise
        try:
            number = workload.number_of(Field.USER, user[1] if user else text.strip())
        except ParameterError as no_user:
            raise no_user if user else no_job from None
    theirs = np.flatnonzero(workload.user == number)
    return int(theirs[np.searchsorted(theirs, after, "right") % len(theirs)])
