"""Check the sentence under the chart, the numbers of the run so far, and what Why says between two steps."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.reasons_to_wait import MachineGoesDown
from sim.decisions.sentences import say, why
from tests.truth.frames import SIZE, Frame, Waiting, in_order, nobody_waits, of_queue
from tests.truth.outcomes import interruptions
from tests.truth.told import goes_down, others
from tests.truth.words import Lasts, Tenths, UntrueError, demand, demand_equal, lasts, reads, tried, whole
from tests.truth.world import World, has_room
from tui.panels.numbers_so_far import draw_metrics, figures
from tui.panels.sentence import evidence, sentence


def read_frame(frame: Frame) -> Iterator[UntrueError]:
    told = [*of_queue(frame), (Sentence, sentence(frame.context, 5000).text)]
    told += [*_grown(frame), *_numbers(frame)]
    for kind, each in told:
        yield from tried(kind, each, frame)
    if (ids := [each.split()[1] for kind, each in told if kind is Waiting]) != (true := in_order(frame)):
        yield UntrueError(f"Waiting: {ids}, true {true}")


def _numbers(frame: Frame) -> Iterator[tuple[type, str]]:
    yield Figure, f"note: {draw_metrics(frame.context, SIZE).note}"
    for figure in figures(frame.context):
        if figure.name in NUMBERS:
            yield Figure, f"{figure.name}: {figure.value}"


NUMBERS = (
    "utilization", "mean wait", "bounded slowdown", "worst wait", "interruptions", "killed", "worst slowdown",
    "longest in queue",
)  # fmt: skip
"""Names of numbers in the line above the chart that are no counts of decisions; all others are."""


class Sentence:
    """Kind of sentence: the one under the chart when no job is selected."""


NOUNS = {
    d.Switched: "switch", d.Suspend: "suspension", d.Resume: "resumption", d.Backfill: "backfill", d.Start: "start",
    m.Place: "place", m.Migrate: "migration",
}  # fmt: skip
"""For each type of decision, the most notable first: the noun with which the sentence counts decisions"""


@reads(Sentence, "The run is over: {n} job(s), mean wait {s}. Longest wait {s}{any}. Utilization {any} %.")
def _(frame: Frame, many: int, wait: Lasts, worst: Lasts, more: str, share: str) -> None:
    world = frame.world
    demand(frame.is_last)
    demand_equal(many, len(world.finished))
    jobs = [world.jobs[rank] for rank in world.finished]
    waits = [max(0.0, world.first_start[job.rank] - max(job.submit, job.reserve or 0)) for job in jobs] or [0]
    demand(wait.is_about(mean(waits)) and worst.is_about(max(waits)), f"{mean(waits)}, {max(waits)}")
    demand_equal(more, " (press W to go there)" * (max(waits) > 0))
    is_share(share, 100 * sum(job.procs * job.run for job in jobs) / capacity(world))


@reads(Sentence, "The run has stalled with {n} unfinished job{any}: {any} makes no further decisions.")
def _(frame: Frame, many: int, plural: str, spec: str) -> None:
    demand(frame.is_last)
    demand_equal((many, spec), (len(frame.waiting) + len(frame.world.aside), frame.world.rules.spec))
    demand_equal(plural, "" if many == 1 else "s")


@reads(Sentence, "No job waits. {n} of {n} processor(s) {any} busy. The next step is at {any}.")
def _(frame: Frame, busy: int, of: int, verb: str, at: str) -> None:
    is_idle(frame, busy, of, verb, at)
    demand(nobody_waits(frame) and (frame.world.memo_rows is None or len(frame.world.memo_rows.rows) < 2))


@reads(
    Sentence, "The queue is empty: {n} rows take turns. {n} of {n} processor(s) {any} busy. The next step is at {any}."
)
def _(frame: Frame, rows: int, busy: int, of: int, verb: str, at: str) -> None:
    is_idle(frame, busy, of, verb, at)
    demand_equal(rows, len(frame.world.memo_rows.rows))
    demand(nobody_waits(frame))


@reads(Sentence, "No job waits; {n} {any} suspended. {n} of {n} processor(s) {any} busy. The next step is at {any}.")
def _(frame: Frame, many: int, verbs: str, busy: int, of: int, verb: str, at: str) -> None:
    is_idle(frame, busy, of, verb, at)
    demand_equal((many, verbs), (len(frame.world.aside), "is" if many == 1 else "are"))


def is_idle(frame: Frame, busy: int, of: int, verb: str, at: str) -> None:
    world = frame.world
    if world.memo_rows is None:
        taken = world.there() & ~world.free_set()
    else:
        on_turn = frame.rows.on_turn
        taken = 0 if on_turn is None else frame.rows.taken(on_turn)
    demand_equal((busy, of, verb), (taken.bit_count(), world.size(), "is" if busy == 1 else "are"))
    demand(not world.waiting and not _notable(frame))
    after = frame.sight.run.steps[frame.number]
    if not any(isinstance(each, d.Switched) for each in after.decisions):  # an engine alone does not know of switches
        demand_equal(at, frame.at(after.now), "next")


def _notable(frame: Frame) -> list[d.Decision]:
    return [each for each in frame.sight.step.decisions if type(each) in NOUNS]


@reads(Sentence, "{any}")
def _(frame: Frame, told: str) -> None:
    demand(not frame.is_last)
    done = _notable(frame)
    if done:
        _was_done(frame, told, done)
    else:
        _head_waits(frame, told)


def _was_done(frame: Frame, told: str, done: Sequence[d.Decision]) -> None:
    """Check that the sentence shows the first decision of the most notable type; the others must be named or, if
    several are alike, counted."""
    many = Counter(map(type, done))
    kind = next(kind for kind in NOUNS if kind in many)
    first = frame.world.named(say(next(each for each in done if type(each) is kind), frame.at))
    begin = told.lower().find(f"{first}.".lower())
    demand(begin in (0, 2), f"first {first}")
    plural = {noun: noun + "es" * (noun == "switch") + "s" * (noun != "switch") for noun in NOUNS.values()}
    rest = told[begin + len(first) :]
    found = re.findall(rf"(?<!\w)(\d[\d,]*) (?:more )?({'|'.join(plural.values())})\b", rest)
    more = {noun: whole(number) for number, noun in found}
    true = {each: many[each] - (each is kind) for each in NOUNS}
    demand_equal(more, {plural[NOUNS[each]]: n for each, n in true.items() if n > 1}, "more")
    for each in (each for each, n in true.items() if n == 1):
        other = [decision for decision in done if type(decision) is each][each is kind]
        act = frame.world.named(say(other, frame.at)).partition(": ")[0]
        demand(act.lower() in rest.lower(), act)


def _head_waits(frame: Frame, told: str) -> None:
    """Check that the sentence says what Why says of the head, and how many jobs wait behind it."""
    head, *others = frame.waiting
    found = evidence(frame.context, head.rank)
    verb = "1 job waits" if len(others) == 1 else f"{len(others)} jobs wait"
    clauses = [*map(frame.world.named, found.clauses if found else ()), *([f"{verb} behind it."] if others else [])]
    demand_equal(told, " ".join(clauses))


# Between two steps
class Grown:
    """Kind of sentence: one of Why at a time between two steps."""


def _grown(frame: Frame) -> Iterator[tuple[type, str]]:
    world = frame.world
    there = sorted({*world.waiting, *world.aside, *world.running, *(world.memo_rows.ran if world.memo_rows else ())})
    if there and frame.clock // 86400 == world.now // 86400:
        rank = there[frame.number % len(there)]
        found = evidence(frame.context, rank)
        for told in found.clauses if found else ():
            if re.search(LONG, told):
                yield Grown, f"{world.jobs[rank].name}: {told}"


LONG = r"(has waited|has been suspended for|has run for) ([^ :,.]+(?:\.\d+s)?)"
"""Regular expression for a length of time that grows between two steps, with the words before it."""
ONLY_FROM = r" now, but [\d,]+ stays? free for its estimate of \S+ only from (\S+)\.$"
"""Regular expression for the end of the sentence on a job that fits now, but not for its whole estimate, and that was
not reconsidered"""


@reads(Grown, "{j}: {any}")
def _(frame: Frame, name: str, told: str) -> None:
    """Check a sentence of Why between two steps: only its lengths of time differ from those right after the step."""
    job, world = frame.world.by_name[name], frame.world
    context = replace(frame.context, scene=replace(frame.context.scene, clock=world.now))
    was = evidence(context, job.rank)
    then = [re.sub(LONG, r"\1", clause) for clause in (was.clauses if was else ())]
    if (said := re.sub(LONG, r"\1", told)) not in then:
        stays = frame.after.planned[job.rank].lasts if job.rank in frame.after.planned else job.estimate
        late = MachineGoesDown(world.closes(), frame.clock + stays)
        if told.endswith(f": {why(late, context.about.workload.jobs[job.rank], context.at)}."):
            demand(goes_down(frame.after, job, frame.clock) and job.procs <= world.free(), "it has time, or no room")
        else:
            unseen = r" and would fit, but it is planned for \1 and the policy has not reconsidered it."
            demand(re.sub(ONLY_FROM, unseen, said) in then)
            beside = others(frame.after, job)
            demand(not has_room(world.procs, job.procs, frame.clock, job.estimate, beside), "there is room by now")
    grows = re.search(LONG, told)
    assert grows is not None
    held = world.running.get(job.rank)
    if grows[1] == "has waited":
        true = max(0.0, frame.clock - max(job.submit, job.reserve or 0))
    elif grows[1] == "has been suspended for":
        true = frame.clock - world.aside[job.rank].since
    elif held is None:
        true = frame.rows.ran[job.rank]
    else:
        true = world.progress(job.rank) + (frame.clock - world.now) * (held.kind in ("run", "speculative"))
    demand(lasts(grows[2]).is_about(true), true)


class Figure:
    """Kind of text: one of the numbers of the run so far."""


@reads(Figure, "{any}: {any}")
def _(frame: Frame, name: str, told: str) -> None:
    world = frame.world
    jobs = [world.jobs[rank] for rank in world.finished]
    waits = [max(0.0, world.first_start[job.rank] - max(job.submit, job.reserve or 0)) for job in jobs]
    idle = [(world.end_of[job.rank] - job.submit - job.run, job.run) for job in jobs]
    slowdowns = [1 + idle / max(run, 10) for idle, run in idle]
    if name == "note":
        demand_equal(told, f"{len(jobs)} of {len(world.jobs)} job{'s' * (len(world.jobs) != 1)} ended")
    elif name == "killed":
        demand_equal(whole(told), sum(world.killed[job.rank] for job in jobs))
    elif name == "interruptions":
        demand_equal(whole(told), interruptions(frame.sight.run, frame.number))
    elif name == "longest in queue":
        submits = (max(job.submit, job.reserve or 0) for job in frame.waiting)
        demand(lasts(told).is_about(max(0.0, *(frame.clock - submit for submit in submits))), "longest in queue")
    elif name == "utilization":
        _is_used(frame, told)
    elif not jobs:
        demand_equal(told, "–")
    elif name.endswith("wait"):
        true = mean(waits) if name.startswith("mean") else max(waits)
        demand(lasts(told).is_about(true), true)
    else:
        true = mean(slowdowns) if name.startswith("bounded") else max(slowdowns)
        demand(Tenths(told).is_about(true) or abs(float(told) - true) <= true / 100, true)


def _is_used(frame: Frame, told: str) -> None:
    """Check the utilization so far: the work done divided by the possible work since the first arrival."""
    world, ran = frame.world, (frame.world.memo_rows.ran if frame.world.memo_rows else {})
    there = capacity(world)
    done = sum(job.procs * ran.get(job.rank, world.progress(job.rank)) for job in world.jobs)
    is_share(told.removesuffix(" %"), 100 * done / there if there else 0)


def is_share(told: str, true: float) -> None:
    """Check a share in percent; a small one must not be written as 0 %, nor one near 100 % as 100 %."""
    if told in ("<0.1", ">99.9"):
        demand(0 < true < 0.1 if told[0] == "<" else 99.9 < true < 100 + 1e-6, true)
    else:
        demand(Tenths(told).is_about(true), true)


def capacity(world: World) -> float:
    """Return the processor seconds that were available since the first arrival."""
    times = [world.jobs[0].submit, world.now]
    times = sorted({*times, *(t for t in world.changes() if times[0] < t < times[1])})
    return sum((world.procs - world.absent(a).bit_count()) * (b - a) for a, b in pairwise(times))
