"""Screen of the game: the player chooses a job, starts it, or lets time pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from random import randrange
from typing import ClassVar

from rich.segment import Segment
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from sim.classroom.play.game import Game
from sim.classroom.play.scoring import Costly, GameScore, costliest, scores
from sim.session.session import Session
from sim.session.sources import session_of
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock, name
from sim.workload.model import Workload
from sim.workload.source import Source
from tui.chart.cells.grid import Size
from tui.classroom.play.page import chart, choice, happened, machine, own_chart, placed, queue, result, so_far
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.fitting_keys import fitting_keys
from tui.screens.replay.messages import Quit
from tui.widgets.bar import Bar
from tui.widgets.cell_rows import SizedLines

HELP = (
    ("You are the scheduler", (
        ("↑ ↓", "Choose a waiting job."),
        ("enter 1 ... 9", "Start the chosen job, or the first, second, ... that waits."),
        ("click", "Choose a job; a second click starts it."),
        ("space", "Let the clock go to the next arrival or end. It cannot go back: what it showed is known."),
        ("u", "Take back the last start of this moment."), ("N", "The same hours again."), ("O", "Other hours."),
        ("H esc", "The menu."), ("q", "Leave."),
    )),
    ("How it is scored", (
        ("mean wait", "Start minus submission, averaged over all jobs: less is better."),
        ("worst wait", "The longest wait of any job."),
        ("relaxed:omega=1", "A job may pass the head only if it ends before the head can start."),
        ("slack", "Conservative, but a promised start may slip by a part of the job's estimate."),
        ("--seed", "schedscope play --seed N plays the same hours again."),
        ("a decision's cost", "How much longer all jobs wait if EASY takes over after it instead of before it."),
    )),
)  # fmt: skip
GOAL = "Keep mean and worst wait short: ↑ ↓ and enter start a job, space is the clock."
LEAVING = (("l", "leave", "the game is lost"), ("s", "stay", "go on playing"))
PLAYING_KEYS = (
    ("↑↓", "choose", ""), ("enter 1-9", "start", "start"), ("space", "clock", "wait"), ("u", "undo", "undo"),
)  # fmt: skip
SCORED_KEYS = (("N", "again", "again"), ("↑↓", "scroll", ""))
ALWAYS_KEYS = (("?", "help", "help"), ("q", "quit", "quit"))
OTHER_KEY = ("O", "other hours", "other")


class Scored(Message):
    def __init__(self, game: Game, found: list[GameScore], costly: list[Costly]) -> None:
        self.game, self.found, self.costly = game, found, costly
        super().__init__()


class GameOver(Message):
    """Message that a game is over, with the player's mean and longest wait in seconds."""

    def __init__(self, mean: float, worst: float) -> None:
        self.mean, self.worst = mean, worst
        super().__init__()


class Sheet(SizedLines, can_focus=True):
    class Clicked(Message):
        def __init__(self, row: int) -> None:
            self.row = row
            super().__init__()

    def show(self, lines: list[Line], look: Look, below: Sequence[list[Segment]] = (), at: int = 0) -> None:
        """Show lines, with the rows of a picture `below` the first `at` of them."""
        rows = [look.segments(each.spans) for each in lines]
        self.fill([*rows[:at], *below, *rows[at:]], look.style(""))

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Clicked(event.y))


class PlayScreen(Screen[None]):
    stays = True
    """True because this screen stays open below a replay opened from it."""
    DEFAULT_CSS = """
    PlayScreen { background: $background; }
    PlayScreen Bar { height: 1; }
    PlayScreen Sheet { height: 1fr; }
    """
    AUTO_FOCUS = "Sheet"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False), Binding("down", "choose(1)", show=False),
        Binding("enter", "start", show=False), Binding("space,right", "wait", show=False),
        Binding("u", "undo", show=False), Binding("N", "again", show=False), Binding("O", "other", show=False),
        Binding("question_mark", "help", show=False),
        Binding("H,escape", "back", show=False), Binding("q", "quit", show=False),
        *(Binding(f"{digit}", f"start_number({digit})", show=False) for digit in range(1, 10)),
    ]  # fmt: skip

    def __init__(
        self,
        workload: Workload,
        look: Look,
        title: str = "",
        best: Sequence[tuple[str, float, float]] = (),
        hours: Callable[[int], Workload] | None = None,
        seed: int | None = None,
        trace: str = "",
        moves: str = "",
    ) -> None:
        """Make the screen of a game with the jobs of `workload`.

        `best` are the best games of the class (of students), each as (name, mean wait, worst wait). `hours` makes the
        jobs of another game from a seed, and `seed` is the seed of this game; both are None if no other game can be
        made. `trace` holds all these jobs; "" if the game is not to be saved. `moves` have been made before.
        """
        super().__init__()
        self._seed = seed
        self._hours, self._is_warned = hours, False
        self._best = tuple(best)
        self.game, self._look, self._title = Game(workload).continued(moves), look, title
        self._trace = trace
        self._chosen, self._first, self._top = 0, 0, 0
        self._told = GOAL
        self._scores: list[GameScore] | None = None
        self._costly: list[Costly] = []

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="title")
        yield Sheet(id="sheet")
        yield Bar(id="note")
        yield Bar("surface", id="keys")

    def on_mount(self) -> None:
        if self.game.is_over:
            self._score(self.game)
        self._show()

    def to_keep(self) -> Session | None:
        if not self._trace or self._seed is None:
            return None
        return replace(self._begun, view={"screen": "game", "seed": self._seed, "moves": self.game.written})

    @cached_property
    def _begun(self) -> Session:
        return session_of(Source(self._trace), "easy")

    def use_look(self, look: Look) -> None:
        self._look = look
        self._show()

    @on(Sheet.Resized)
    def _show(self) -> None:
        sheet, game = self.query_one("#sheet", Sheet), self.game
        width, height = sheet.size
        self._chosen = choice(game.queue, self._chosen)
        if not width or not height:
            return
        score = f"{so_far(game)} "
        room = width - len(clock(game.now)) - len(score) - 3
        seed = "" if self._seed is None else f" seed {self._seed}"
        title = text.pad(text.shorten(f"{self._title}{seed}", room), room)
        named = line(Span(f" {clock(game.now)}", "accent"), Span(f"  {title}", "dim"), Span(score, "strong"))
        self.query_one("#title", Bar).show([named], self._look)
        if self._scores is not None:
            lines = [*result(self._scores, self._costly, width, self._best), *own_chart(game, width)]
            self._first = min(self._first, max(len(lines) - height, 0))
            sheet.show(lines[self._first :], self._look)
        else:
            picture = chart(game, self._look, Size(width, height // 2))
            rest = height - len(picture) - 2
            lines = [machine(game, width), line(), *queue(game, self._chosen, width, rest)]
            self._top = len(picture) + 3
            sheet.show(lines, self._look, picture, 1)
        self.query_one("#note", Bar).show([line(Span(f" {self._told}", "dim"))], self._look)
        self.query_one("#keys", Bar).show([self._keys], self._look)

    @property
    def _keys(self) -> Line:
        pairs = PLAYING_KEYS if self._scores is None else SCORED_KEYS
        other = () if self._hours is None or self._scores is None else (OTHER_KEY,)
        return fitting_keys((*pairs, *other), ALWAYS_KEYS, self.size.width)

    def put_best(self, best: Sequence[tuple[str, float, float]]) -> None:
        self._best = tuple(best)
        self._show()

    # Moves

    def _try(self, move: Callable[[], Game], told: str = "") -> None:
        """Make a move, and show `told` or, if it is "", what happened; show an error instead if the move is refused."""
        if self.game.is_over:
            return
        self._is_warned = False
        try:
            self.game = move()
        except SchedscopeError as error:
            self._told = str(error)
        else:
            self._told = told or happened(self.game)
        if self.game.is_over:
            self._told = "Every job has started; the policies play the same hours now."
            self._score(self.game)
        self._show()

    def action_choose(self, by: int) -> None:
        if self._scores is not None:
            self._first = max(self._first + by, 0)
        self._chosen += by
        self._show()

    def action_start(self) -> None:
        self.action_start_number(self._chosen + 1)

    def action_start_number(self, number: int) -> None:
        if number <= len(self.game.queue):
            job = self.game.queue[number - 1]
            self._try(partial(self.game.started, job.rank), f"{name(job)} starts.")

    def action_wait(self) -> None:
        if self.game.is_idle and not self._is_warned and not self.game.is_over:
            self._is_warned = True
            fitting = ", ".join(name(job) for job in self.game.fitting[:3])
            self._told = f"Nothing runs, and {fitting} would fit: space again lets the clock go on all the same."
            self._show()
            return
        self._try(self.game.waited)

    def action_undo(self) -> None:
        self._try(self.game.undone, "Taken back.")

    def action_again(self) -> None:
        self._unless_lost(lambda: self._begin(self.game.workload, f"The same hours again. {GOAL}"))

    def action_other(self) -> None:
        hours = self._hours
        if hours is None:
            return

        def begin() -> None:
            self._seed = randrange(10**6)
            self._begin(hours(self._seed), f"Other hours. {GOAL}")

        self._unless_lost(begin)

    def _begin(self, workload: Workload, told: str) -> None:
        self.game, self._scores, self._costly, self._chosen = Game(workload), None, [], 0
        self._told = told
        self._show()

    def _unless_lost(self, leave: Callable[[], object]) -> None:
        if not self.game.moves or self.game.is_over:
            leave()
            return

        def answered(answer: str | None) -> None:
            if answer == "leave":
                leave()

        self.app.push_screen(ChoiceDialog("Leave this game?", LEAVING), answered)

    @on(Sheet.Clicked)
    def _clicked(self, message: Sheet.Clicked) -> None:
        number = message.row - self._top
        if self._scores is None and 0 <= number < len(self.game.queue):
            is_again, self._chosen = number == self._chosen, number
            if is_again:
                self.action_start()
            else:
                self._show()

    # The score

    @work(thread=True, exclusive=True)
    def _score(self, game: Game) -> None:
        self.post_message(Scored(game, scores(game), costliest(game)))

    @on(Scored)
    def _scored(self, message: Scored) -> None:
        if message.game is self.game:
            self._scores, self._costly, self._first = message.found, message.costly, 0
            you = next(each for each in message.found if each.who == "you")
            self.post_message(GameOver(you.mean_wait, you.worst_wait))
            self._told = placed(message.found)
            self._show()

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpScreen(HELP, None))

    def action_back(self) -> None:
        self._unless_lost(self.app.pop_screen)

    def action_quit(self) -> None:
        self._unless_lost(lambda: self.post_message(Quit()))
