"""Check the first difference of two runs, and what is reported about each side, against both schedules."""

import re
from collections.abc import Iterator, Sequence
from math import isnan
from typing import NamedTuple, TypeAlias

import numpy as np

from sim.comparison.comparison_sentences import headline, how_it_differs, names_of, what_it_did
from sim.comparison.differences import compare
from sim.comparison.divergence import Account, Acts, Side, account, part
from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.decisions import job_of
from sim.decisions.reasons_to_wait import PlannedLater
from sim.decisions.sentences import say
from sim.support.formatting import clock, clock_near
from sim.why.evidence import evidence_of
from sim.why.facts import Delays
from tests.truth.runs import Run
from tests.truth.words import COUNTS, UntrueError, demand, demand_equal, exactly, lasts, matched, reads, tried

Happened: TypeAlias = dict[float, set[tuple[str, int, float | None]]]


def read_parting(first: Run, second: Run) -> Iterator[UntrueError]:
    """Check the first time at which something happens in one of the runs only, what is reported about it for each run,
    and the totals."""
    found = part(Side.of(first.engine), Side.of(second.engine))
    sides = happened(first), happened(second)
    differ = [at for at in sorted({*sides[0], *sides[1]}) if sides[0].get(at, set()) != sides[1].get(at, set())]
    COUNTS["Divergence"] += 1
    if (found and found.time) != (differ[0] if differ else None):
        yield UntrueError(f"Divergence: said {found}, true {differ[:1]}")
    elif found is not None:
        for acts, here, there in zip(found.only, sides, sides[::-1], strict=True):
            only = here.get(found.time, set()) - there.get(found.time, set())
            if {(act.verb, act.rank, act.limit) for act in acts} != only:
                yield UntrueError(f"Divergence: said {acts}, true {only}")
        accounts: list[tuple[Account, ...]] = []
        for run in (first, second):
            accounts.append(tuple(account(run.scenario.watched(found.time), rank, found.time) for rank in found.ranks))
            for one in accounts[-1]:
                yield from read_account(run, one, found.time)
        names = names_of((first.spec, second.spec))
        lines = (
            (Headline, headline(found, names, (accounts[0], accounts[1]))),
            (Instead, how_it_differs(found, first.workload)),
        )
        for kind, told in lines:
            yield from tried(
                kind, told, Parted((first, second), names, found.time, (accounts[0][0], accounts[1][0]), found.only)
            )
    yield from read_figures(first, second)


class Parted(NamedTuple):
    """Two runs at the time of their first difference, and what happens there in each."""

    runs: tuple[Run, Run]
    names: tuple[str, str]
    time: float
    accounts: Sequence[Account]
    """Accounts (what happened to a job, and why) of the first job in the difference, one for each run"""

    acts: tuple[Acts, Acts]
    """For each run: the events that happen then in this run only, in order; they are checked elsewhere"""

    def first(self, side: int) -> tuple[str, str] | None:
        """Return (job, verb) of the first event that happens then only in run `side` (0 or 1); None if there is no such
        event."""
        acts = self.acts[side]
        return (f"J{self.runs[0].workload.jobs[acts[0].rank].id}", acts[0].verb) if acts else None


class Headline:
    """Kind of sentence: the time of the first difference, and what each run does with the first job."""


@reads(Headline, "first difference at {any}")
def _(parted: Parted, told: str) -> None:
    at = clock(parted.time)
    match = matched(rf"{at}: {re.escape(parted.names[0])} (.*); {re.escape(parted.names[1])} (.*)", told)
    for run, done, one in zip(parted.runs, match.groups(), parted.accounts, strict=True):
        does(run, parted.time, done, one)


def does(run: Run, time: float, done: str, one: Account) -> None:
    """Check that the run made the decision `done` at this time, or that the job is in this state afterwards.

    The reason why it waits is checked with its account.
    """
    step = [step for step in run.steps if step.now <= time][-1]
    match = matched(r"([a-z ]+) (J\d+)( waiting| running| suspended| in the matrix)?(?: for (\S+))?(?:: (.*))?", done)
    verb, name, rest, limit, because = match.groups()
    demand_equal(name, f"J{one.job.id}")
    rank = one.job.rank
    if kind := DEEDS.get(verb) if rest is None else None:
        made = [e for e in step.decisions if isinstance(e, kind) and job_of(e) == one.job and step.now == time]
        demand(made, f"it is not decided at {step.now}")
        true = getattr(made[0], "limit", None)
        demand(true is None if limit is None else true is not None and lasts(limit).is_about(true), true)
        return
    shown = step.shown
    there = {
        "keeps waiting": rank in [queued.job.rank for queued in shown.queue],
        "keeps running": rank in [running.job.rank for running in shown.running] and shown.matrix is None,
        "leaves suspended": rank in [halted.job.rank for halted in shown.suspended],
        "keeps in the matrix": rank in [running.job.rank for running in shown.running] and shown.matrix is not None,
        "ends": evidence_of(shown, rank) is None,
    }
    demand(there[verb + (rest or "")], "it is elsewhere")
    told = what_it_did(one, clock_near(time)).partition(": ")[2] if one.where == "queue" else ""
    demand_equal(because or "", told)


DEEDS: dict[str, type] = {
    "starts": d.Start, "backfills": d.Backfill, "places": m.Place, "resumes": d.Resume, "suspends": d.Suspend,
    "migrates": m.Migrate,
}  # fmt: skip


class Instead:
    """Kind of sentence: what the second run does at the first difference, and the first run does not."""


NOT = {
    "does not start": "starts", "does not resume": "resumes", "is not suspended": "suspended",
    "does not migrate": "migrates", "does not end": "ends",
}  # fmt: skip
DONE = {"starts": "starts", "resumes": "resumes", "is suspended": "suspended", "migrates": "migrates", "ends": "ends"}


@reads(Instead, "{j} {any}")
def _(parted: Parted, name: str, told: str) -> None:
    first, second = parted.first(0), parted.first(1)
    if told in NOT:
        return demand_equal(((name, NOT[told]), None), (first, second))
    done, left = "|".join(DONE), "|".join(NOT)
    match = matched(rf"({done})(?: (otherwise)| and ({left})| instead of (J\d+)(?:, which ({done}))?)?", told)
    verb, otherwise, undone, other, which = match.groups()
    there = (other or name, NOT[undone] if undone else DONE[which or verb]) if otherwise or undone or other else None
    return demand_equal(((name, DONE[verb]), there), (second, first))


def happened(run: Run) -> Happened:
    """Return for each time: what happened to jobs then, without the direct effects of a switch of the policy."""
    found: Happened = {}
    ran: set[int] = set()
    ends = run.engine.history.ends(len(run.workload)).tolist()
    for rank, end in enumerate(ends):
        if not isnan(end):
            found.setdefault(end, set()).add(("ends", rank, None))
    aside: set[int] = set()
    for step in run.steps:
        for decision in step.decisions:
            what = found.setdefault(step.now, set())
            match decision:
                case d.Start(job, _, _, limit) | d.Backfill(job, _, _, limit):
                    what.add(("starts", job.rank, limit))
                    ran.add(job.rank)
                case m.Place(job):
                    what.add(("resumes" if job.rank in aside else "starts", job.rank, None))
                    aside.discard(job.rank)
                case d.Resume(job):
                    what.add(("resumes", job.rank, None))
                    aside.discard(job.rank)
                case d.Suspend(job):
                    what.add(("suspended", job.rank, None))
                    aside.add(job.rank)
                case d.Interrupt(job):
                    aside.discard(job.rank)
                case m.Migrate(job):
                    what.add(("migrates", job.rank, None))
    return {at: what for at, what in found.items() if what}


def read_account(run: Run, one: Account, time: float) -> Iterator[UntrueError]:
    """Check that the account of a job says the same as the decision or the Why panel, which are checked elsewhere."""
    COUNTS["Account"] += 1
    told = what_it_did(one, exactly)
    step = [step for step in run.steps if step.now <= time][-1]
    found = evidence_of(step.shown, one.job.rank, exactly)
    if one.act is not None:
        if told not in [say(decision, exactly) for decision in step.decisions]:
            yield UntrueError(f"Account: {told}: nobody decided it")
    elif one.where == "finished":
        if found is not None:
            yield UntrueError(f"Account: {told}: it has not ended")
    elif found is None:
        yield UntrueError(f"Account: {told}: it has ended")
    elif isinstance(one.waits, PlannedLater) and one.delays is not None:
        delays = [fact for fact in found.facts if isinstance(fact, Delays)]
        if not delays or (delays[0].job, delays[0].seconds) != (one.delays.other, one.delays.seconds):
            yield UntrueError(f"Account: {told}: Why says {delays}")
    elif one.where == "queue":
        said = told.partition(": ")[2]
        if said and said not in found.clauses[0]:
            yield UntrueError(f"Account: {told}: Why says {found.clauses[0]}")


def read_figures(first: Run, second: Run) -> Iterator[UntrueError]:
    """Check how many of the jobs that ended in both runs start or end earlier or later, by how much, and which jobs
    gain and lose most."""
    schedules = first.engine.schedule(), second.engine.schedule()
    found = compare(*schedules)
    ended = ~np.isnan(schedules[0].end) & ~np.isnan(schedules[1].end)
    for what, columns in (("starts", [s.start for s in schedules]), ("ends", [s.end for s in schedules])):
        COUNTS["Moves"] += 1
        moves, later = getattr(found, what), (columns[1] - columns[0])[ended]
        early, late = -later[later < 0], later[later > 0]
        true = [len(early), float(early.sum()), len(late), float(late.sum())]
        said = [moves.earlier.jobs, moves.earlier.total, moves.later.jobs, moves.later.total]
        if not np.allclose(said, true) or moves.same != int((later == 0).sum()):
            yield UntrueError(f"Moves: of {what} said {said}, true {true}")
    later = schedules[1].end - schedules[0].end
    for changes, sign in ((found.gained, -1), (found.lost, 1)):
        most = sorted((sign * by for by in later.tolist() if sign * by > 0), reverse=True)[: len(changes)]
        COUNTS["Change"] += 1
        if not np.allclose([sign * change.later for change in changes], most):
            yield UntrueError(f"Change: said {changes}, true {most}")
