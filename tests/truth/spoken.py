"""The sentence under the chart, the line above it, and what Why says between two steps, read once more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.sentences import say
from tests.truth.frames import Frame, Waiting, in_order, nobody_waits, of_queue
from tests.truth.pictures import of_matrix, of_partitions
from tests.truth.words import Lasts, Tenths, UntrueError, demand, demand_equal, read_aloud, reads
from tui.panels.evidence import evidence
from tui.panels.sentence import sentence
from tui.panels.top import Going, top_line


def read_frame(frame: Frame) -> Iterator[UntrueError]:
    told = [*of_queue(frame), (Sentence, sentence(frame.context, 5000).text)]
    about, scene = frame.context.about, frame.context.scene
    told.append((Top, " ".join(top_line(about, scene, Going(speed="x1"), 800).text.split())))
    told += [*of_partitions(frame), *of_matrix(frame)] if frame.world.owners or frame.world.memo_rows else []
    told += _grown(frame)
    for kind, each in told:
        try:
            read_aloud(kind, each, frame)
        except UntrueError as false:
            yield false
    if (ids := [each.split()[1] for kind, each in told if kind is Waiting]) != (true := in_order(frame)):
        yield UntrueError(f"Waiting: {ids}, true {true}")


# The sentence under the chart, and the line above


class Sentence:
    """What it tells when nobody is selected."""


NOUNS = {
    d.Switched: "switch", d.Suspend: "suspension", d.Resume: "resumption", d.Backfill: "backfill", d.Start: "start",
    m.Place: "place", m.Migrate: "migration",
}  # fmt: skip
"""The most notable first"""


@reads(
    Sentence,
    "The run is over: {n} job, mean wait {s}. The worst waited {s}{any}. Utilization {x} %.",
    "The run is over: {n} jobs, mean wait {s}. The worst waited {s}{any}. Utilization {x} %.",
)
def _(frame: Frame, many: int, wait: Lasts, worst: Lasts, more: str, share: Tenths) -> None:
    world = frame.world
    demand(frame.is_last)
    demand_equal(many, len(world.finished))
    jobs = [world.jobs[rank] for rank in world.finished]
    waits = [max(0.0, world.first_start[job.rank] - max(job.submit, job.reserve or 0)) for job in jobs] or [0]
    demand(wait.is_about(mean(waits)) and worst.is_about(max(waits)), f"{mean(waits)}, {max(waits)}")
    demand_equal(more, ": W goes there" * (max(waits) > 0))
    times = [world.jobs[0].submit, world.now]
    times = sorted({*times, *(t for t in world.changes() if times[0] < t < times[1])})
    there = sum((world.procs - world.absent(a).bit_count()) * (b - a) for a, b in pairwise(times))
    demand(share.is_about(100 * sum(job.procs * job.run for job in jobs) / there), there)


@reads(Sentence, "Nothing happens any more, and {n} job{any} for ever: {any} forgets {any}.")
def _(frame: Frame, many: int, wait: str, spec: str, whom: str) -> None:
    demand(frame.is_last)
    demand_equal((many, spec), (len(frame.waiting) + len(frame.world.aside), frame.world.rules.spec))
    demand_equal((wait, whom), (" waits", "it") if many == 1 else ("s wait", "them"))


@reads(Sentence, "Nobody waits. {n} of {n} processor(s) {any} busy. The next step is at {any}.")
def _(frame: Frame, busy: int, of: int, verb: str, at: str) -> None:
    is_idle(frame, busy, of, verb, at)
    demand(nobody_waits(frame) and (frame.world.memo_rows is None or len(frame.world.memo_rows.rows) < 2))


@reads(Sentence, "Nobody queues: {n} rows take turns. {n} of {n} processor(s) {any} busy. The next step is at {any}.")
def _(frame: Frame, rows: int, busy: int, of: int, verb: str, at: str) -> None:
    is_idle(frame, busy, of, verb, at)
    demand_equal(rows, len(frame.world.memo_rows.rows))
    demand(nobody_waits(frame))


@reads(
    Sentence,
    "Nobody waits but {n} job{any} suspended. {n} of {n} processor(s) {any} busy. The next step is at {any}.",
)
def _(frame: Frame, many: int, verbs: str, busy: int, of: int, verb: str, at: str) -> None:
    is_idle(frame, busy, of, verb, at)
    demand_equal((many, verbs), (len(frame.world.aside), " that is" if many == 1 else "s that are"))


def is_idle(frame: Frame, busy: int, of: int, verb: str, at: str) -> None:
    world = frame.world
    if world.memo_rows is None:
        taken = world.there() & ~world.free_set()
    else:
        on_turn = world.memo_rows.on_turn
        taken = 0 if on_turn is None else world.memo_rows.taken(on_turn)
    demand_equal((busy, of, verb), (taken.bit_count(), world.size(), "is" if busy == 1 else "are"))
    demand(not world.waiting and not _notable(frame))
    after = frame.sight.run.steps[frame.number]
    if not any(isinstance(each, d.Switched) for each in after.decisions):  # of switches an engine alone knows nothing
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
    """The first of the most notable kind, and how many more there were."""
    many = Counter(map(type, done))
    kind = next(kind for kind in NOUNS if kind in many)
    first = say(next(each for each in done if type(each) is kind), frame.at)
    begin = told.lower().find(f"{first}.".lower())
    demand(begin in (0, 2), f"first {first}")
    more = {noun: int(number) for number, noun in re.findall(r"(\d+) (?:more )?(\w+)", told[begin + len(first) :])}
    true = {noun: many[each] - (each is kind) for each, noun in NOUNS.items()}
    plural = {noun: noun + "es" * (noun == "switch") + "s" * (noun != "switch") for noun in true}
    demand_equal(more, {noun if n == 1 else plural[noun]: n for noun, n in true.items() if n}, "more")


def _head_waits(frame: Frame, told: str) -> None:
    """What Why says of the head, and how many stand behind it."""
    head, *others = frame.waiting
    found = evidence(frame.context, head.rank)
    verb = "1 job waits" if len(others) == 1 else f"{len(others)} jobs wait"
    clauses = [*(found.clauses if found else ()), *([f"{verb} behind it."] if others else [])]
    demand_equal(told, " ".join(clauses))


class Top:
    """The line above everything."""


@reads(Top, "random · {n} procs · {n} jobs {any} ‖ x1 {any} step {n} / {n}+")
def _(frame: Frame, procs: int, many: int, spec: str, at: str, step: int, known: int) -> None:
    demand_equal((procs, many), (frame.world.procs, len(frame.world.jobs)))
    demand_equal((spec, step), (frame.world.rules.spec, frame.number))
    day, hours, minutes, seconds = map(int, re.split("[d :]+", at)[1:])
    demand(abs(day * 86400 + hours * 3600 + minutes * 60 + seconds - frame.clock) < 1, frame.clock)
    demand_equal(known, frame.number)


# As time passes


class Grown:
    """What Why tells of a job between two steps."""


def _grown(frame: Frame) -> Iterator[tuple[type, str]]:
    """But for how long it waits, or has run, the same as after the step."""
    world, now = frame.world, replace(frame.context.scene, clock=frame.sight.step.now)
    there = sorted({*world.waiting, *world.aside, *world.running, *(world.memo_rows.ran if world.memo_rows else ())})
    if not there or frame.clock // 86400 != world.now // 86400:
        return
    rank = there[frame.number % len(there)]
    then, grown = (evidence(context, rank) for context in (replace(frame.context, scene=now), frame.context))
    for was, told in zip(then.clauses if then else (), grown.clauses if grown else (), strict=True):
        if was != told:
            yield Grown, f"{world.jobs[rank].name}: {_with_lengths(was, told)}"


def _with_lengths(was: str, told: str) -> str:
    """Only lengths of time may be others: what they were stands before them."""
    lengths = r"( has waited| suspended for| has run for) [^ :,.]+(?:\.\d+s)?"
    demand_equal(re.sub(lengths, r"\1", told), re.sub(lengths, r"\1", was))
    return told


@reads(Grown, "{j}: {any} has waited {s}: {any}", "{j}: {any} has been suspended for {s}, {any}")
def _(frame: Frame, name: str, it: str, long: Lasts, rest: str) -> None:
    job = frame.world.by_name[name]
    aside = frame.world.aside.get(job.rank)
    since = max(job.submit, job.reserve or 0) if aside is None else aside.since
    demand(long.is_about(max(0, frame.clock - since)), frame.clock - since)


@reads(Grown, "{j}: It has run for {s} of at most {s}.")
def _(frame: Frame, name: str, ran: Lasts, most: Lasts) -> None:
    rank = frame.world.by_name[name].rank
    held = frame.world.running.get(rank)
    if held is None:
        true = frame.rows.ran[rank]
    else:
        true = frame.world.progress(rank) + (frame.clock - frame.world.now) * (held.kind in ("run", "speculative"))
    demand(ran.is_about(true), true)
