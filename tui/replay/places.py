"""Where a person wants to go, as it is typed: a time, a step, a job."""

from __future__ import annotations

import re

from sim.errors import ParameterError, TraceError
from sim.words import parse_time
from sim.workload.model import Workload
from tui.replay.requests import GoTo, GoToJob, GoToTime, Order


def parse_place(text: str, workload: Workload) -> Order:
    """What was meant, or an error that says what would work."""
    typed = " ".join(text.split())
    if step := re.fullmatch(r"(?:#|step )\s*(\d[\d,]*)", typed, re.IGNORECASE):
        return GoTo(int(step[1].replace(",", "")))
    if job := re.fullmatch(r"(?:job (\S+?)|(j ?\S+?))(?: (starts?|submitted))?", typed, re.IGNORECASE):
        return GoToJob(parse_job(job[1] or job[2], workload), start=(job[3] or "").startswith("start"))
    if clock := re.fullmatch(r"(?:d?(\d+)d? )?(\d{1,2}):([0-5]\d)(?::([0-5]\d))?", typed):
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        if hours > 23 or minutes > 59 or seconds > 59:
            raise ParameterError(f"{typed!r} is no time of day: hours go to 23, minutes and seconds to 59")
        return GoToTime(days * 86400 + hours * 3600 + minutes * 60 + seconds)
    if day := re.fullmatch(r"d(\d+)", typed):
        return GoToTime(int(day[1]) * 86400)
    try:
        return GoToTime(parse_time(typed.replace(" ", "")))
    except ParameterError:
        raise ParameterError(
            f"{typed!r} is no place to go to: a time (12d 4h, d12 04:30), a step (#1200) or a job (J17, J17 starts)"
        ) from None


def parse_job(text: str, workload: Workload) -> int:
    """The rank of the job that was typed as `17`, `J17` or by its name."""
    typed = text.strip()
    try:
        return workload.rank_of(typed[1:].strip() if typed[:1] in ("j", "J") else typed)
    except TraceError:
        return workload.rank_of(typed)
