"""What words on the screen mean: the help lists them, and the pointer tells them where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tui.look import text
from tui.look.sheets import Line
from tui.panels.parts import Context

GLOSSARY = (
    ("backfilling", "A job passes others that wait before it, because it fits into a hole and delays no promise."),
    ("bounded slowdown", "Slowdown, in which runs of less than 10 s count as 10 s, so that tiny jobs do not rule."),
    ("estimate", "How long a job may run: the policy plans with it and kills the job at its end."),
    (
        "extra processors",
        "EASY: what is left over when the head starts; a job that needs no more may pass at any length.",
    ),
    ("foreign, away", "Processors that another partition had at first; those of its own that another has now."),
    ("head", "The job that waits first in the queue."),
    ("loss of capacity", "Processors that stand idle while somebody waits who could have used them."),
    ("Ousterhout matrix", "Gang scheduling: rows that take turns on all processors; a job stands in a row."),
    ("partition", "A part of the machine with a queue of its own; its boundary moves when it borrows processors."),
    ("pivot", "The first in a queue of its own without a reservation: nobody may delay it."),
    ("replica", "A job that stands in a second row, too, and so gets more turns."),
    ("reservation", "A promise: processors from a moment on, which nobody may take."),
    ("shadow", "When enough will be free for the head, by the estimates of those who run."),
    ("slowdown", "Time from submission to end, over the time that the job ran."),
    ("utilization", "Share of the processors that are busy."),
    ("xfactor", "Expansion factor: wait and estimate over the estimate. It grows while a job waits."),
)
PANELS = {
    "Queue": "Who waits, in the order in which the policy looks at them.",
    "Decisions": "What the policy just did, and whom it kept waiting, each with its reason in numbers.",
    "Job": "The selected job: what it asks for, why it waits, and its life so far.",
    "Matrix": "The rows that take turns on all processors, and who stands where in each; ) ( walk the turns.",
    "Partitions": "Who owns the processors, and who has lent or borrowed some.",
    "Compared": "The numbers of both runs beside each other, where they part, and who gains and loses.",
    "Prints": "What the policy prints, step by step.",
    "Whole run": "All that has been computed: a click or a drag goes to a moment.",
    "Numbers so far": "Of the jobs that have ended by now.",
}
"""Title -> what the panel is for."""
_HERE = {
    "job": "Its number in the trace, with its colour, as long as its share of the machine. A click selects it.",
    "procs": "How many processors it needs.",
    "waited": "How long it has waited since it was submitted.",
    "starts": "When it is promised to start.",
    "may start": "When it would start if all went as planned: made anew at each pass, no promise.",
    "~may start": "When it is promised to start; with ~ when it would if all went as planned, which is no promise.",
    "moved": "By how much its planned start came earlier (▲) or later (▼) in this step.",
    "why": "Why it does not run; where it says from when, it is planned for then.",
    "runs cut short": "Speculative runs that reached their limit: the job was taken away and waits again.",
    "borrowed": "How often a processor changed its partition.",
    "worst slowdown": "The greatest bounded slowdown.",
    "missed starts": "Jobs that started later than they had asked for.",
    "ended": "Jobs that are done.",
    "under way": "Jobs that have started and are not done.",
    "not started": "Jobs that were submitted and have not run yet.",
    "needs": "How many processors, and for how long by its estimate.",
    "free now": "Processors that nobody holds at this moment.",
    "most free": "The row of the matrix in which most places are free.",
    "enough free": "When there will be room for it, by the estimates of those who run.",
    "before it": "Jobs that stand before it in the queue, and what they want together.",
    "passed by": "Jobs that came later and have started before it.",
    "planned for": "When the policy means to start it.",
    "asked for": "The start that was asked for when it was submitted.",
    "started now": "What would be if it started at this moment.",
    "has run": "How long it has had its processors, and how long it may.",
    "in its place": "Who is on the processors on which it has to go on.",
    "its procs": "The processors on which it has to go on.",
    "passes": "Jobs that came before it and go on waiting.",
    "ended now": "Jobs that gave back their processors in this step.",
    "used": "Share of the processors that are busy, over the time so far.",
    "waiting": "How many jobs wait, over the time so far.",
    "wanted": "How many processors those who wait want together, over the time so far.",
    "util": "Share of the processors that are busy, over the whole run.",
    "queue": "How many jobs wait, over the whole run.",
}
"""What is written on a panel -> what it means there."""
_ALONE = "A click shows it alone, z the one in focus."


@cache
def _meanings() -> dict[str, str]:
    from sim.metrics.catalogue import METRICS

    return (
        {metric.title: f"{metric.meaning[0].upper()}{metric.meaning[1:]}." for metric in METRICS}
        | dict(GLOSSARY)
        | _HERE
    )


def title_meaning(title: str) -> str:
    """What the panel is for; one that is called after a job tells of it."""
    return f"{PANELS.get(title, PANELS['Job'])}\n{_ALONE}"


def meaning_at(context: Context, line: Line, column: int) -> str:
    """What the word under the pointer means, or the number behind such a word; nothing of any other."""
    own = {own.name: own.meaning for own in context.scene.snapshot.columns if own.meaning}
    for word in reversed([word for at, word in _words(line) if at <= column]):
        known = own.get(word) or _meanings().get(word)
        if known or not re.search(r"\d|–", word):
            return known or ""
    return ""


def _words(line: Line) -> Iterator[tuple[int, str]]:
    """(column, words) of what is written there, parted by more than a blank or by another style."""
    at = 0
    for span in line.spans:
        for found in re.finditer(r"\S+(?: \S+)*", span.text):
            yield at + text.cells(span.text[: found.start()]), found[0]
        at += text.cells(span.text)
