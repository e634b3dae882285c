"""Wrong answers of a quiz, made by plausible mistakes: what another policy would do next, or what the estimates say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sim.classroom.lessons.questions import AnswerOption, Question
from sim.classroom.lessons.runs import RunMoment, Runs
from sim.support.formatting import clock_near, name

OTHERS = ("firstfit", "fcfs", "easy", "easy:order=sjf", "conservative")
"""Policies for which a user may mistake the policy of the question: firstfit ignores the head's planned start."""
FEWEST, MOST = 3, 4
"""Numbers of choices that a question has, the right one included."""


def with_mistakes(asked: Question, runs: Runs, moment: RunMoment, rng: np.random.Generator) -> Question | None:
    """Return the question with shuffled choices, all but the right one mistakes; None if there are too few of them."""
    choices = _jobs(asked, runs, moment) if asked.choices else _times(asked, runs, moment)
    if len(choices) < FEWEST:
        return None
    shuffled = [choices[place] for place in rng.permutation(len(choices)).tolist()]
    if not asked.choices:
        shuffled = [replace(choice, key=f"{number}") for number, choice in enumerate(shuffled, 1)]
        asked = replace(asked, asks=f"When does {name(runs.workload.jobs[asked.rank or 0])} start?", value=None)
    return replace(asked, choices=tuple(shuffled))


def _jobs(asked: Question, runs: Runs, moment: RunMoment) -> Sequence[AnswerOption]:
    """Return the right job, then jobs that other policies would start next, that fit, and others of the queue."""
    jobs, ranks = runs.workload.jobs, [choice.rank for choice in asked.choices if choice.rank is not None]
    right = [choice for choice in asked.choices if choice.is_right]
    free = runs.at(asked.seen).free + sum(jobs[choice.rank or 0].procs for choice in right)
    of_policy: dict[int, str] = {}
    for policy, starts in _other_runs(runs, moment):
        of_policy.setdefault(min(ranks, key=lambda rank: starts[rank]), policy)

    def likeliness(choice: AnswerOption) -> tuple[bool, bool]:
        return choice.rank not in of_policy, jobs[choice.rank or 0].procs > free

    wrong = sorted((choice for choice in asked.choices if not choice.is_right), key=likeliness)
    if not any(jobs[choice.rank or 0].procs <= free for choice in wrong[: MOST - 1]):
        return right
    told = ((c, of_policy.get(-1 if c.rank is None else c.rank)) for c in wrong[: MOST - 1])
    return [
        *right,
        *(replace(c, why=f"It would be next if {policy} decided. {c.why}") if policy else c for c, policy in told),
    ]


def _times(asked: Question, runs: Runs, moment: RunMoment) -> Sequence[AnswerOption]:
    """Return the right start, then the job's starts under other policies, and its planned start."""
    assert asked.value is not None
    assert asked.rank is not None
    truth, at, rank = asked.value.number, clock_near(moment.clock), asked.rank
    found = {truth: ""}
    for policy, starts in _other_runs(runs, moment):
        found.setdefault(float(starts[rank]), f"It would start then if {policy} decided from here on.")
    planned = getattr(runs.at(moment).entry(rank), "planned", None)
    if planned is not None:
        found.setdefault(planned, "It is planned for then, by the estimates.")
    told = [(time, " ".join(filter(None, (why, asked.why_not(time))))) for time, why in found.items()]
    return [AnswerOption("", at(time), None, time == truth, why) for time, why in told if time > moment.clock][:MOST]


def _other_runs(runs: Runs, moment: RunMoment) -> Iterator[tuple[str, Sequence[float]]]:
    for policy in OTHERS:
        if policy != runs.spec(moment.branch):
            yield policy, runs.schedule(runs.switched(moment, policy)).start.tolist()
