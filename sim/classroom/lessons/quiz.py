"""Endless quiz: questions on small random workloads, whose difficulty adapts to the answers.

The questions depend only on the seed, the number of the question and the difficulty. Users with the same seed get the
same questions as long as they answer equally well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.classroom.lessons.lesson import Ask, Kind, Lesson, LessonScene
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.questions import AnswerOption, Question
from sim.classroom.lessons.runs import FIRST, RunMoment, Runs
from sim.classroom.lessons.walk import Walk
from sim.decisions.decisions import Backfill, Start
from sim.policies import parse_policy
from sim.policies.parameters import summary
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock_near, count, name
from sim.workload.model import Field, Header, Trace, Workload

PROCS = 8
TRIES = 200
STREAK = 2
"""Number of right answers in a row after which the difficulty increases."""
FURTHEST = 3000
"""Number of first steps from which questions are drawn; with more jobs, all are about the next start."""
RIVALS = ("fcfs", "easy", "conservative", "relaxed:omega=2", "easy:order=sjf")
"""Policies to choose from, in questions that ask which policy made a schedule."""


@dataclass(frozen=True)
class Difficulty:
    """Difficulty of a question: how many jobs there are, and how hard the answer is to find."""

    jobs: int
    policies: tuple[str, ...]
    kinds: tuple[Kind, ...]
    factors: tuple[int, ...] = (1,)
    """Ratios of estimates to run times, from which one is chosen at random for each job."""


LEVELS = (
    Difficulty(7, ("fcfs", "firstfit"), ("next", "start")),
    Difficulty(8, ("easy",), ("next", "start")),
    Difficulty(8, ("easy", "conservative"), ("next", "start")),
    Difficulty(8, ("easy", "conservative", "easy:order=sjf", "relaxed:omega=2"), ("start", "policy", "gains")),
    Difficulty(9, ("easy", "conservative", "relaxed:omega=2", "selective"), ("next", "policy", "gains"), (1, 2, 3)),
)


@dataclass(frozen=True)
class Quiz:
    """State of a quiz: the present question, and the score from the questions before."""

    seed: int
    number: int = 1
    level: int = 0
    streak: int = 0
    right: int = 0
    answered: int = 0
    most: int | None = None
    """Number of questions in the quiz; None for an endless quiz."""
    policy: str = ""
    """Policy of all questions; "" to choose one at random for each question."""
    given: tuple[Trace, Workload] | None = None
    """Trace and workload of all questions; None for random workloads."""
    is_level_kept: bool = False
    """True if all questions have the same level, whatever the answers."""

    @classmethod
    def at_level(cls, seed: int, level: int, **given: Any) -> Quiz:
        """Return a quiz that stays at this level, 1 to 5; with 0 it begins at the first and follows the answers."""
        return cls(seed, level=max(level, 1) - 1, is_level_kept=level > 0, **given)

    @property
    def told(self) -> str:
        of = f"{self.right} of {count(self.answered, 'answer')} right"
        return f"{of}, at level {self.level + 1} of {len(LEVELS)} (seed {self.seed})"

    @property
    def is_over(self) -> bool:
        return self.most is not None and self.number > self.most

    def after(self, is_right: bool | None) -> Quiz:
        """Return the quiz at the next question; `is_right` is None if the present one was skipped."""
        streak = self.streak + 1 if is_right else 0
        up = streak >= STREAK and self.level + 1 < len(LEVELS) and not self.is_level_kept
        level = self.level + up - (is_right is False and self.level > 0 and not self.is_level_kept)
        return replace(
            self,
            number=self.number + 1,
            level=level,
            streak=0 if up else streak,
            right=self.right + bool(is_right),
            answered=self.answered + (is_right is not None),
        )

    def ask(self) -> tuple[Performance, Walk]:
        """Return the present question as an evaluated lesson with one scene, and the state of a user at this scene."""
        rng = np.random.default_rng([self.seed, self.number, self.level])
        for _ in range(TRIES):
            try:
                made = self._try_question(rng)
            except SchedscopeError:  # no question is possible here, for example because no job gains
                continue
            if made is not None:
                return made
        raise SchedscopeError("nothing worth a question was found: too few jobs wait in this trace")

    def _try_question(self, rng: np.random.Generator) -> tuple[Performance, Walk] | None:
        level = LEVELS[self.level]
        trace, workload = self.given or random_workload(rng, level)
        policy = self.policy or _draw_one(rng, level.policies)
        is_short = len(workload) <= FURTHEST
        kind = _draw_one(rng, level.kinds if is_short else ("next",))
        runs = Runs(workload, policy)
        scene = _scene(rng, kind, runs, by_passing=self.given is None and (kind, policy) != ("start", "fcfs"))
        if scene is None:
            return None
        told = f"Question {self.number}" + (f", {self.right} of {self.answered} right" if self.answered else "")
        scene = replace(scene, title=f"{told} · level {self.level + 1}", show=("queue",))
        if kind != "policy":
            scene = replace(scene, say=f"**{policy}**: {summary(type(parse_policy(policy)))}")
        lesson = Lesson("quiz", "Predict, then see", trace.name, (scene,), policy)
        performance = Performance(lesson, trace, workload)
        walk = Walk.of(performance)
        if kind not in ("next", "start") or not is_short:
            return performance, walk
        assert walk.staged.question is not None
        asked = with_mistakes(walk.staged.question, runs, walk.staged.moment, rng)
        if asked is None:
            return None if self.given is None else (performance, walk)
        return performance, replace(walk, scenes=(replace(walk.staged, question=asked),))


def _draw_one(rng: np.random.Generator, things: Sequence[Any]) -> Any:
    return things[int(rng.integers(len(things)))]


# Questions


def _scene(rng: np.random.Generator, kind: Kind, runs: Runs, by_passing: bool) -> LessonScene | None:
    """Return a random scene of this kind, or None; `by_passing`: not the queue's first job."""
    if kind in ("next", "start"):
        there = list(_starts(runs, by_passing))
        if not there:
            return None
        step, job = _draw_one(rng, there)
        if kind == "next":
            return LessonScene(at=f"#{step - 1}", before=f"job {job} starts", ask=Ask("next"))
        submit, start = runs.workload.submit, runs.schedule(FIRST).start[runs.workload.rank_of(job)]
        since = submit[submit < start].max()  # no job that is still to come can change the answer
        return LessonScene(at=f"{since:.12g}", select=job, ask=Ask("start", job=job))
    other = _draw_one(rng, [spec for spec in RIVALS if spec != runs.spec(FIRST)])
    if kind == "gains":
        return LessonScene(at=f"{runs.last(FIRST):.12g}", ask=Ask("gains", under=other))
    rivals = _differing(runs, rng)
    if len(rivals) < 2:
        return None
    return LessonScene(at=f"{runs.last(FIRST):.12g}", ask=Ask("policy", among=tuple(rivals)))


def _starts(runs: Runs, by_passing: bool) -> Iterator[tuple[int, str]]:
    """Yield (step, job's id) where exactly one waiting job starts while others wait; `by_passing`: not the first."""
    timeline = runs.timeline
    now, step = timeline.snapshot(), 0
    while step < FURTHEST:
        if not timeline.seek(step + 1) or timeline.step == step:
            return
        before, now, step = now, timeline.snapshot(), timeline.step
        waiting = [queued.job for queued in before.queue]
        begun = [d.job for d in now.decisions if isinstance(d, Start | Backfill)]
        is_one_of_several = len(waiting) > 1 and len(begun) == 1 and begun[0] in waiting
        if is_one_of_several and (begun[0] is not waiting[0] or not by_passing):
            yield step, begun[0].id


def _differing(runs: Runs, rng: np.random.Generator) -> list[str]:
    own = runs.spec(FIRST)
    found = [own]
    for spec in RIVALS:
        starts = runs.schedule(runs.branch(spec)).start
        if all((starts != runs.schedule(runs.branch(other)).start).any() for other in found):
            found.append(spec)
    return [found[place] for place in rng.permutation(min(len(found), 3)).tolist()]


# Random workloads


def random_workload(rng: np.random.Generator, level: Difficulty) -> tuple[Trace, Workload]:
    """Return the trace and workload of `level.jobs` random jobs, on a machine so small that some of them soon wait."""
    count = level.jobs
    table = np.full((count, len(Field)), -1.0)
    table[:, Field.ID] = np.arange(1, count + 1)
    table[:, Field.SUBMIT] = np.concatenate([[0], np.cumsum(30 * rng.integers(1, 6, count - 1))])
    procs = rng.integers(1, PROCS + 1, count)
    procs[0] = rng.integers(PROCS // 2, PROCS - 1)
    run = 60.0 * rng.integers(3, 25, count)
    table[:, Field.PROCS_USED] = table[:, Field.PROCS_ASKED] = procs
    table[:, Field.RUN] = run
    table[:, Field.ESTIMATE] = run * rng.choice(level.factors, count)
    table[:, Field.STATUS] = 1
    ids = tuple(str(number + 1) for number in range(count))
    trace = Trace("random", "swf", ids, table, Header(max_procs=PROCS, max_nodes=PROCS))
    return trace, Workload.of(trace).with_overruns()


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
