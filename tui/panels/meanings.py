"""Meanings of the words on the screen, for the help and for tooltips."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from tui.look import text
from tui.look.sheets import Line

GLOSSARY = (
    (
        "backfilling",
        "Starting a job before jobs ahead of it in the queue, in a hole of the plan where it delays no promised start.",
    ),
    ("bounded slowdown", "Slowdown in which runs shorter than 10 s count as 10 s, so that tiny jobs do not dominate."),
    ("estimate", "User's limit of a job's run time: the policy plans with it, and the job is killed at its end."),
    (
        "extra processors",
        "EASY: processors left over when the head starts; a job that needs no more may start now, however long it is.",
    ),
    ("borrowed, lent", "Processors that another partition had at first; those of its own that another has now."),
    ("head", "First job in the queue that cannot start."),
    ("loss of capacity", "Share of processor time that is idle while jobs wait."),
    ("Ousterhout matrix", "Gang scheduling: rows of jobs that take turns on all processors."),
    ("partition", "A part of the machine with a queue of its own; its boundary moves when it borrows processors."),
    ("pivot", "First job without a reservation in a partition's queue; no other job may delay it."),
    ("replica", "Copy of a job in a second row, which gives it more turns."),
    ("reservation", "Promise of processors from a given time on; no other job may use them."),
    ("shadow", "Shadow time: when enough processors will be free for the head, by the estimates of the running jobs."),
    ("slowdown", "Time from submission to end, over the time that the job ran."),
    ("utilization", "Share of the processors in use."),
    ("xfactor", "Expansion factor: wait and estimate over the estimate. It grows while a job waits."),
)
PANELS = {
    "Queue": "The waiting jobs in the policy's order.",
    "Decisions": "The decisions of this step, including jobs kept waiting, each with its reason.",
    "Job": "The selected job: what it asks for, why it waits, and its life so far.",
    "Matches": "Every step that meets the condition typed after /; ↑ ↓ and enter go to one, esc closes the list.",
    "Matrix": "The rows that take turns on all processors, with their jobs; ) and ( go to the next and previous turn.",
    "Partitions": "Which partition owns which processors, and which are lent or borrowed.",
    "Compared": "Both runs side by side: metrics, first difference, jobs that gain and lose most.",
    "Code": "The policy's code: the line that made the decision, with the values and comparisons before it.",
    "Prints": "Output of the policy, step by step.",
    "Whole run": "The whole computed run: click or drag to go to a moment.",
    "Numbers so far": "Metrics of the jobs that have ended.",
}
_HERE = {
    "job": "Its number in the trace, with its colour, as long as its share of the machine. A click selects it.",
    "procs": "Processors needed.",
    "waited": "Time since its submission; of a suspended job, without the time it ran.",
    "longest in queue": "Longest wait so far of a job that still waits.",
    "starts": "Promised start.",
    "may start": "Expected start by the current plan; recomputed at every step, not a promise.",
    "~may start": "Promised start; with ~ the expected start by the current plan, which is not a promise.",
    "moved": "Move of its planned start in this step: earlier (▲) or later (▼).",
    "why": "Why it does not run; 'from' gives its planned start, ~ the start by the current plan (no promise).",
    "runs cut short": "Speculative runs killed at their limit; the job is queued again.",
    "borrowed": "Number of times that a processor changed its partition.",
    "worst slowdown": "The greatest bounded slowdown.",
    "missed starts": "Jobs that started after their requested start.",
    "ended": "Jobs that have ended.",
    "under way": "Jobs that have started and not ended.",
    "not started": "Jobs that were submitted and have not run yet.",
    "needs": "Processors needed, and for how long by its estimate.",
    "free now": "Processors that are free now.",
    "most free": "Row of the matrix with the most free columns.",
    "enough free": "When enough processors will be free for it, by the estimates of the running jobs.",
    "ahead of it": "Jobs ahead of it in the queue and their total processors.",
    "passed by": "Jobs that arrived later and started before it.",
    "planned for": "Planned start.",
    "asked for": "Start that its user requested.",
    "if started": "Effect of starting it now.",
    "has run": "Time that it has run, and its estimate.",
    "on its procs": "Jobs on the processors that it must resume on.",
    "its procs": "The processors that it must resume on.",
    "passes": "Jobs that arrived before it and still wait.",
    "ended now": "Jobs that ended in this step.",
    "used": "Share of the processors in use, over time so far.",
    "waiting": "Number of waiting jobs, over time so far.",
    "wanted": "Total processors requested by the waiting jobs, over time so far.",
    "busy": "Share of the processors in use, over the whole run.",
    "queue": "Number of waiting jobs, over the whole run.",
}
_ALONE = "Click the title, or press z, to enlarge the panel."


@cache
def _meanings() -> dict[str, str]:
    from sim.metrics.catalogue import METRICS

    return (
        {metric.title: f"{metric.meaning[0].upper()}{metric.meaning[1:]}." for metric in METRICS}
        | dict(GLOSSARY)
        | _HERE
    )


def title_meaning(title: str) -> str:
    """Return what the panel shows; a title not in `PANELS` is a job's name, the title of the details."""
    return f"{PANELS.get(title, PANELS['Job'])}\n{_ALONE}"


def meaning_at(own: Mapping[str, str], line: Line, column: int) -> str:
    """Return the meaning of the word at a column or, for a number, of the word before it; `own` are the policy's."""
    for word in reversed([word for at, word in _parts_of(line) if at <= column]):
        known = own.get(word) or _meanings().get(word)
        if known or not re.search(r"\d|–", word):
            return known or ""
    return ""


def _parts_of(line: Line) -> Iterator[tuple[int, str]]:
    """Yield (column, text) for each part of a line; a part ends at two blanks or where the style changes."""
    at = 0
    for span in line.spans:
        for found in re.finditer(r"\S+(?: \S+)*", span.text):
            yield at + text.cells(span.text[: found.start()]), found[0]
        at += text.cells(span.text)
