"""Screen of the puzzle: the user types or draws jobs, and four policies schedule them at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from sim.classroom.lessons.drafts import lesson_of_puzzle
from sim.classroom.play.tasks import Task, tasks
from sim.policies import parse_policy
from sim.session.session import Session
from sim.session.sources import session_of
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.files import write_whole
from sim.support.formatting import count, span
from sim.workload.formats.puzzle import LONGEST, MOST_JOBS, Puzzle, parse_puzzle
from sim.workload.job_changes import PuzzleJob
from sim.workload.source import Source
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.classroom.puzzle.board import Board, Draft, Scale
from tui.classroom.puzzle.runs import PolicyChart, charts, time_axis
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.fitting_keys import fitting_keys
from tui.screens.replay.files import typed_path
from tui.screens.replay.messages import Deliver, OpenTrace, Quit
from tui.widgets.bar import Bar
from tui.widgets.cell_rows import SizedLines, fitted

EXAMPLE = "10 procs; 6x10m@0; 4x20m@0; 8x10m@20s; 4x15m@30s; 5x8m20s@40s"
LEAVING = (("l", "leave", "it is neither copied (y) nor saved (S)"), ("s", "stay", "go on"))
ROOMY = 12
"""Smallest height in rows at which a chart gets an axis of time."""
LEAST_ROWS = 3
"""Smallest height of the board in rows."""
KEYS = (
    ("n", "new", "new"), ("←→", "submit", ""), ("[]", "run", ""), ("{}", "estimate", ""), ("+-", "procs", ""),
    ("u", "undo", "undo"), ("e", "type", "type"), ("enter", "replay", "replay"), ("y", "copy", "copy"),
    ("N", "task", "task"),
)  # fmt: skip
LAST_KEYS = (("?", "help", "help"), ("q", "quit", "quit"))
ACTIONS = {
    "up": "choose(-1)", "down": "choose(1)", "left": "change('submit', -1)", "right": "change('submit', 1)",
    "left_square_bracket": "change('run', -1)", "right_square_bracket": "change('run', 1)",
    "left_curly_bracket": "change('asked', -1)", "right_curly_bracket": "change('asked', 1)",
    "plus,equals_sign": "change('procs', 1)", "minus": "change('procs', -1)",
    "greater_than_sign": "machine(1)", "less_than_sign": "machine(-1)", "n,insert": "new",
    "delete,backspace": "remove", "u,ctrl+z": "undo", "r,ctrl+y": "redo", "e,tab": "type", "y": "copy", "N": "task",
    "enter": "replay", "S": "save", "L": "lesson", "question_mark": "help", "H,escape": "back", "q": "quit",
}  # fmt: skip
HELP = (
    ("The puzzle", (
        ("drag", "A bar: when the job is submitted; its end ▸: the run time; the end of ░: the estimate."),
        ("drag in new", "Another job, from its submission to its end."), ("wheel + -", "Processors of the job."),
        ("↑ ↓", "Choose a job."), ("← →", "Submit it earlier, later."), ("[ ]", "A shorter or longer run time."),
        ("{ }", "A lower or higher estimate."), ("n del", "Another job; remove one."), ("< >", "Size of the machine."),
        ("u r", "Undo, redo."), ("e tab", "Type the line of text; enter or tab ends it."),
        ("y", "Copy the line; it is accepted wherever a trace is."), ("enter", "Replay the puzzle under EASY."),
        ("S", "Save it as a trace file (SWF)."), ("L", "Save it as a lesson."), ("H esc", "The menu."), ("q", "Leave."),
        ("N", "The next inverse puzzle: change the jobs until its claims are true."),
    )),
    ("The charts", (
        ("→ ↑", "Time and processors, from 0 to the last end; each chart has the same time."),
        ("┃", "The end of a schedule."), ("*", "The shortest mean wait."),
    )),
)  # fmt: skip


class Charted(Message):
    """Message that the charts of a puzzle are made, and why it does not solve the task; "" if it does."""

    def __init__(
        self, puzzle: Puzzle, look: Look, size: Size, found: tuple[PolicyChart, ...], task: Task | None, problem: str
    ) -> None:
        self.puzzle, self.look, self.size, self.found = puzzle, look, size, found
        self.task, self.problem = task, problem
        super().__init__()


class Charts(SizedLines):
    procs = 1

    @property
    def _gutter(self) -> int:
        return len(f"{self.procs}") + 1

    @property
    def _has_axis(self) -> bool:
        return self.size.height % 2 == 1 or self.size.height >= ROOMY

    @property
    def picture(self) -> Size:
        height = self.size.height - self._has_axis
        return Size(max(self.size.width // 2 - 1 - self._gutter, 0), max(height // 2 - 1, 0))

    def show(self, found: Sequence[PolicyChart], look: Look) -> None:
        width, height = self.size
        size, brush, blank = self.picture, Brush(look), look.style("")
        best = min((each.mean_wait for each in found if each.mean_wait is not None), default=None)
        rows: dict[int, list[Segment]] = {y: [] for y in range(height)}
        for number, each in enumerate(found):
            top = number // 2 * (size.rows + 1)
            whole = size.columns + self._gutter
            gap = Segment("  "[: width - 2 * whole - 1], blank)
            head = heading(each, best, whole)
            made = [look.segments(head.spans)]
            if each.cells is not None:
                high, wide = each.cells.chars.shape
                numbers = {0: f"{self.procs}", high - 1: "0"} if high > 1 else {}
                for row in range(high):
                    label = Segment(f"{numbers.get(row, ''):>{self._gutter - 1}} ", look.style("dim"))
                    made.append([label, *brush.draw(each.cells, row, 0, min(size.columns, wide))])
            made += [[] for _ in range(size.rows + 1 - len(made))]
            for row in range(min(size.rows + 1, height - top)):
                rows[top + row] += [*fitted(made[row], whole, blank), gap]
        if self._has_axis and (end := max((each.end for each in found), default=0)):
            axis = f"{'':{self._gutter}}{text.pad(text.drawn(time_axis(end, size.columns), look.ascii), size.columns)}"
            rows[height - 1] += [Segment(f"{axis}  {axis}", look.style("dim"))]
        self.put({y: fitted(row, width, blank) for y, row in rows.items()})


def heading(chart: PolicyChart, best: float | None, width: int) -> Line:
    """Return a chart's policy and waits; the mean is marked if it is `best`, the shortest of all."""
    if chart.problem:
        return line(
            Span(chart.policy, "strong"), Span(f" {text.shorten(chart.problem, width - len(chart.policy) - 1)}", "bad")
        )
    if chart.mean_wait is None:
        return line(Span(chart.policy, "strong"))
    star = " *" if chart.mean_wait == best else ""
    told = f"  mean wait {span(chart.mean_wait)}{star}"
    longest = span(chart.worst_wait)
    rest = f"  worst {chart.worst} {longest}"
    room = max(width - len(chart.policy) - len(told), 0)
    if len(rest) > room and (saved := len(chart.worst) + 1 + len("wait ")) >= len(rest) - room:
        told, rest, room = told.replace("wait ", ""), f"  worst {longest}", room + saved
    return line(Span(chart.policy, "strong"), Span(told, "good" if star else ""), Span(text.shorten(rest, room), "dim"))


class PuzzleScreen(Screen[None]):
    stays = True
    """True because this screen stays open below a replay opened from it."""
    DEFAULT_CSS = """
    PuzzleScreen { background: $background; }
    PuzzleScreen Bar { height: 1; }
    PuzzleScreen #note { height: 2; }
    PuzzleScreen Input { padding: 0 1; }
    PuzzleScreen Board { height: 2fr; }
    PuzzleScreen Charts { height: 3fr; }
    """
    AUTO_FOCUS = "Board"
    BINDINGS: ClassVar[list[BindingType]] = [Binding(key, action, show=False) for key, action in ACTIONS.items()]

    def __init__(
        self, puzzle: Puzzle, look: Look, is_guest: bool = False, typed: str = "", task: Task | None = None,
        is_kept: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._wanted = task
        self._problem: str | None = None
        """Why the draft does not solve the task; "" if it does, None if it is not judged yet."""
        self._typed = typed
        """Text that the user types while it is no valid puzzle; "" otherwise"""
        self.draft, self._look, self._is_guest = Draft(puzzle), look, is_guest
        self._found: tuple[PolicyChart, ...] = ()
        self._before = self.draft
        """Draft before the user began to edit the puzzle as text"""
        self._kept = puzzle if is_kept else Puzzle()
        """Puzzle when it was last opened, copied or saved; not that of a session, which is nowhere else"""
        self._told = ""
        self._is_typing = False

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="title")
        shown = self._typed or self.draft.puzzle.line
        yield Input(shown, max_length=LONGEST, select_on_focus=False, compact=True, id="line")
        yield Board()
        yield Charts(id="charts")
        yield Bar(id="note")
        yield Bar("surface", id="keys")

    def on_mount(self) -> None:
        self._show()
        if self._typed:
            self.action_type()

    def to_keep(self) -> Session:
        task = "" if self._wanted is None else f"{self._wanted.title}: {self._wanted.line}"
        view = {"screen": "puzzle", "typed": self._typed, "task": task}
        return replace(session_of(Source(self.draft.puzzle.line), "easy"), view=view)

    def use_look(self, look: Look) -> None:
        self._look = look
        self._show()

    # Drawing

    def _show(self, told: str = "") -> None:
        self._told, self._problem = told, None
        puzzle = self.draft.puzzle
        entry, shown = self.query_one("#line", Input), self._typed or puzzle.line
        if not entry.has_focus and entry.value != shown:
            with self.prevent(Input.Changed):
                entry.value = shown
        self.query_one(Board).show(self.draft, self._look)
        machine = count(puzzle.procs, "processor")
        title = line(Span(" puzzle ", "strong"), Span(f"· {machine} · {count(len(puzzle.jobs), 'job')}", "dim"))
        self.query_one("#title", Bar).show([title], self._look)
        self._note()
        self.query_one("#keys", Bar).show([fitting_keys(KEYS, LAST_KEYS, self.size.width)], self._look)
        self.query_one(Board).styles.max_height = max(len(puzzle.jobs) + 1, LEAST_ROWS)
        drawn = self.query_one(Charts)
        drawn.procs = puzzle.procs
        self._draw_charts(puzzle, self._look, drawn.picture)

    def _note(self) -> None:
        told, style = (self._told, "warn") if self._told else (self._hint, "dim")
        if not self._told and self._problem is not None:
            is_last = self._wanted == tasks()[-1]
            solved = "Solved: that was the last task. N: the first one again" if is_last else "Solved. N: the next task"
            told, style = (f"Not yet: {self._problem}", "warn") if self._problem else (solved, "good")
        width, note = max(self.size.width - 2, 1), self.query_one("#note", Bar)
        task = [] if self._wanted is None else wrapped(self._wanted.told, width, "strong", indent=1)[:3]
        note.styles.height = 2 + len(task)
        note.show([*task, *wrapped(told, width, style, indent=1)[:2]], self._look)

    @property
    def _hint(self) -> str:
        job = self.draft.job
        if job is None:
            return "Drag in the last row, press n, or e and type: 5x10m@0, 5 processors for 10 min."
        asked = "" if job.asked is None else f", estimate {span(job.asked)}"
        ends = "; it is killed at its estimate" if job.estimate < job.run else ""
        told = f"J{self.draft.chosen + 1}: {count(job.procs, 'processor')} for {span(job.run)}{asked}"
        return f"{told}, submitted at {span(job.submit)}{ends}"

    @work(thread=True, exclusive=True)
    def _draw_charts(self, puzzle: Puzzle, look: Look, size: Size) -> None:
        task = self._wanted
        problem = "" if task is None else task.problem(puzzle)
        self.post_message(Charted(puzzle, look, size, charts(puzzle, look, size), task, problem))

    @on(Charted)
    def _charted(self, message: Charted) -> None:
        drawn = self.query_one(Charts)
        if (message.puzzle, message.look, message.size) == (self.draft.puzzle, self._look, drawn.picture):
            self._found = message.found
            drawn.show(self._found, self._look)
            self._problem = None if message.task is None else message.problem
            self._note()

    @on(Charts.Resized)
    def _resized(self) -> None:
        self._draw_charts(self.draft.puzzle, self._look, self.query_one(Charts).picture)

    # Typing

    def action_type(self) -> None:
        entry = self.query_one("#line", Input)
        if entry.has_focus:
            self.action_done()
        else:
            self._is_typing, self._before = False, self.draft
            entry.focus()
            entry.cursor_position = len(entry.value)

    def action_done(self) -> None:
        """End the editing as text; a text that is no valid puzzle is taken back."""
        self.query_one(Board).focus()
        entry = self.query_one("#line", Input)
        try:
            parse_puzzle(entry.value)
        except SchedscopeError:
            self.draft = self._before
        with entry.prevent(Input.Changed):
            entry.value = self.draft.puzzle.line
        self._typed = ""
        self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        try:
            parse_puzzle(event.value)
        except SchedscopeError as error:
            self._told = f"{error}; esc takes the line back"
            self._note()
        else:
            self.action_done()

    @on(Input.Changed)
    def _text_typed(self, event: Input.Changed) -> None:
        try:
            puzzle = parse_puzzle(event.value)
        except SchedscopeError as error:
            self._typed, self._told = event.value, str(error)
            self._note()
            return
        self._typed = ""
        if puzzle != self.draft.puzzle:
            self.draft = self.draft.changed(puzzle, again=self._is_typing)
            self._is_typing = True
        self._show()

    # Changes by key and by mouse

    def _use_draft(self, draft: Draft) -> None:
        self.draft = draft
        self._show()

    @property
    def _step(self) -> int:
        return max(round(Scale.of(self.draft, self.query_one(Board).size.width - 24).per_column), 1)

    def action_choose(self, by: int) -> None:
        self._use_draft(self.draft.choose(self.draft.chosen + by))

    def action_change(self, part: str, by: int) -> None:
        """Change a part of the chosen job: `procs` by single processors, times by the seconds of a column."""
        self._use_draft(self.draft.moved(**{part: by if part == "procs" else by * self._step}))

    def action_machine(self, by: int) -> None:
        before = self.draft.puzzle.jobs
        self._use_draft(self.draft.with_procs(self.draft.puzzle.procs + by))
        pairs = enumerate(zip(before, self.draft.puzzle.jobs, strict=True), 1)
        if narrowed := [f"J{number}" for number, (job, now) in pairs if job.procs > now.procs]:
            procs = count(self.draft.puzzle.procs, "processor")
            self._show(f"the machine has {procs}, so {', '.join(narrowed)} got narrower; u takes it back")

    def action_new(self) -> None:
        is_full = len(self.draft.puzzle.jobs) >= MOST_JOBS
        self._use_draft(self.draft.added(self.draft.model))
        if is_full:
            self._show(f"a puzzle has {MOST_JOBS} jobs at most")

    def action_task(self) -> None:
        """Begin with the next task; after the last one comes the first."""
        place = tasks().index(self._wanted) + 1 if self._wanted in tasks() else 0
        self._wanted = tasks()[place % len(tasks())]
        self._use_draft(self.draft.changed(self._wanted.start))

    def action_remove(self) -> None:
        self._use_draft(self.draft.removed())

    def action_undo(self) -> None:
        self._use_draft(self.draft.undone())

    def action_redo(self) -> None:
        self._use_draft(self.draft.redone())

    @on(Board.Wheeled)
    def _wheeled(self, message: Board.Wheeled) -> None:
        self._use_draft(self.draft.choose(message.row).moved(procs=message.by))

    @on(Board.Dragged)
    def _dragged(self, drag: Board.Dragged) -> None:
        if drag.is_first:
            self._held = None if drag.part == "new" else self.draft.choose(drag.row).job
            self._use_draft(self.draft.choose(drag.row))
            self._has_dragged = False
            return
        again, self._has_dragged = self._has_dragged, True
        if drag.part == "new":
            begin, end = sorted((drag.begin, drag.end))
            job = PuzzleJob(self.draft.model.procs, max(end - begin, 1), begin)
            self._use_draft(self.draft.with_job(job, again=True) if again else self.draft.added(job))
            return
        held = self._held
        if held is None:
            return
        by = drag.end - drag.begin
        changed = {
            "submit": lambda: held._replace(submit=held.submit + by),
            "run": lambda: held._replace(run=max(held.run + by, 1)),
            "asked": lambda: held._replace(asked=max(held.estimate + by, held.run)),
        }[drag.part]()
        self._use_draft(self.draft.with_job(changed, again))

    _held: PuzzleJob | None = None
    _has_dragged = False

    # Out of the puzzle

    def action_copy(self) -> None:
        self._kept = self.draft.puzzle
        self.app.copy_to_clipboard(self.draft.puzzle.line)
        self._show("sent to the clipboard; schedscope puzzle, and every command that takes a trace, takes this line")

    def action_replay(self) -> None:
        if self.draft.puzzle.jobs:
            self.post_message(OpenTrace(self.draft.puzzle.line, parse_policy("easy")))

    def action_save(self) -> None:
        self._ask("Save the puzzle as a trace", "puzzle.swf", self._swf())

    def action_lesson(self) -> None:
        try:
            self._ask("Save the puzzle as a lesson", "puzzle.toml", lesson_of_puzzle(self.draft.puzzle))
        except SchedscopeError as error:
            self._show(str(error))

    def _swf(self) -> str:
        from io import StringIO

        from sim.workload.formats import swf

        file = StringIO()
        swf.write(self.draft.puzzle.trace, file)
        return file.getvalue()

    def _ask(self, title: str, name: str, content: str) -> None:
        if self._is_guest:
            self._kept = self.draft.puzzle
            self.post_message(Deliver(name, content))
            return
        prompt = dialogs.Prompt(title, "a file that is not there yet", _new_file, initial=name)
        self.app.push_screen(prompt, lambda path: None if path is None else self._write(path, content))

    def _write(self, path: Path, content: str) -> None:
        try:
            with write_whole(path) as file:
                file.write(content)
        except SchedscopeError as error:
            self._show(str(error))
        else:
            self._kept = self.draft.puzzle
            how = "learn" if path.suffix == ".toml" else "watch"
            self._show(f"saved: schedscope {how} {path}")

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpScreen(HELP, None))

    def action_back(self) -> None:
        if self.query_one("#line", Input).has_focus:
            self.action_done()
        else:
            self._unless_lost(self.app.pop_screen)

    def action_quit(self) -> None:
        self._unless_lost(lambda: self.post_message(Quit()))

    def _unless_lost(self, leave: Callable[[], object]) -> None:
        if self.draft.puzzle in (self._kept, Puzzle()):
            leave()
            return

        def answered(answer: str | None) -> None:
            if answer == "leave":
                leave()

        self.app.push_screen(ChoiceDialog("Leave this puzzle?", LEAVING), answered)


def _new_file(given: str) -> Path:
    path = typed_path(given)
    if not given or os.path.lexists(path):
        raise ParameterError(f"{given or 'nothing'}: expected the name of a file that is not there yet")
    return path
