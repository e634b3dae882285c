"""Keys of the screen for an observed cluster; actions that also exist on the replay screen have the same keys."""

from __future__ import annotations

from collections.abc import Sequence

from tui.look.sheets import Line
from tui.screens.fitting_keys import GAP, fitting_keys
from tui.screens.replay.keys import Key, every_key, sign

SHARED = (
    "step(1)", "step(-1)", "jump(1)", "jump(-1)", "choose_jump", "go_to", "go_begin", "go_end", "to_stop(1)",
    "to_stop(-1)", "stops", "escape", "bookmark", "bookmarks", "find", "why", "colour", "next_panel", "previous_panel",
    "maximise", "first_screen",
    "toggle_panel('queue')", "toggle_panel('details')", "toggle_panel('strip')", "all_panels", "theme", "help", "quit",
)  # fmt: skip
"""Actions of the replay screen, too; a step here is a poll of the cluster."""
OWN = (
    Key("2", "toggle_panel('events')", "events", "Show or hide what happened since the picture before."),
    Key("s", "mine_first", "mine", "Only your own jobs, all in the usual order, or your own first.", 5),
    Key("v", "list_jobs", "lists", "List the jobs that wait, that run, or that have ended.", 3),
    Key("O", "sort", "sort", "Sort the jobs by the next column; a click on a heading does, too."),
    Key("C", "columns", "columns", "Choose the columns of the list, and the one to sort by; they are kept."),
    Key("u", "what_if", "what if", "When the selected job would start, and what would let it start earlier."),
    Key("f", "new_job", "new job", "When a job that you have not submitted would start, or what fits now.", 6),
    Key("right_parenthesis", "move_ghost(1)", "later", "Move the new job to the next time at which it fits."),
    Key("left_parenthesis", "move_ghost(-1)", "earlier", "Move it to the time before."),
    Key("p", "partition", "partition", "List the jobs of the next partition, or of all together.", 4),
    Key("r", "poll_now", "poll now", "Ask the cluster now, at most every 10 s."),
)
SHOWN = (
    "why", "what_if", "new_job", "find", "list_jobs", "mine_first", "step(1)", "go_end", "columns", "jump(1)",
    "partition", "stops", "colour", "next_panel",
    "help", "quit",
)  # fmt: skip
SIGNS = (
    ("n1 1/2 ▆", "a node, its GPUs in use, and how full its memory is; M shows memory over time above each node"),
    ("gone no use", "lanes of many nodes by use, with reasons; M shows racks, / finds a node (n3) or a rack (r08)"),
    ("░ framed", "the scheduler's plan: jobs that wait for Priority or Resources and fit together"),
    ("· on grey", "free cores on a node that has no room for any waiting job; the pointer shows the reason"),
    ("╳", "a node that is drained or down, with its reason"),
    ("┌ ┐", "a reservation, with its name"),
    ("15:10?", "an expected start that is no plan: the job waits for something else than cores"),
    (">15:10", "not before: the begin time of a job, which its user chose or which it has after a requeue"),
    ("15:10-17:40", "our own forecast of a start; - or Slurm's date where a reason to wait is not modelled"),
    ("~15:10", "our own forecast of a start while too few starts are known for a range"),
    ("2x +5m", "the expected start moved twice, five minutes later in all"),
)
FIRST = (
    ("w", "Why it waits and when it starts: selects your next waiting job."),
    ("u", "What would let it start earlier: a shorter limit, fewer cores, another partition."),
    ("f", "A job that you have not submitted: what fits now and for how long, or when yours would start."),
    ("v s /", "Lists: running and ended jobs; only yours; a filter while you type."),
)
HOW_TO_READ = (
    (
        "•",
        "A row of the chart is a core, a band of rows a node. A block is a job: its cores, for as long as it has them.",
    ),
    ("•", "The bright edge is now: left of it what happened, right of it until when jobs may run, and the plan."),
    ("•", "The sentence under the chart is about the selected job or, without one, about what happened last."),
    ("•", "The top line says how old the answer of the scheduler is; it is asked once a minute."),
    ("•", "Your jobs are bold. The bell rings when one starts, ends, or is expected 10 minutes later than before."),
    ("•", "Slurm's dates stand as they are; ours come from run times of past jobs, with a range for 8 of 10 jobs."),
)
WORDS_HERE = (
    ("Priority", "Slurm's reason: other jobs are ahead of it, by age, fair share, size, partition and QOS."),
    ("Resources", "Slurm's reason: it is next, and its nodes are not free yet."),
    ("left", "Time until a running job reaches its limit; of a waiting job the limit."),
    ("fair share", "A user who had less than a fair part of the cluster so far gets a higher priority."),
    ("picture", "The state of the cluster as one poll found it; ← and → show earlier and later ones."),
    ("QOS", "Quality of service: a class of jobs with limits and a priority of its own."),
)
MEANINGS = {
    "step(1)": "The next picture (poll of the cluster).",
    "go_begin": "To the first picture.",
    "go_end": "To now, and follow it.",
    "go_to": "Go to a time (14:05), a picture (#120) or a job (J17).",
    "find": "List only jobs whose rows have the words that you type; or find a job, node or rack.",
    "stops": "Ring the bell at: job 17 starts, queue > 50, head slips ...",
    "to_stop(1)": "To the next picture at which a stop (x) is met.",
}
"""Meanings of keys that differ from those on the replay screen."""
TWINS = {"step(1)": "← →", "jump(1)": "[ ]"}
WORDS = {"step(1)": "picture", "go_end": "now", "jump(1)": "event", "find": "filter"}


def keys() -> tuple[Key, ...]:
    known = {key.action: key for key in every_key()}
    return (*(known[action] for action in SHARED), *OWN)


def help_groups() -> tuple[tuple[str, Sequence[tuple[str, str]]], ...]:
    first = [(sign(known.keys), MEANINGS.get(known.action, known.meaning)) for known in keys() if known.word]
    return (
        ("Your job", FIRST),
        ("How to read this screen", HOW_TO_READ),
        ("Keys", first),
        ("In the chart", SIGNS),
        ("Words", WORDS_HERE),
    )


def key_line(width: int) -> Line:
    known = {key.action: key for key in keys()}
    shown = [(TWINS.get(at, sign(known[at].keys)), WORDS.get(at, known[at].word), at) for at in SHOWN]
    return fitting_keys(shown[:-2], shown[-2:], width - len(GAP))
