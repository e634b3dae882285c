"""Check a whole run: every sentence that the program shows, or a random part of them; yield the false ones."""

import random
from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import NamedTuple

from sim.decisions.decisions import Backfill, Decision, Resume, Start, Switched
from sim.decisions.matrix import Phase, Place
from sim.life.life import life_of
from sim.life.story import own_numbers
from sim.policies import parse_policy
from sim.policies.policy import columns_of
from sim.timeline.timeline import Timeline
from sim.why.evidence import evidence_of
from sim.why.explanation import passed_by
from tests.truth import cancelled, numbers, shares
from tests.truth.decided import after_pass, do, instant, read_decision
from tests.truth.frames import Frame
from tests.truth.helping import Reality
from tests.truth.lives import Chronicle
from tests.truth.panels import Sight, read_panels
from tests.truth.runs import Run, Step, start_alone
from tests.truth.spoken import read_frame
from tests.truth.stories import read_life
from tests.truth.summaries import Fair
from tests.truth.told import After, Pass, read_evidence
from tests.truth.traces import Traces
from tests.truth.words import UntrueError, exactly, tried
from tests.truth.world import World
from tui.cli.explain import had_nobody_come, in_reality
from tui.replay.stage import OwnNumbers

__all__ = ["cancelled", "numbers", "shares"]  # importing these modules registers their checks


LOOKS = 0.1
"""Share of the steps at which the panels are checked as well."""


class Untruth(NamedTuple):
    """A false sentence: where it is, and what is wrong."""

    policy: str
    step: int
    time: float
    what: str


def falsehoods(run: Run, asked: int) -> Iterator[Untruth]:
    """Yield the false sentences of a run: of all decisions, and of what Why says of `asked` random jobs after every
    step."""
    world = run.world()
    reader = Reader(run, asked, world)
    for number, step in enumerate(run.steps, 1):
        for false in reader.read_step(world, number, step):
            yield Untruth(world.rules.spec, number, step.now, str(false))
    for false in (*reader.read_lives(), *reader.read_causes()):
        yield Untruth(run.spec, len(run.steps), world.now, str(false))


class Reader:
    """Checker of a run's sentences, which remembers from step to step the facts that Why can mention."""

    def __init__(self, run: Run, asked: int, world: World) -> None:
        ranks = range(len(run.workload))
        self._lot = random.Random(asked)
        self.chronicle = Chronicle(world, self._lot.sample(ranks, min(asked, len(ranks))), run.switches)
        self._traces = Traces(self.chronicle)
        self._run, self._asked = run, asked
        self._looked = random.Random(len(run.steps))
        self._usage: list[float] = []
        self._considered: tuple[Decision, ...] = ()
        self._planned: dict[int, float] = {}
        self._passed: dict[int, dict[int, Pass]] = {}

    def read_step(self, world: World, number: int, step: Step) -> Iterator[UntrueError]:
        instant(world, step.now)
        for decision in step.decisions:
            try:
                read_decision(world, decision)
            except UntrueError as false:
                yield false
                do(world, decision)
            self._note_passes(world, decision)
            self.chronicle.note(decision)
        after_pass(world)
        self._note_who_is_in_the_way(world)
        self._note_considered(world, step.decisions)
        after = After(world, self._considered, self._planned, self._passed)
        self.chronicle.close(after)
        users = [world.jobs[rank].user for rank in self.chronicle.watched[:1]]
        self._usage += [world.usage.of[user] for user in users if user in world.usage.of]
        self._traces.note(after)
        yield from self._ask(world, number, step, after)
        if len(ranks := range(len(world.jobs))) and self._looked.random() < LOOKS:
            rank = self._looked.choice(ranks) if self._numbers is None else self.chronicle.watched[0]
            if self._numbers is not None:
                self._numbers.read(number, inf)
            told = world.jobs[rank], self.chronicle.records[rank], self._numbers, self._usage
            sight = Sight(self._run, step, number, after, *told)
            yield from read_panels(sight)
            until = step.shown.next_time or step.now
            yield from read_frame(Frame(sight, step.now + (until - step.now) * self._looked.choice([0, 0.3, 0.8])))
        self._planned = {rank: plan.at for rank, plan in after.planned.items()}

    @cached_property
    def _numbers(self) -> OwnNumbers | None:
        """The policy's own numbers of the first watched job; None if the run has a switch or the policy keeps no
        numbers."""
        run = self._run
        if run.switches or not columns_of(parse_policy(run.spec)):
            return None
        timeline = Timeline(run.workload, run.spec, placement=run.placement)
        timeline.compute_all()
        return OwnNumbers(timeline.branch, run.workload.jobs[self.chronicle.watched[0]])

    def read_causes(self) -> Iterator[UntrueError]:
        """Check, for random steps, jobs and processors, to which step the key `r` (go to the cause) leads."""
        run = self._run
        for _ in range(self._asked * 3 if run.steps and len(run.workload) else 0):
            step, rank = self._lot.randint(1, len(run.steps) + 1), self._lot.randrange(len(run.workload))
            yield from self._traces.read(run.engine.history, step, rank, self._lot.randrange(run.workload.procs))

    def read_lives(self) -> Iterator[UntrueError]:
        """Check what `explain` reports about the lives of the watched jobs."""
        run = self._run
        for rank in self.chronicle.watched:
            life = life_of(run.workload, run.spec, rank, placement=run.placement, switches=run.switches)
            numbers = own_numbers(run.scenario, rank)
            for false in read_life(self.chronicle, life, self._passed.get(rank, {}), numbers):
                yield UntrueError(f"J{rank + 1}: {false}")
            job = run.workload.jobs[rank]
            if run.spec == "recorded" and not run.switches and None not in (job.recorded_start, life.start):
                yield from tried(
                    Reality,
                    in_reality(run.scenario, rank),
                    run,
                    job.replaced(submit=self.chronicle.world.jobs[rank].submit),
                )
            if rank == self.chronicle.watched[0] and not run.workload.follows:
                yield from tried(Fair, had_nobody_come(life, run.scenario), life, start_alone(run, rank))

    def _note_passes(self, world: World, decision: Decision) -> None:
        """Record that the job, which starts now, passes every earlier arrival that still waits."""
        if isinstance(decision, Start | Backfill | Place | Resume):
            for rank in world.waiting:
                one, other = world.jobs[rank], world.jobs[decision.job.rank]
                if (one.submit, rank) < (other.submit, other.rank):
                    before = world.place(other) < world.place(one)
                    passed = self._passed.setdefault(rank, {})
                    passed.setdefault(decision.job.rank, Pass(world.now, decision.job.rank, before))

    def _note_who_is_in_the_way(self, world: World) -> None:
        """Record which jobs now hold processors without which a waiting job that they passed would fit."""
        free = world.free_set().bit_count()
        for rank in world.waiting & self._passed.keys():
            passes, needs = self._passed[rank], world.jobs[rank].procs
            held = {other: world.jobs[other].procs for other in passes if other in world.running}
            if world.memo_rows is not None and world.memo_rows.columns.keys() & passes.keys():
                passes.update({other: each._replace(in_the_way_since=None) for other, each in passes.items()})
            elif (
                free < needs <= free + sum(held.values())
                and world.now + world.jobs[rank].estimate <= world.closes() + 1e-6
            ):
                guilty = {other: passes[other] for other in held if passes[other].in_the_way_since == inf}
                passes.update({other: each._replace(in_the_way_since=world.now) for other, each in guilty.items()})

    def _note_considered(self, world: World, decisions: tuple[Decision, ...]) -> None:
        """Record the decisions of this pass; with a matrix only if the pass rebuilt the rows, because only then jobs
        are considered."""
        if world.memo_rows is None or any(isinstance(d, Phase | Switched) for d in decisions):
            self._considered = decisions

    def _ask(self, world: World, number: int, step: Step, after: After) -> Iterator[UntrueError]:
        there = [*world.waiting, *world.aside, *world.running, *(world.memo_rows.ran if world.memo_rows else ())]
        past = self._run.engine.history.as_of(number)
        for rank in self._lot.sample(there, min(self._asked, len(there))):
            job = self._run.workload.jobs[rank].replaced(submit=world.jobs[rank].submit)
            found = evidence_of(step.shown, rank, exactly, passed_by(past, job, self._run.workload.outages))
            if found is None:
                yield UntrueError(f"nothing is told of {world.jobs[rank].name}")
            else:
                yield from read_evidence(after, found, step.decisions)
