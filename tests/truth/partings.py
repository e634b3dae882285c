"""Where two runs part, and what is said of each side there, read from what happened in both."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TypeAlias

import numpy as np

from sim.comparison.differences import compare
from sim.comparison.parting import Account, Side, account, part
from sim.comparison.telling import tell
from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.reasons_to_wait import PlannedLater
from sim.decisions.sentences import say
from sim.why.evidence import evidence_of
from sim.why.facts import Delays
from tests.truth.runs import Run
from tests.truth.words import COUNTS, UntrueError, exactly

Happened: TypeAlias = dict[float, set[tuple[str, int, float | None]]]


def read_parting(first: Run, second: Run) -> Iterator[UntrueError]:
    """The first instant at which something happens in one of them alone, the accounts of both, and the figures."""
    found = part(Side.of(first.engine), Side.of(second.engine))
    sides = happened(first), happened(second)
    differ = [at for at in sorted({*sides[0], *sides[1]}) if sides[0].get(at, set()) != sides[1].get(at, set())]
    COUNTS["Parting"] += 1
    if (found and found.time) != (differ[0] if differ else None):
        yield UntrueError(f"Parting: said {found}, true {differ[:1]}")
    elif found is not None:
        for acts, here, there in zip(found.only, sides, sides[::-1], strict=True):
            only = here.get(found.time, set()) - there.get(found.time, set())
            if {(act.verb, act.rank, act.limit) for act in acts} != only:
                yield UntrueError(f"Parting: said {acts}, true {only}")
        for run in (first, second):
            for rank in found.ranks:
                one = account(run.scenario.watched(found.time), rank, found.time)
                yield from read_account(run, one, found.time)
    yield from read_figures(first, second)


def happened(run: Run) -> Happened:
    """time -> what happened to jobs then; without what a switch does."""
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
    """What is told of a job there is what Why says of it, which is read by itself."""
    COUNTS["Account"] += 1
    told = tell(one, exactly)
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
    """How many start and end earlier and later, by how much together, who gains and loses most."""
    schedules = first.engine.schedule(), second.engine.schedule()
    found = compare(*schedules)
    for what, columns in (("starts", [s.start for s in schedules]), ("ends", [s.end for s in schedules])):
        COUNTS["Moves"] += 1
        moves, later = getattr(found, what), columns[1] - columns[0]
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
