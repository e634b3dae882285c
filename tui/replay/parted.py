"""Words for where two runs part: one sentence for what each of them did there."""

from __future__ import annotations

from typing import TypeAlias

from sim.compare.parting import Account, Parting
from sim.decisions.decisions import Backfill, PlannedLater, Resume, Start, Suspend
from sim.decisions.matrix import Migrate, Place
from sim.decisions.sentences import in_words, say, why
from sim.life.moments import AwaitsTurn, AwaitsVictims, Heads, NotConsidered, State
from sim.words import Clock, clock, clock_near, listed, name, span
from sim.workload.model import Workload
from tui.look.text import printable

_STAYS = {"running": "runs on", "suspended": "is suspended", "matrix": "stays in the matrix", "finished": "ends"}
_LEFT = {
    "running": "runs {} on",
    "suspended": "leaves {} suspended",
    "matrix": "goes on with {}",
    "finished": "ends {}",
}

_VERBS: dict[type, str] = {
    Start: "starts",
    Backfill: "backfills",
    Place: "lets in",
    Resume: "resumes",
    Suspend: "suspends",
    Migrate: "migrates",
}
Accounts: TypeAlias = tuple[tuple[Account, ...], tuple[Account, ...]]
"""What the first and the second run did with each job."""


def tell(account: Account, at: Clock = clock) -> str:
    """What one run did with a job, as a sentence without a full stop.

    >>> from sim.workload.model import Job
    >>> tell(Account(Job(16, "17", submit=0, procs=8, estimate=60), where="running"))
    'J17 runs on'
    """
    if account.act is not None:
        return say(account.act, at)
    if account.where == "queue":
        return f"{name(account.job)} waits: {_reason(account, account.waits, at)}"
    because = f": {_reason(account, account.waits, at)}" if account.waits else ""
    return f"{name(account.job)} {_STAYS[account.where]}{because}"


def _reason(account: Account, state: State | None, at: Clock) -> str:
    job, delays = account.job, account.delays
    if isinstance(state, PlannedLater) and delays is not None:
        return f"it would delay {name(delays.other)}, planned for {at(delays.at)}, by {span(delays.seconds)}"
    match state:
        case NotConsidered(head, free):
            stopped = "" if head is None or head == job else f", and the queue stops at {name(head)}"
            return f"needs {job.procs:,}, {free:,} free{stopped}"
        case None | Heads() | AwaitsVictims() | AwaitsTurn():
            return in_words(state)
    return why(state, job, at)


def about(parting: Parting, workload: Workload) -> str:
    """The jobs over which they part, those first that are told of."""
    others = (act.rank for acts in parting.only for act in acts)
    return listed((name(workload.jobs[rank]) for rank in dict.fromkeys([*parting.ranks, *others])), 3)


def headline(parting: Parting, names: tuple[str, str], accounts: Accounts) -> str:
    """Where two runs part and what each did with the first of the jobs, in one line: for a place between two charts."""
    at = clock_near(parting.time)
    told = (f"{who} {_done(accounts[0], at)}" for who, accounts in zip(names, accounts, strict=True))
    return printable(f"first parted at {clock(parting.time)}: {'; '.join(told)}")


def _done(account: Account, at: Clock) -> str:
    """What was done, with the policy as the one who does it."""
    who, act = name(account.job), account.act
    if act is not None:
        limit = getattr(act, "limit", None)
        return f"{_VERBS.get(type(act), 'moves')} {who}{f' for {span(limit)}' if limit is not None else ''}"
    if account.where != "queue":
        return _LEFT[account.where].format(who)
    return f"keeps {who} waiting: {_reason(account, account.waits, at)}"
