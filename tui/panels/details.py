"""Panel about the selected job: request, state with reason, history, and how its planned start moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sim.decisions.decisions import Backfill, Expect, Interrupt, Keep, Reserve, Start
from sim.decisions.matrix import ReserveRow
from sim.life.job_state import JobState
from sim.support.formatting import count, name, processors_wanted, span, times
from sim.why.evidence import Considered, Evidence
from sim.why.facts import fact_row
from sim.workload.model import Field, Job
from tui.chart.partition_names import told_decision
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import Context, spark, taught, worded, written
from tui.panels.decision_icons import INDENT, rank_of, sign, with_sign
from tui.panels.queue_table import own_number
from tui.panels.sentence import clauses_of, evidence, standing

TITLE = "Job"
MOST_EVENTS = 60
MOST_CONSIDERED = 12
REASON = 2
"""Number of lines below the job's request that stay visible when the panel scrolls: the state and its reason"""


def draw(context: Context, size: Size, first: int) -> Sheet:
    job = context.scene.job
    if job is None or job.rank != context.selected:
        told = "Request, reason for waiting and history of the selected job appear here."
        return taught(TITLE, context, size, "Click a job, or / to find one.", told)
    width = size[0]
    it = context.about.workload.jobs[job.rank]
    it = it if job.submit is None else it.replaced(submit=job.submit)
    found = evidence(context, job.rank, job.passed)
    facts = _facts(context, it, width, job.submit is not None)
    body = [
        *facts,
        *_section("Now", context, _present_lines(context, job, width)),
        *_section("In numbers", context, numbers(context, found, width) if found else ()),
        *_section("Considered", context, considered(context, found, width) if found else ()),
        *_section("The policy's own numbers", context, _own_numbers(context, width)),
        *_section("Expansion factor", context, _xfactor(context, it, job, width)),
        *_section("Planned start", context, _plans(context, it, job, width)),
        *_section("Life", context, _life(context, it, job, width)),
    ]
    is_killed = bool(context.about.workload.killed[job.rank])
    reason = min(len(facts) + REASON, len(body) - 1)
    return Sheet(written(name(it), context), (), tuple(body), 0, len(body), _note(job, found, is_killed), reason)


def _note(job: JobState, found: Evidence | None, is_killed: bool) -> str:
    """Return the job's state and, with evidence, what the policy did about it, such as "could not start"."""
    if found is None or job.state not in ("waiting", "suspended"):
        return "killed" if is_killed and job.state == "finished" else job.state
    rejected = "could not start" if job.state == "waiting" else "could not resume"
    return f"{job.state}, {rejected if found.status == 'rejected' else found.status}"


def _section(title: str, context: Context, lines: Iterable[Line]) -> list[Line]:
    lines = list(lines)
    return [line(""), line(Span(title, "strong")), *lines] if lines else []


# Requested resources


def _facts(context: Context, job: Job, width: int, is_known: bool) -> list[Line]:
    """Return lines on the job's request, submission and user; `is_known` is False for an unknown submit time."""
    shown = context.scene.snapshot
    hue = context.scene.hues.get(job.rank)
    nodes, plain = shown.nodes, processors_wanted(job.procs, shown.procs, shown.there, "now")
    requested = plain if nodes is None else nodes.shape.asked(nodes.requests[job.rank])
    asked = f"{requested} · estimate {span(job.estimate)}"
    colour = Span("▇▇ " if context.unicode else "## ", "dim" if hue is None else f"hue:{hue}")
    lines = worded(asked, context, width, hang=3)
    when = f"submitted {context.exactly(job.submit)}" if is_known else "submitted when the jobs before it allow it"
    whose = " · ".join([when, *_user_group_queue(context, job)])
    return [line(colour, *lines[0].spans), *lines[1:], *worded(whose, context, width, "dim")]


def _user_group_queue(context: Context, job: Job) -> Iterator[str]:
    workload = context.about.workload
    for word, field, number in (("user", Field.USER, job.user), ("group", Field.GROUP, job.group)):
        if number >= 0:
            names = workload.names.get(field, ())
            yield f"{word} {names[number] if number < len(names) else number}"
    if job.queue >= 0:
        names = workload.names.get(Field.QUEUE, ())
        known = names[job.queue] if job.queue < len(names) else workload.header.queues.get(job.queue)
        yield f"queue {known or job.queue}"
    if job.high:
        yield "high priority"
    if job.reserve is not None:
        yield f"asked to start at {context.exactly(job.reserve)}"


def _present_lines(context: Context, job: JobState, width: int) -> list[Line]:
    clauses = standing(context, job)
    if "decisions" in context.visible and len(clauses) > 1 and _is_decided(clauses[0], context):
        clauses = clauses[1:]
    return [part for told in clauses for part in worded(told, context, width)]


def _is_decided(clause: str, context: Context) -> bool:
    """Return True if the clause repeats a decision of this step, which the sentence below the chart shows."""
    shown = context.scene.snapshot
    return any(clause == f"{told_decision(decision, shown, context.at)}." for decision in shown.decisions)


# Evidence


def numbers(context: Context, found: Evidence, width: int) -> list[Line]:
    told = (fact_row(fact, context.at) for fact in found.facts)
    rows = [(written(label, context), value) for label, value in told]
    margin = max((text.cells(label) for label, _ in rows), default=0) + 2
    lines: list[Line] = []
    for label, value in rows:
        first, *rest = worded(value, context, width, hang=margin)
        lines += [line(Span(text.pad(label, margin), "dim"), *first.spans), *rest]
    return lines


def considered(context: Context, found: Evidence, width: int) -> list[Line]:
    """Return lines with decisions that concern the selected job, without what another visible panel shows."""
    told = [(entry, told_decision(entry.decision, context.scene.snapshot, context.at)) for entry in found.log]
    known = " ".join(clauses_of(found))
    told = [(entry, words) for entry, words in told if not (_is_kept(entry) and words.partition(": ")[2] in known)]
    if "decisions" in context.visible:
        told = [(entry, words.partition(": ")[0]) for entry, words in told if not entry.is_own]
    concern = [(entry, words) for entry, words in told if entry.is_own or entry.touches]
    shown = concern[:MOST_CONSIDERED]
    lines = [part for entry, words in shown for part in _considered_lines(context, entry, words, width)]
    if left_out := len(told) - len(shown):
        others = count(left_out, "other decision")
        lines.append(line(Span(written(f"… and {others}", context), "dim")))
    return lines


def _is_kept(entry: Considered) -> bool:
    return entry.is_own and isinstance(entry.decision, Keep)


def _considered_lines(context: Context, entry: Considered, told: str, width: int) -> Sequence[Line]:
    style, rank = "strong" if entry.is_own else "", rank_of(entry.decision)
    return with_sign(sign(entry.decision, context.unicode), worded(told, context, width, style, hang=INDENT, rank=rank))


# Numbers of the policy


def _own_numbers(context: Context, width: int) -> Iterator[Line]:
    scene = context.scene
    so_far = ((column, [value for at, value in found if at <= scene.clock]) for column, found in scene.numbers)
    for column, values in ((column, values) for column, values in so_far if values):
        first, last = (own_number(column, value, context) for value in (values[0], values[-1]))
        told = f"{column.name} {last}" if first == last else f"{column.name} from {first} to {last}"
        meant = f": {column.meaning}" if column.meaning else ""
        yield line(Span(spark(values, width, context.unicode), "accent"))
        yield from worded(text.shorten(f"{told}{meant}", 200), context, width, "dim")


# How its expansion factor grew


def _xfactor(context: Context, it: Job, job: JobState, width: int) -> list[Line]:
    """Return the curve of the job's xfactor; empty if it was never interrupted or took turns in a matrix."""
    took_turns = any(kind == "gang" for _, _, kind in job.stretches)
    if context.scene.job is None or (job.state != "suspended" and len(job.stretches) < 2) or took_turns:
        return []
    end = context.scene.clock if job.end is None else job.end
    lasts = max(end - it.submit, 1)
    values = [_xfactor_at(it, job, it.submit + lasts * (column + 1) / width) for column in range(width)]
    values[-1] = _xfactor_at(it, job, end)
    told = f"from 1 to {values[-1]:.2f}: flat while it runs, rising while it waits or is suspended"
    return [line(Span(spark(values, width, context.unicode), "accent")), *worded(told, context, width, "dim")]


def _xfactor_at(it: Job, job: JobState, time: float) -> float:
    anew = [at for at, decision in job.decided if isinstance(decision, Start | Backfill | Interrupt) and at <= time]
    if job.state == "waiting" and job.stretches:
        anew.append(min(job.stretches[-1][1] or time, time))
    since = max(anew, default=it.submit)
    ran = sum(
        max(min(time if end is None else end, time) - max(start, since), 0)
        for start, end, kind in job.stretches
        if kind in ("run", "speculative")
    )
    return (time - it.submit - ran + it.estimate) / it.estimate


# How its planned start moved


def _plans(context: Context, it: Job, job: JobState, width: int) -> list[Line]:
    """Return lines with the curve of the job's planned starts, and how often they moved, or that there is none."""
    starts, shown = [plan.at for plan in job.planned], context.scene.snapshot
    if job.state == "waiting" and not starts and context.scene.planned_start(job.rank) is None:
        return worded(f"none so far: {shown.policy} has planned no start for it", context, width, "dim")
    if len(starts) < 2:
        return []
    moves = [after - before for before, after in pairwise(starts) if after != before]
    later = sum(move > 0 for move in moves)
    last = getattr(shown.entry(job.rank), "planned", None) or starts[-1]
    told = f"from {context.at(starts[0])} to {context.at(last)}, moved {times(len(moves))}"
    if any(isinstance(decision, ReserveRow) for _, decision in job.decided):
        anew = any(switch.time >= it.submit for switch in shown.switches)
        anew |= any(isinstance(decision, Interrupt) for _, decision in job.decided)
        told += ", in rows: moves of a turn or more" + ", or replanned" * anew
    ways = [f"{many:,} {way}" for many, way in ((len(moves) - later, "earlier"), (later, "later")) if many]
    curve = spark(starts, width, context.unicode)
    lines = worded(f"{told} ({', '.join(ways)})" if moves else told, context, width, "dim")
    return [line(Span(curve, "accent")), *lines] if len(starts) > 2 else lines


# Its life so far


def _life(context: Context, job: Job, shown: JobState, width: int) -> list[Line]:
    """Return the job's events; of its planned starts only the first, without the middle of a long history."""
    events = list(_events(context, job, shown))
    if not events:
        return []
    if len(events) > MOST_EVENTS:
        left_out = len(events) - MOST_EVENTS
        half = MOST_EVENTS // 2
        between = (events[half][0], Span("…", "dim"), count(left_out, "more event"))
        events = [*events[:half], between, *events[-half:]]
    stamp = max(text.cells(context.at(time)) for time, _, _ in events)
    lines: list[Line] = []
    for time, drawn, told in events:
        first, *rest = worded(told, context, width, hang=stamp + 4)
        when = Span(text.pad(context.at(time), stamp) + "  ", "dim")
        lines += [line(when, drawn, Span(" "), *first.spans), *rest]
    return lines


def _events(context: Context, job: Job, shown: JobState) -> Iterator[tuple[float, Span, str]]:
    now, unicode = context.scene.clock, context.unicode
    dot = Span("·" if unicode else "-", "dim")
    if shown.submit is not None and job.submit <= now:
        yield job.submit, dot, "submitted"
    planned = False
    for time, decision in shown.decided:
        if not (planned and isinstance(decision, Reserve | ReserveRow | Expect)):
            yield (
                time,
                sign(decision, unicode),
                told_decision(decision, context.scene.snapshot, context.at).removeprefix(f"{name(job)} "),
            )
        planned = planned or isinstance(decision, Reserve | ReserveRow | Expect)
    if shown.end is not None:
        yield shown.end, dot, f"ended, {span(shown.end - job.submit)} after its submission"
