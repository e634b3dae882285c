"""Help: all keys, the signs of the chart, and how to read the screen; the user can type words to filter it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise, zip_longest
from typing import ClassVar, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input

from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES
from tui.look.sheets import Line, Span, line, wrapped
from tui.look.text import cells, pad
from tui.panels.meanings import GLOSSARY
from tui.screens.dialogs.dialog import Dialog, Page

Rows: TypeAlias = Sequence[tuple[str, str]]
Groups: TypeAlias = Sequence[tuple[str, Rows]]

HOW_TO_READ: Rows = (
    ("•", "A block in the chart is a job: as high as the processors it has, as long as the time it has them."),
    ("•", "Time runs to the right. The bright edge is now: left of it what happened, right of it what is planned."),
    ("•", "The sentence under the chart shows what the panels do not: the latest decision, or what follows from it."),
    ("•", "The queue lists the waiting jobs in the policy's order, with the reason why each waits."),
    ("•", "A job that is selected lights up everywhere: its past, its plan, its decisions."),
)
SIGNS: Rows = (
    ("█", "runs"),
    ("░", "may run until its estimate ends; framed: planned start (reserved or expected)"),
    ("▒", "a speculative run, which may be cut short"),
    ("╱", "suspended, until it resumes on these processors; under gang scheduling a replica in another row"),
    ("▮", "suspended at this time for another job"),
    ("×", "killed at its estimate, or interrupted by a failure"),
    ("╳", "unavailable processors: failed, in maintenance or not yet installed"),
    ("·", "dots upon a block: borrowed processors, which another partition had at first"),
    ("·", "dots on grey: free cores of nodes that no waiting job has room on"),
    ("▆", "above a node, if M is pressed: how much of its memory is in use"),
    ("╌", "in monochrome: free; a job that fits here may start before the head without delaying it"),
    ("▸", "left of the chart: the row of the matrix that is on turn"),
    ("◂ ▸", "while comparing, after a job's name: how much earlier or later it starts than in the other run"),
    ("▲ ▼", "the planned start moved earlier, later"),
    ("◆", "the policy was switched"),
    ("⚑", "a bookmark"),
)
HERE: dict[str, tuple[str, Rows]] = {
    "chart": (
        "the chart",
        (
            ("click", "Select the job; in the second chart, show that run in the panels."),
            ("drag", "Move the chart; the wheel zooms, with shift in processors."),
            ("shift drag", "Measure: how long, its jobs and waits, and how full (or with the right button)."),
            ("pointer", "Explain what is under it."),
        ),
    ),
    "queue": (
        "the queue",
        (
            ("click", "Select the job; on the head of a column, sort by it, the other way round, and as it was."),
            ("w", "Select the next waiting job, with its reason."),
        ),
    ),
    "decisions": ("the decisions", (("click", "Select the job."), (". ,", "Walk through them one by one."))),
    "matrix": (
        "the matrix",
        (
            ("click", "Select the job; on a rebuild phase, list its decisions."),
            (") (", "To the next turn of a row, or the one before."),
            ("M", "Rows in the chart, too."),
        ),
    ),
    "partitions": ("the partitions", (("click", "Select the pivot."), ("D", "Back to when a boundary moved."))),
    "versus": (
        "the comparison",
        (
            ("e", "Show the other run in the panels."),
            ("C", "Colour gain and loss."),
            ("d", "To the first difference."),
            ("v", "End the comparison; Z brings it back."),
            ("click", "Select the job."),
        ),
    ),
    "code": ("the policy's code", ((". ,", "The line of the next decision, or of the one before."),)),
    "prints": ("what the policy prints", (("x", "print stops at the next step in which it prints."),)),
    "matches": ("the matches of a condition", (("enter", "Go to the step, and select its job."), ("/", "Another."))),
    "details": (
        "the selected job",
        (("r", "Back to what moved its start."), ("o", "Fit it."), ("[ ]", "Its events: j j.")),
    ),
}
"""Title and rows of the help for the mouse and keys of each part of the screen."""
IN_A_PANEL: Rows = (
    ("↑ ↓ pgup pgdn", "Move the cursor; the wheel scrolls."),
    ("enter", "Select the job in the line under the cursor."),
    ("esc", "Back to the chart, whose keys apply here, too."),
    ("z", "Over the whole screen, and back; so does a click on the title."),
)
OTHERWISE = {
    "zoom": ("closer", "wider", "fit the job", "fewer proc"), "scroll": ("earlier", "later", "higher"),
    "color": ("colour",),
    "fork": ("branch",), "clone": ("branch",), "split": ("branch",), "undo": ("back",),
    "rewind": ("back",), "pause": ("play",),
    "search": ("find",), "screenshot": ("save the screen",), "export": ("save",), "quit": ("quit",),
    "exit": ("quit",), "switch": ("another policy",), "algorithm": ("policy",), "scheduler": ("policy",),
    "promise": ("reserv", "promise"), "reserve": ("reserv",), "gantt": ("chart",), "gang": ("matrix", "gang"),
    "preempt": ("suspended",), "preemption": ("suspended",), "theme": ("dark", "theme"), "dark": ("dark",),
    "explain": ("why", "reason"), "cause": ("reason", "why"), "speed": ("faster", "slower", "speed"),
}  # fmt: skip
"""For each word that a user might type: words that the program uses for the same thing."""
STOPS: Rows = (
    *((f"{measure} >", means.meaning) for measure, means in MEASURES.items()),
    ("queue changes", "any of these numbers changes from one step to the next"),
    *((event, means.meaning) for event, means in EVENTS.items()),
    *((change, means.meaning) for change, means in CHANGES.items()),
    *((f"job 17 {deed}", means.meaning) for deed, means in DEEDS.items()),
    ("user ann starts", "the same for any job of that user"),
    ("< = != >= <=", "as well as >"),
    ("and or not", "put conditions together, with brackets"),
)
OWN: Rows = (
    ("p", '"Open a file ...": load a policy from a file; Enter executes the file.'),
    ("save", "Saving the file repeats the run: the top line shows the first difference, d goes there."),
    ("x", "Stop conditions: job 17 considered, job 17 waits because too few free, number usage > 100, line 41, print."),
    (". ,", "Walk through the decisions of a step; the queue is shown as it was before each decision."),
    ("9", "What the policy prints, step by step; breakpoint() stops under schedscope run --debug."),
    ("$", "schedscope new fair.py creates a policy, schedscope test ./fair.py tests it."),
)
TO_TRY: Rows = (
    ("•", "Step through the sample z-figure4 under fcfs, then under easy. Who passed whom, and why could it?"),
    (
        "•",
        "Select a job with a long wait. When was its start planned, how often did it move, and which jobs caused that?",
    ),
    ("•", "Compare with another policy from here and go to the first difference."),
)
WIDTH_OF_A_COLUMN = 46
GAP = 4


class HelpScreen(Dialog[None]):
    """Help, which scrolls by the arrow keys and is filtered by typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", "Up"),
        Binding("down", "scroll(1)", "Down"),
        Binding("pageup", "scroll(-10)", "Page up"),
        Binding("pagedown", "scroll(10)", "Page down"),
        Binding("enter", "dismiss", "Close"),
    ]

    def __init__(self, groups: Groups, where: str | None = "chart", words: Rows = GLOSSARY) -> None:
        """Make the help. After the first group come the rows of `where`, the part with the focus; None elsewhere."""
        super().__init__()
        if where is None:
            self._groups: Groups = (*groups, *([("Words", words)] if words else []))
            return
        title, rows = HERE.get(where, HERE["chart"])
        self._groups = (
            groups[0],
            (f"Here: {title}", (*rows, *(IN_A_PANEL if title != "the chart" else ()))),
            ("How to read this screen", HOW_TO_READ),
            *groups[1:],
            ("Signs", SIGNS),
            ("To stop at (x), or to list (/)", STOPS),
            ("A policy of your own", OWN),
            ("Words", GLOSSARY),
            ("Three to try", TO_TRY),
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Help"
            dialog.border_subtitle = "type to search   ↑ ↓ scroll   esc close"
            yield Input(placeholder="search keys, signs and words: zoom, fork, slowdown ...", compact=True, id="find")
            with VerticalScroll(can_focus=False):
                yield Page(partial(drawn, self._groups))

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        found = filtered(self._groups, event.value)
        self.query_one(Page).show(partial(drawn, found))
        self.query_one(VerticalScroll).scroll_home(animate=False)

    @on(Input.Submitted)
    def _close(self) -> None:
        self.dismiss()

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)


def otherwise(word: str) -> tuple[str, ...]:
    return OTHERWISE.get(word.removesuffix("s"), OTHERWISE.get(word, ()))


def filtered(groups: Groups, typed: str) -> Groups:
    """Return the rows whose key or sign was typed, else the rows with each word or one for the same thing."""
    wanted = typed.lower().split()
    said = [(word, *otherwise(word)) for word in wanted]

    def holds(text: str) -> bool:
        return all(any(word in text for word in words) for words in said)

    found = [(title, [row for row in rows if holds(f"{title} {row[0]} {row[1]}".lower())]) for title, rows in groups]
    exact = [(title, [row for row in rows if typed.strip() in row[0].split()]) for title, rows in groups]
    kept = exact if wanted and any(rows for _, rows in exact) else found
    return [(title, rows) for title, rows in kept if rows]


def drawn(groups: Groups, width: int) -> list[Line]:
    if not groups:
        return [line(Span("No matches.", "dim"))]
    columns = min(max((width + GAP) // (WIDTH_OF_A_COLUMN + GAP), 1), len(groups))
    room = (width - GAP * (columns - 1)) // columns
    blocks = [list(_block(title, rows, room)) for title, rows in groups]
    return [_side_by_side(lines, room) for lines in zip_longest(*_balanced(blocks, columns))]


def _block(title: str, rows: Rows, width: int) -> Iterator[Line]:
    keys = max(cells(key) for key, _ in rows) + 2
    yield line(Span(title, "title"))
    for key, what in rows:
        first, *more = wrapped(what, width, indent=keys)
        yield line(Span(pad(key, keys), "key"), first.text[keys:])
        yield from more
    yield line("")


def _balanced(blocks: Sequence[list[Line]], columns: int) -> list[list[Line]]:
    cuts = min(
        combinations(range(1, len(blocks)), columns - 1),
        key=lambda cuts: max(sum(map(len, blocks[a:b])) for a, b in pairwise((0, *cuts, len(blocks)))),
    )
    return [[each for block in blocks[a:b] for each in block] for a, b in pairwise((0, *cuts, len(blocks)))]


def _side_by_side(lines: Iterable[Line | None], room: int) -> Line:
    """Return lines of neighbouring blocks joined, each padded to `room`; None is an empty line."""
    spans: list[Span] = []
    for there in (each or line("") for each in lines):
        spans += [*there.spans, Span(" " * (room - cells(there.text))), Span(" " * GAP)]
    return line(*spans[:-1])
