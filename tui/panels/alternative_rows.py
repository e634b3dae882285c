"""Table and sentences on how long a job would wait under other policies or without other jobs; what others pay."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from sim.comparison.alternatives import MOST_BLOCKERS, WITHOUT, Tried
from sim.support.formatting import clock, count, listed, name, processors, shortened, span
from sim.workload.model import Job, Workload
from tui.look.text import shorten


def asked(workload: Workload, rank: int) -> str:
    """Return the dialog's question; the submit time is left out where it depends on the policy."""
    job = workload.jobs[rank]
    when = "when other jobs allow it" if workload.follows and workload.follows[rank] else clock(job.submit)
    return f"What would have helped {name(job)} ({processors(job.procs)} for {span(job.estimate)}, submitted {when})?"


def rows(found: Sequence[Tried], first: str, narrow: bool = False) -> list[list[str]]:
    """Return headings and a row per tried policy, compared with policy `first`; the important columns if `narrow`."""
    made = [["tried", "it waits", "it starts", "the others wait", "longer", "shorter", "largest loser"]]
    for tried in found:
        price = tried.price
        by = "never starts" if price.worst_by is None else f"+{span(price.worst_by)}"
        pays = "" if price.worst is None else f"{shorten(name(price.worst), 16)} {by}"
        here = tried.policy == first
        others = span(price.mean_wait) + ("" if here else f" ({_signed_span(price.change)})")
        made.append(
            [shortened(tried.policy) + (" (first)" if here else ""), span(tried.wait),
             "never" if tried.start is None else clock(tried.start), others, f"{price.longer:,}", f"{price.shorter:,}",
             pays]
        )  # fmt: skip
    return [[row[0], row[1], row[3], row[4], row[6]] for row in made] if narrow else made


def in_words(job: Job, found: Sequence[Tried], first: str) -> str:
    """Return a sentence on the policy that shortens the job's wait most, against policy `first`."""
    best, was = found[0], next(tried for tried in found if tried.policy == first)
    if best.wait is None:
        return f"{name(job)} never starts under any of these policies."
    if was.wait is None:
        told = f"{best.policy} helps most: {name(job)} waits {span(best.wait)}, and never starts under {first}."
    elif was.wait - best.wait < 1:
        return f"No policy shortens {name(job)}'s wait of {span(was.wait)} under {first}."
    else:
        told = f"{best.policy} helps most: {name(job)} waits {span(was.wait - best.wait)} less than under {first}."
    price = best.price
    if price.worst is None:
        return f"{told} No other job waits longer."
    who = f"{count(price.longer, 'job')} {'waits' if price.longer == 1 else 'wait'} longer"
    by = "(never starts)" if price.worst_by is None else f"by {span(price.worst_by)}"
    mean = f"all other jobs wait {span(abs(price.change))} {'longer' if price.change > 0 else 'less'} on average"
    return f"{told} Cost: {who}, most of all {name(price.worst)} {by}; {mean}."


def one_by_one(job: Job, found: Sequence[Tried], first: str) -> str:
    """Return sentences on what each run without one other job changes for the job; "" if there is no such run."""
    waits = {tried.policy: inf if tried.wait is None else tried.wait for tried in found}
    gains = {label: waits[first] - wait for label, wait in waits.items() if label.startswith(WITHOUT)}
    moved = sorted((by for by in gains.items() if abs(by[1]) >= 1), key=lambda by: -by[1])
    same = [label.removeprefix(WITHOUT) for label in gains if label not in dict(moved)]
    told = [f"{name(job)} would start {', '.join(f'{_gain(by)} {label}' for label, by in moved)}."] if moved else []
    if same:
        each = ", each alone," if len(same) > 1 else ""
        told.append(f"Without {listed(same, MOST_BLOCKERS)}{each} nothing would change for {name(job)}.")
    return " ".join(told)


def _gain(seconds: float) -> str:
    if abs(seconds) == inf:
        return "at all" if seconds > 0 else "never"
    return f"{span(abs(seconds))} {'earlier' if seconds > 0 else 'later'}"


def _signed_span(seconds: float) -> str:
    return f"{'+' if seconds >= 0 else '-'}{span(abs(seconds))}"
