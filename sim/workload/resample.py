"""Resampled workloads in place of a recorded one: its weeks or users in random order, or jobs of a model.

Daily and weekly cycles are kept (Feitelson's resampling): only whole weeks move. Like the other random transforms,
these have a generator of their own, `default_rng(seed + 3)`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sim.errors import ParameterError
from sim.workload.model import Ints, Workload
from sim.workload.models import sud
from sim.workload.models.generated import offered
from sim.workload.models.hyper_erlang import fit
from sim.workload.models.lublin import generate

WEEK = 7 * 86400.0


def weeks(workload: Workload, seed: int = 0) -> Workload:
    """Return the workload with its weeks in random order; the last week, which is rarely whole, stays last."""
    week, many = _weeks_of(workload)
    order = np.append(np.random.default_rng(seed + 3).permutation(many), np.arange(many, many + 1))
    return _moved(workload, order[week] - week)


def users(workload: Workload, seed: int = 0) -> Workload:
    """Return a workload of as many random users, some of them repeated, whose jobs are moved by whole weeks.

    Weeks before the beginning move to the end. Copies of a user are different users.
    """
    if len(workload) and not (workload.user >= 0).any():
        raise ParameterError(f"no job of {workload.name} says whose it is: resample weeks, or by a model")
    week, many = _weeks_of(workload)
    rng = np.random.default_rng(seed + 3)
    known, of = np.unique(workload.user, return_inverse=True)
    drawn = np.sort(rng.integers(len(known), size=len(known)))
    ahead = rng.integers(max(many, 1), size=len(known))
    jobs = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of, minlength=len(known)))[:-1])
    ranks = np.concatenate([jobs[user] for user in drawn] or [np.empty(0, np.int64)])
    sizes = [len(jobs[user]) for user in drawn]
    copy = np.repeat(np.arange(len(drawn)) - np.searchsorted(drawn, drawn), sizes)
    shifted = (week[ranks] + np.repeat(ahead, sizes)) % max(many, 1)
    stays = week[ranks] >= many
    taken = workload.take(ranks)
    ids = tuple(f"{name}~{number + 1}" if number else name for name, number in zip(taken.ids, copy, strict=True))
    user = np.where(taken.user >= 0, taken.user + copy * (known.max(initial=0) + 1), taken.user)
    return _moved(replace(taken, ids=ids, user=user), np.where(stays, 0, shifted - week[ranks]))


def hyper_erlang(workload: Workload, seed: int = 0) -> Workload:
    """Return as many jobs of the model of Zhang et al., fitted to the jobs of each width."""
    return Workload.of(fit(workload).generate(len(workload), seed), workload.procs)


def lublin(workload: Workload, seed: int = 0) -> Workload:
    """Return as many jobs of Lublin and Feitelson's model on as many processors, without any of the recorded jobs."""
    return Workload.of(generate(len(workload), workload.procs, seed), workload.procs)


def uniform(workload: Workload, seed: int = 0) -> Workload:
    """Return a workload of as many jobs with uniform run times, on as many processors at the same load (Zhang et
    al.).
    """
    made = sud.generate(len(workload), workload.procs, seed, offered(workload) or None)
    return Workload.of(made, workload.procs)


def _weeks_of(workload: Workload) -> tuple[Ints, int]:
    """Return the week of each job, and the number of whole weeks before the last one."""
    week = np.floor(workload.submit / WEEK).astype(np.int64)
    week -= week.min(initial=week[0] if len(week) else 0)
    return week, int(week.max(initial=0))


def _moved(workload: Workload, by: Ints) -> Workload:
    """Return the jobs moved by some weeks, in their new order; requested starts move along."""
    later = by * WEEK
    moved = replace(workload, submit=workload.submit + later, reserve=workload.reserve + later)
    return moved.take(np.argsort(moved.submit, kind="stable"))


KINDS = {"weeks": weeks, "users": users, "hyper-erlang": hyper_erlang, "lublin": lublin, "sud": uniform}
