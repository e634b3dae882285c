"""Sentence below the chart that always says the most important thing about the current state; what is known about a
job, which the panel about it shows, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from sim.decisions.decisions import Backfill, Decision, Drop, Resume, Start, Suspend, Switched
from sim.decisions.matrix import Migrate, Place
from sim.decisions.sentences import say
from sim.engine.snapshot import Snapshot
from sim.life.job_state import JobState
from sim.support.formatting import count, listed, name, percent, processors, span
from sim.why.evidence import Evidence, ended, evidence_of, to_come
from sim.why.facts import NOBODY, PassedBy
from tui.chart.lanes import busy_at
from tui.chart.partition_names import told_decision, with_partition_names
from tui.look import text
from tui.look.sheets import Line, Span, line, wrapped
from tui.panels.context import Context, nobody_waits, written
from tui.panels.decision_icons import rank_of, sign
from tui.panels.live_values import by_clock

NOTABLE: dict[type, tuple[str, str]] = {
    Switched: ("switch", "switches"),
    Suspend: ("suspension", "suspensions"),
    Resume: ("resumption", "resumptions"),
    Backfill: ("backfill", "backfills"),
    Start: ("start", "starts"),
    Place: ("place in the matrix", "places in the matrix"),
    Migrate: ("migration", "migrations"),
}
"""Singular and plural of each kind of decision that the sentence mentions, the most notable first"""
LONG = 500
"""Number of jobs from which on the sentence says first how to find what is worth seeing."""
RAGGED = 12
"""Number of columns that the sentence leaves free for each line break, as lines break between words."""
Told: TypeAlias = tuple[Span | None, Sequence[str]]
"""Icon or None, and clauses, the last of which are left out if there is too little space"""


def sentence(context: Context, width: int) -> Line:
    """Return the sentence in one line. It is about the selected job, the selected decision, the step, or the queue."""
    drawn, clauses = _sign_and_clauses(context)
    front = [drawn, Span(" ")] if drawn is not None else []
    room = width - 2 * bool(front)
    told = written(clauses[0], context)
    for clause in clauses[1:]:
        longer = f"{told} {written(clause, context)}"
        if text.cells(longer) > room:
            break
        told = longer
    return line(*front, Span(text.shorten(told, room)))


def sentence_lines(context: Context, width: int, rows: int) -> list[Line]:
    told = sentence(context, (width - 2) * rows - RAGGED * (rows - 1))
    lines = wrapped(told.text, width - 1, indent=1)[:rows]
    if len(told.spans) > 1:
        drawn = told.spans[0]
        lines[0] = line(" ", drawn, lines[0].text[1 + text.cells(drawn.text) :])
    return lines


def _sign_and_clauses(context: Context) -> Told:
    shown = context.scene.snapshot
    if context.decision is not None and context.decision < len(shown.decisions):
        decision = shown.decisions[context.decision]
        if "decisions" in context.visible and context.scene.then is not None:  # the panel has its sentence
            return sign(decision, context.unicode), tuple(
                _state_before(context.scene.then, context.decision, len(shown.decisions))
            )
        return sign(decision, context.unicode), (_decision_sentence(decision, context),)
    if context.selected is not None and context.scene.job is not None and "details" not in context.visible:
        return None, tuple(standing(context, context.scene.job))
    if shown.time is None:
        invited = () if context.filmed else ("Press space to play, → to step.",)
        return None, (*invited, *_ahead(context))
    if shown.next_time is None:
        return None, tuple(_run_is_over(shown))
    done = [decision for decision in shown.decisions if type(decision) in NOTABLE]
    if done:
        return _step(done, context)
    return None, tuple(_waiting(context))


def _state_before(then: Snapshot, index: int, many: int) -> Iterator[str]:
    """Yield clauses on the state before the selected decision, number `index` + 1 of the step's `many`."""
    yield f"Before decision {index + 1:,} of {many:,}:"
    waiting = f"{count(len(then.queue), 'job')} {'waits' if len(then.queue) == 1 else 'wait'}"
    yield f"{then.free:,} of {processors(then.there)} {'is' if then.free == 1 else 'are'} free, {waiting}."


def _decision_sentence(decision: Decision, context: Context) -> str:
    told = told_decision(decision, context.scene.snapshot, context.at) + "."
    return told if rank_of(decision) is not None else told[:1].upper() + told[1:]


def _ahead(context: Context) -> Iterator[str]:
    workload = context.about.workload
    if len(workload):
        policy = context.scene.snapshot.policy
        yield f"{count(len(workload), 'job')} on {processors(workload.procs)}, under {policy}."
        if context.filmed:
            return
        if len(workload) >= LONG:
            yield "W goes to the longest wait."
    yield "ctrl+p searches all commands."


def _run_is_over(shown: Snapshot) -> Iterator[str]:
    totals = shown.totals
    if left := len(shown.queue) + len(shown.suspended):
        yield f"The run has stalled with {count(left, 'unfinished job')}: {shown.policy} makes no further decisions."
        return
    yield f"The run is over: {count(totals.finished, 'job')}, mean wait {span(totals.mean_wait)}."
    yield f"Longest wait {span(totals.max_wait)}{' (press W to go there)' * (totals.max_wait > 0)}."
    yield f"Utilization {percent(totals.utilization)}."


def _step(done: Sequence[Decision], context: Context) -> Told:
    """Return the most notable decision and counts of others; if a panel shows these, the state after the step."""
    if "decisions" in context.visible:
        return None, tuple(_afterwards(context))
    first = min(done, key=lambda decision: [*NOTABLE].index(type(decision)))
    more = []
    for kind, nouns in NOTABLE.items():
        many = sum(type(decision) is kind for decision in done) - (type(first) is kind)
        if many == 1:
            other = next(decision for decision in done if type(decision) is kind and decision is not first)
            more.append(_decision_sentence(other, context).partition(": ")[0].removesuffix("."))
        elif many:
            noun = count(many, *nouns)
            more.append(noun.replace(" ", " more ", 1) if type(first) is kind else noun)
    rest = (f"{listed(more)}.",) if more else ()
    return sign(first, context.unicode), (_decision_sentence(first, context), *rest)


def _afterwards(context: Context) -> Iterator[str]:
    """Yield clauses on the state after the step, for when the panel of decisions already shows the decisions."""
    shown = context.scene.snapshot
    if shown.queue:
        head = shown.queue.jobs[0]
        if any(rank_of(decision) == head.rank for decision in shown.decisions):  # which says what it waits for
            yield f"{name(head)} heads the queue."
            yield from _jobs_behind_head(shown)
        else:
            yield from _waiting(context)
    if not shown.queue or shown.matrix is None:
        yield from _idle(context)


def _waiting(context: Context) -> Iterator[str]:
    shown = context.scene.snapshot
    if not shown.queue:
        yield from _idle(context)
        return
    head = shown.queue.jobs[0]
    if head.rank == context.selected and "details" in context.visible:
        yield f"{name(head)} heads the queue."
    elif found := evidence(context, head.rank):
        yield from clauses_of(found)
    yield from _jobs_behind_head(shown)


def _jobs_behind_head(shown: Snapshot) -> Iterator[str]:
    if others := len(shown.queue) - 1:
        yield f"{count(others, 'job')} {'waits' if others == 1 else 'wait'} behind it."


def _idle(context: Context) -> Iterator[str]:
    shown = context.scene.snapshot
    if shown.queue:
        pass
    elif not shown.suspended and shown.matrix is not None and len(shown.matrix.rows) > 1:
        yield f"The queue is empty: {count(len(shown.matrix.rows), 'row')} take turns."
    else:
        yield f"{nobody_waits(shown).capitalize()}."
    busy = busy_at(shown, context.scene.clock)
    yield f"{busy:,} of {processors(shown.there)} {'is' if busy == 1 else 'are'} busy."
    if shown.next_time is not None:
        yield f"The next step is at {context.at(shown.next_time)}."


# Evidence: why a job waits, is suspended or has started


def evidence(context: Context, rank: int, passed: PassedBy = NOBODY) -> Evidence | None:
    """Return the evidence about a job at the scene's time; None if it has ended or is not yet submitted."""
    scene = context.scene
    found = evidence_of(scene.snapshot, rank, context.at, passed)
    if found is None or scene.snapshot.time is None:
        return found
    return replace(found, snapshot=replace(scene.snapshot, time=scene.clock), entry=by_clock(found.entry, scene))


def standing(context: Context, job: JobState) -> tuple[str, ...]:
    if found := evidence(context, job.rank, job.passed):
        return clauses_of(found)
    it = context.about.workload.jobs[job.rank]
    it = it if job.submit is None else it.replaced(submit=job.submit)
    if job.state == "cancelled":
        return tuple(f"{say(decision, context.at)}." for _, decision in job.decided if isinstance(decision, Drop))
    return (
        to_come(it, context.at, job.submit)
        if job.end is None
        else ended(it, job.start, job.end, context.at, bool(context.about.workload.killed[it.rank])),
    )


def clauses_of(found: Evidence) -> tuple[str, ...]:
    return tuple(with_partition_names(clause, found.snapshot) for clause in found.clauses)
