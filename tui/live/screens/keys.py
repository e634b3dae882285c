"""Keys of the screen for an observed cluster; actions that also exist on the replay screen have the same keys."""

from __future__ import annotations

from tui.live.fitting_keys import GAP, fitting_keys
from tui.look.sheets import Line
from tui.screens.replay.keys import Key, every_key, sign

SHARED = (
    "step(1)", "step(-1)", "jump(1)", "jump(-1)", "choose_jump", "go_to", "go_begin", "go_end", "to_stop(1)",
    "to_stop(-1)", "stops", "escape", "bookmark", "bookmarks", "why", "colour", "next_panel", "previous_panel",
    "maximise",
    "toggle_panel('queue')", "toggle_panel('details')", "toggle_panel('strip')", "all_panels", "theme", "help", "quit",
)  # fmt: skip
"""Actions of the replay screen, too; a step here is a poll of the cluster."""
OWN = (
    Key("slash", "find", "find", "Find a job, a node (n3) or a rack (r08).", 11),
    Key("2", "toggle_panel('events')", "events", "Show or hide what happened since the picture before."),
    Key("s", "mine_first", "mine first", "Your own jobs first in the queue, only them, or the queue as it is.", 5),
    Key("u", "what_if", "what if", "When the selected job would start, and what would let it start earlier."),
    Key("p", "partition", "partition", "The queue of the next partition, or of all together.", 4),
    Key("r", "poll_now", "poll now", "Ask the cluster now, at most every 10 s."),
)
SHOWN = (
    "step(1)", "go_end", "jump(1)", "why", "find", "partition", "mine_first", "stops", "colour", "next_panel",
    "help", "quit",
)  # fmt: skip
SIGNS = (
    ("n1 1/2 ▆", "a node, its GPUs in use, and how full its memory is; M shows memory over time above each node"),
    (
        "gone no use",
        "lanes of many nodes by use, with reasons; M shows racks, / finds a node (n3) or a rack (r08)",
    ),
    ("░ framed", "the scheduler's plan: jobs that wait for Priority or Resources and fit together"),
    ("· on grey", "free cores on a node that has no room for any waiting job; the pointer shows the reason"),
    ("╳", "a node that is drained or down, with its reason"),
    ("┌ ┐", "a reservation, with its name"),
    ("15:10?", "an expected start that is no plan: the job waits for something else than cores"),
    ("not before", "the begin time of a job, which its user chose or which it has after a requeue"),
    ("15:10-17:40", "our own forecast of a start; - or Slurm's date where a reason to wait is not modelled"),
    ("~15:10", "our own forecast of a start while too few starts are known for a range"),
    ("2x +5m", "the expected start moved twice, five minutes later in all"),
)
TWINS = {"step(1)": "← →", "jump(1)": "[ ]"}
WORDS = {"step(1)": "picture", "go_end": "now", "jump(1)": "event"}


def keys() -> tuple[Key, ...]:
    known = {key.action: key for key in every_key()}
    return (*(known[action] for action in SHARED), *OWN)


def help_groups() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    return ("A live machine", tuple((sign(key.keys), key.meaning) for key in keys() if key.word)), (
        "On this chart",
        SIGNS,
    )


def key_line(width: int) -> Line:
    known = {key.action: key for key in keys()}
    shown = [(TWINS.get(at, sign(known[at].keys)), WORDS.get(at, known[at].word), at) for at in SHOWN]
    return fitting_keys(shown[:-2], shown[-2:], width - len(GAP))
