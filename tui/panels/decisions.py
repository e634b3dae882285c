"""Panel with the decisions of the policy in this step and their reasons, as a list or one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import Phase
from sim.decisions.sentences import words_of
from sim.engine.snapshot import Snapshot
from sim.support.formatting import count, listed, name
from sim.workload.model import Job
from tui.chart.partition_names import told_decision
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line, wrapped
from tui.panels.context import Context, nobody_waits, taught, window, worded, written
from tui.panels.decision_icons import INDENT, MOST_WRAPPED, rank_of, sign, with_sign

TITLE = "Decisions"
NAMED = 4


def draw(context: Context, size: Size, first: int) -> Sheet:
    shown = context.scene.snapshot
    if shown.time is None:
        told = "The decisions of each step appear here, each with its reason."
        return taught(TITLE, context, size, told, "Press → to make the first step.")
    happened = [*_happened(shown.arrived, "arrives", "arrive", "+", context, size[0])]
    is_killed = context.about.workload.killed
    cut = [job for job in shown.completed if is_killed[job.rank]]
    done = [job for job in shown.completed if not is_killed[job.rank]]
    happened += _happened(done, "ends", "end", "−", context, size[0])
    sign_of_cut = "×" if context.unicode else "x"
    happened += _happened(cut, "is killed", "are killed", sign_of_cut, context, size[0], ": its estimate is over")
    if not shown.decisions:
        quiet = taught(TITLE, context, size, *_nothing_decided(shown))
        body = (*happened, *([line("")] if happened else []), *quiet.body)
        return Sheet(TITLE, (), body, 0, len(body), "none")
    runs = _runs(context)
    if len(runs) > MOST_WRAPPED:
        return _one_line_each(context, size, first, happened, runs)
    lines, mark = list(happened), None
    for run in runs:
        if mark is None and _is_meant(run, context):
            mark = len(lines)
        lines += _run_lines(run, context, size[0])
    return Sheet(TITLE, (), tuple(lines), 0, len(lines), _note(context), mark)


def _one_line_each(context: Context, size: Size, first: int, happened: Sequence[Line], runs: Sequence[range]) -> Sheet:
    above = len(happened)
    mark = next((above + at for at, run in enumerate(runs) if _is_meant(run, context)), None)
    seen = window(above + len(runs), first, size[1])
    body = tuple(
        happened[at] if at < above else _run_lines(runs[at - above], context, size[0], wrap=False)[0] for at in seen
    )
    return Sheet(TITLE, (), body, seen.start, above + len(runs), _note(context), mark)


def _is_meant(run: range, context: Context) -> bool:
    """Return True if `run` begins with the selected decision or, without one, with one about the selected job."""
    if context.decision is not None:
        return run.start == context.decision
    return context.selected is not None and rank_of(context.scene.snapshot.decisions[run.start]) == context.selected


def _runs(context: Context) -> list[range]:
    """Return ranges of decisions that share a line: keeps for one reason, or phases that change no job."""
    decisions, selected = context.scene.snapshot.decisions, context.selected
    if context.decision is not None:
        return [range(index, index + 1) for index in range(len(decisions))]
    runs: list[range] = []
    quiet = _in_quiet_phases(decisions)
    for index, decision in enumerate(decisions):
        first = runs[-1].start if runs else None
        is_quiet = index in quiet
        if (
            first is not None
            and is_quiet == (first in quiet)
            and (is_quiet or _have_same_reason(decisions[first], decision, selected))
        ):
            runs[-1] = range(first, index + 1)
        else:
            runs.append(range(index, index + 1))
    return runs


def _in_quiet_phases(decisions: Sequence[Decision]) -> set[int]:
    starts = [index for index, decision in enumerate(decisions) if isinstance(decision, Phase)]
    phases = (range(start, stop) for start, stop in pairwise([*starts, len(decisions)]))
    return {index for phase in phases if all(rank_of(decisions[at]) is None for at in phase) for index in phase}


def _have_same_reason(one: Decision, other: Decision, selected: int | None) -> bool:
    """Return True if both keep jobs waiting for one reason that has a plural, and none is the selected job."""
    return (
        isinstance(one, Keep)
        and isinstance(other, Keep)
        and bool(words_of(one.because).of_all)
        and type(one.because) is type(other.because)
        and one.because == other.because
        and selected not in (one.job.rank, other.job.rank)
    )


def _run_lines(run: range, context: Context, width: int, wrap: bool = True) -> list[Line]:
    decisions = context.scene.snapshot.decisions[run.start : run.stop]
    first = decisions[0]
    if context.decision is None and isinstance(first, Phase) and not _is_followed(run, context):
        return _quiet_phases([phase.name for phase in decisions if isinstance(phase, Phase)], context, width, wrap)
    if len(run) == 1 or not isinstance(first, Keep):
        return _lines(first, run.start, context, width, wrap)
    names = _names([decision.job for decision in decisions if isinstance(decision, Keep)])
    told = f"{names} wait: {words_of(first.because).of_all}"
    return with_sign(sign(first, context.unicode), worded(told, context, width, "dim", hang=INDENT))


def _is_followed(run: range, context: Context) -> bool:
    """Return True if the decision after the range belongs to the last phase (of a matrix rebuild) in it."""
    following = context.scene.snapshot.decisions[run.stop : run.stop + 1]
    return bool(following) and not isinstance(following[0], Phase)


def _quiet_phases(names: Sequence[str], context: Context, width: int, wrap: bool) -> list[Line]:
    told = written(f"phase{'s' * (len(names) > 1)} {' · '.join(names)}: no job moves", context)
    return wrapped(told, width, "dim") if wrap else [line(Span(text.shorten(told, width), "dim"))]


def _note(context: Context) -> str:
    decisions = context.scene.snapshot.decisions
    if context.decision is not None:
        return f"{context.decision + 1:,} of {len(decisions):,}"
    kept = sum(isinstance(decision, Keep) for decision in decisions)
    made = len(decisions) - kept - sum(isinstance(decision, Phase) for decision in decisions)
    then = (
        f"then {context.scene.snapshot.free:,} free" if made and kept and context.scene.snapshot.matrix is None else ""
    )
    waits = f"{kept:,} kept waiting" if not then else f"{kept:,} {'waits' if kept == 1 else 'wait'}"
    return " · ".join(filter(None, (f"{made:,} made" if made else "", waits if kept else "", then)))


def _nothing_decided(shown: Snapshot) -> tuple[str, ...]:
    if shown.matrix is not None:
        return ("No change to the matrix: it is rebuilt when a job arrives or ends; until then its rows take turns.",)
    if shown.queue:
        many = len(shown.queue)
        return (f"No decisions: {count(many, 'job')} {'keeps' if many == 1 else 'keep'} waiting.",)
    return (f"No decisions: {nobody_waits(shown)}.",)


def _happened(
    jobs: Sequence[Job], one: str, many: str, mark: str, context: Context, width: int, why: str = ""
) -> list[Line]:
    if not jobs:
        return []
    told = f"{_names(jobs)} {one if len(jobs) == 1 else many}{why if len(jobs) == 1 else ''}"
    lines = worded(told, context, width, "dim", hang=INDENT, rank=jobs[0].rank if len(jobs) == 1 else None)
    return with_sign(Span(mark, "dim"), lines)


def _names(jobs: Sequence[Job]) -> str:
    names = [name(job) for job in jobs[:NAMED]]
    return listed([*names, f"{len(jobs) - NAMED:,} more"] if len(jobs) > NAMED else names, NAMED + 1)


def _lines(decision: Decision, index: int, context: Context, width: int, wrap: bool = True) -> list[Line]:
    """Return a decision as lines, one without `wrap`; in italics if it comes after the selected decision."""
    walked = context.decision
    here, to_come = index == walked, walked is not None and index > walked
    if isinstance(decision, Phase):
        style = "dim italic" if to_come else "accent" if here else "strong"
        return [line(Span(written(f"phase {decision.name}", context), style))]
    told, rank = told_decision(decision, context.scene.snapshot, context.at), rank_of(decision)
    if isinstance(decision, Keep) and walked is None and rank == context.selected and "details" in context.visible:
        told = told.partition(": ")[0]  # its own panel has the reason
    style = "dim italic" if to_come else "strong" if here else "dim" if isinstance(decision, Keep) else ""
    drawn = sign(decision, context.unicode)
    if here:
        drawn = Span("▸" if context.unicode else ">", "accent")
    elif to_come:
        drawn = drawn._replace(style="dim")
    if wrap:
        return with_sign(drawn, worded(told, context, width, style, hang=INDENT, rank=rank))
    return with_sign(drawn, [line(Span(text.shorten(written(told, context), width - INDENT), style), rank=rank)])
