"""Evidence (facts and decisions) about the selected job, for the panels: why it waits, is suspended or has started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.decisions.decisions import Drop, Keep
from sim.decisions.sentences import say
from sim.life.job_state import JobState
from sim.support.formatting import count
from sim.why.evidence import Considered, Evidence, ended, evidence_of, to_come
from sim.why.facts import NOBODY, PassedBy, fact_row
from tui.chart.partition_names import told_decision, with_partition_names
from tui.look import text
from tui.look.sheets import Line, Span, line
from tui.panels.context import Context, worded, written
from tui.panels.decision_icons import INDENT, rank_of, sign, with_sign
from tui.panels.live_values import by_clock

MOST_CONSIDERED = 12


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
    lines = [part for entry, words in shown for part in _lines(context, entry, words, width)]
    if left_out := len(told) - len(shown):
        others = count(left_out, "other decision")
        lines.append(line(Span(written(f"… and {others}", context), "dim")))
    return lines


def _is_kept(entry: Considered) -> bool:
    return entry.is_own and isinstance(entry.decision, Keep)


def _lines(context: Context, entry: Considered, told: str, width: int) -> Sequence[Line]:
    style, rank = "strong" if entry.is_own else "", rank_of(entry.decision)
    return with_sign(sign(entry.decision, context.unicode), worded(told, context, width, style, hang=INDENT, rank=rank))
