"""Sentences on the first difference of two runs, and on what each run did at that time."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from sim.comparison.differences import Versus
from sim.comparison.divergence import Account, Divergence
from sim.decisions.decisions import Backfill, Resume, Start, Suspend
from sim.decisions.matrix import Migrate, Place
from sim.decisions.reasons_to_wait import PlannedLater
from sim.decisions.sentences import say, why
from sim.support.formatting import Clock, clock, clock_near, listed, name, percent, printable, span
from sim.workload.model import Workload
from sim.workload.pairing import Pairing

_STAYS = {
    "queue": "waits",
    "running": "keeps running",
    "suspended": "is suspended",
    "matrix": "stays in the matrix",
    "finished": "ends",
}
_LEFT = {
    "queue": "keeps {} waiting",
    "running": "keeps {} running",
    "suspended": "leaves {} suspended",
    "matrix": "keeps {} in the matrix",
    "finished": "ends {}",
}

_VERBS: dict[type, str] = {
    Start: "starts",
    Backfill: "backfills",
    Place: "places",
    Resume: "resumes",
    Suspend: "suspends",
    Migrate: "migrates",
}
_DONE = {
    "starts": "starts",
    "resumes": "resumes",
    "suspended": "is suspended",
    "queued": "waits again",
    "migrates": "migrates",
    "ends": "ends",
}
_NOT = {
    "starts": "does not start",
    "resumes": "does not resume",
    "suspended": "is not suspended",
    "queued": "does not wait again",
    "migrates": "does not migrate",
    "ends": "does not end",
}
LONGEST_NAME = 14
"""Most characters of a policy's name in a column; longer ones are shortened, or the runs called A and B."""
Accounts: TypeAlias = tuple[tuple[Account, ...], tuple[Account, ...]]
"""For the first and the second of two runs: what the run did with each job of the first difference."""
BY_CHANCE = "Random orders draw by rank, so jobs may also differ by chance."


def what_it_did(account: Account, at: Clock = clock) -> str:
    if account.act is not None:
        return say(account.act, at)
    return f"{name(account.job)} {_STAYS[account.where]}{_reason_clause(account, at)}"


def _reason_clause(account: Account, at: Clock) -> str:
    state, delays = account.waits, account.delays
    if isinstance(state, PlannedLater) and delays is not None:
        return f": it would delay {name(delays.other)}, planned for {at(delays.at)}, by {span(delays.seconds)}"
    return "" if state is None else f": {why(state, account.job, at)}"


def names_of_jobs(parting: Divergence, workload: Workload) -> str:
    """Return the jobs of the first difference as text: that of each run's first event, then all others."""
    others = (act.rank for acts in parting.only for act in acts)
    return listed((name(workload.jobs[rank]) for rank in dict.fromkeys([*parting.ranks, *others])), 3)


def how_it_differs(parting: Divergence, workload: Workload) -> str:
    """Return a few words on which events of the second run take the place of the first run's."""
    there, here = (acts[0] if acts else None for acts in parting.only)
    if here is None:
        return "" if there is None else f"{name(workload.jobs[there.rank])} {_NOT[there.verb]}"
    done = f"{name(workload.jobs[here.rank])} {_DONE[here.verb]}"
    if there is None:
        return done
    if there.rank == here.rank:
        return done + (" otherwise" if there.verb == here.verb else f" and {_NOT[there.verb]}")
    which = "" if there.verb == here.verb else f", which {_DONE[there.verb]}"
    return f"{done} instead of {name(workload.jobs[there.rank])}{which}"


def headline(parting: Divergence, names: tuple[str, str], accounts: Accounts) -> str:
    """Return a line on the first difference, and what each run (named as in `names`) did with the first job."""
    at = clock_near(parting.time)
    told = (f"{who} {_verb_of(accounts[0], at)}" for who, accounts in zip(names, accounts, strict=True))
    return printable(f"first difference at {clock(parting.time)}: {'; '.join(told)}")


def _verb_of(account: Account, at: Clock) -> str:
    who, act = name(account.job), account.act
    if act is not None:
        limit = getattr(act, "limit", None)
        return f"{_VERBS.get(type(act), 'moves')} {who}{f' for {span(limit)}' if limit is not None else ''}"
    because = _reason_clause(account, at) if account.where == "queue" else ""
    return _LEFT[account.where].format(who) + because


def changed(entry: Versus) -> str:
    """Return the change from the first value to the second as text."""
    if not entry.change:
        return ""
    if entry.change >= 9:
        return f"× {entry.change + 1:,.0f}"
    told = percent(abs(entry.change))
    return told if "<" in told else f"{'+' if entry.change > 0 else '-'}{told}"


def names_of(specs: tuple[str, str]) -> tuple[str, str]:
    """Return short names of two runs; if the specs are long, a name is the part that the other spec lacks.

    >>> names_of(("easy", "fcfs")), names_of(("easy", "easy"))
    (('easy', 'fcfs'), ('A', 'B'))
    >>> names_of(("relaxed:omega=1.25", "easy")), names_of(("gang-migrate:mpl=2,q=0", "gang-migrate:mpl=2,q=64"))
    (('relaxed', 'easy'), ('q=0', 'q=64'))
    >>> names_of(("easy with exact", "easy")), names_of(("selective:sf=2,seats=apart", "selective:sf=2"))
    (('exact', 'recorded'), ('seats=apart', 'selective'))
    >>> names_of(("easy", "easy; without J17")), names_of(("easy; J3:procs=4", "easy; J3:procs=8"))
    (('main', 'without J17'), ('J3:procs=4', 'J3:procs=8'))
    """
    if specs[0] != specs[1] and max(map(len, specs)) <= LONGEST_NAME:
        return specs
    first, second = map(_title_parts, specs)
    one, other = _first_difference(first, second), _first_difference(second, first)
    return (one, other) if one != other and max(len(one), len(other)) <= LONGEST_NAME else ("A", "B")


def with_run(name: str) -> str:
    """Return words for what happens in a run, from its short name: `with easy`, `without J17`."""
    return name if name.startswith("without ") else f"with {name}"


def _title_parts(spec: str) -> list[str]:
    """Return the policy's name, its parameters, the kind of estimates ("recorded" by default), and changes of jobs."""
    run, *changes = spec.split("; ")
    policy, _, estimates = run.partition(" with ")
    name, _, parameters = policy.partition(":")
    return [name, *filter(None, parameters.split(",")), estimates or "recorded", *(changes or ["main"])]


def _first_difference(parts: list[str], others: list[str]) -> str:
    own = next((part for part in parts if part not in others), parts[0])
    return own if len(own) <= LONGEST_NAME else own.partition("=")[2] or own


def only_in_one(pairing: Pairing | None, workloads: tuple[Workload, Workload], names: tuple[str, str]) -> str:
    """Return sentences on the jobs that only one of two runs has, and on which are compared; "" without such jobs."""
    if pairing is None:
        return ""
    told = []
    for who, workload, ranks in zip(names, workloads, pairing, strict=True):
        if alone := [workload.jobs[rank] for rank in np.flatnonzero(ranks < 0).tolist()]:
            told.append(f"only {who} has {listed(map(name, alone), 3)}")
    of = "Waits and slowdowns are of jobs of both runs, counts and use of each run."
    return printable(f"O{'; '.join(told)[1:]}. {of}") if told else ""
