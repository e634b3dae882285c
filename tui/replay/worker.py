"""Worker of a replay: a thread that executes requests, computes steps in advance and sends scenes."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic, perf_counter, sleep
from typing import NamedTuple, TypeVar

from sim.engine.policy_calls import give_up, unanswered
from sim.support.deadline import GiveWayError, NoAnswerError
from sim.support.errors import SchedscopeError
from tui.replay.controller import ReplayController
from tui.replay.requests import Failed, GoToTime, Move, News, Order, Play, Scenes, Stopped, Told, Wish

T = TypeVar("T")

SLICE = 0.004
"""Seconds of computing in advance, after which the worker checks for new requests."""
PATIENCE = 5.0
"""Seconds after which the screen reports that a policy has not decided yet, so that the user can stop it."""
LONG = 0.5
"""Seconds after which the screen reports that a request is still being executed."""
REPORT = 0.5
"""Seconds between two scenes that show how far the run is computed in advance."""


class _Ask(NamedTuple):
    order: Order | None
    number: int


class Player:
    """Worker thread of a replay; the screen calls its public methods, and it calls `tell` with answers."""

    def __init__(
        self, controller: ReplayController, wish: Wish, tell: Callable[[Told], None], frame: float = 0
    ) -> None:
        self.asked = 0
        self.playing = False
        """True during playback; the worker then waits longer for requests before it computes in advance."""
        self.beginning: Scenes | None = None
        """Scenes from before the first requests, shown until these are executed"""
        self._controller, self._wish, self._tell, self._frame = controller, wish, tell, frame
        self._taken = 0.0
        """Real time at which requests were last taken; the next are taken at least one frame later."""
        self._asks: SimpleQueue[_Ask | None] = SimpleQueue()
        self._answered = 0
        self._since = 0.0
        self._obeyed = Event()
        self._obeyed.set()
        self._halt = Event()
        self._closed = False
        self._doubted = ""
        self._is_ahead = False
        """True while the worker computes in advance what no request needs yet."""
        self._stuck: tuple[tuple[str, int], ...] | None = None
        """Computed steps by branch at which computing ahead was stopped; it is not tried there again."""
        self._thread = Thread(target=self._work, name="replay", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.ask(None)

    # For the screen

    def ask(self, order: Order | None) -> None:
        """Send a request, which is executed as soon as possible; None only asks for a new scene."""
        if self._answered == self.asked:
            self._since = monotonic()
        self.asked += 1
        self._obeyed.clear()
        self._asks.put(_Ask(order, self.asked))

    def wish(self, wish: Wish) -> None:
        if wish != self._wish:
            self._wish = wish
            self.ask(None)

    @property
    def idle(self) -> bool:
        return self._obeyed.is_set()

    @property
    def progress(self) -> tuple[str, float | None] | None:
        """Return (name, completed share) of slow work, the share None if unknown; or None."""
        file, seconds = self._unanswered
        if file:
            return f"{file} has been running for {seconds:.0f} s without a decision", None
        if self._controller.progress or self._answered == self.asked or monotonic() - self._since < LONG:
            return self._controller.progress
        return "computing", None

    @property
    def _unanswered(self) -> tuple[str, float]:
        """Return the file of a policy that decides for over `PATIENCE` seconds, and how long; else ("", 0)."""
        file, seconds = unanswered(self._thread.ident or 0)
        return (file, seconds) if seconds >= PATIENCE else ("", 0)

    def halt(self) -> None:
        """Cancel slow work, also in a policy that has been deciding for long; the replay stays where it was."""
        self._halt.set()
        if self._unanswered[0]:
            give_up(self._thread.ident or 0)

    def lose_patience(self) -> None:
        """Stop a policy stuck in a reload, or in computing ahead while requests of the user wait."""
        if not self._unanswered[0]:
            return
        if self._controller.is_remaking:
            give_up(self._thread.ident or 0)
        elif self._is_ahead and self._answered != self.asked:
            give_up(self._thread.ident or 0, GiveWayError)

    def be_patient(self, seconds: float) -> None:
        """Stop a policy that takes over `seconds`; for programs without a user who could cancel it."""
        thread = self._thread.ident or 0
        if unanswered(thread)[1] > seconds:
            give_up(thread)

    def close(self) -> None:
        self._closed = True
        self._halt.set()
        self._asks.put(None)

    # In the worker's thread

    def _work(self) -> None:
        reported = perf_counter()
        pending = False
        while not self._closed:
            is_stuck = self._stuck == self._controller.reached
            asks = self._take(block=not pending and (is_stuck or self._controller.is_computed))
            if self._halt.is_set():
                self._controller.remake_no_more()
            if asks or pending:
                pending = self._answer(asks)
                continue
            if is_stuck:
                continue
            was_complete = self._controller.is_computed
            if news := self._or_report(self._compute_ahead):
                self._tell(news)
            if news or perf_counter() - reported > REPORT or self._controller.is_computed != was_complete:
                pending = self._show()
                reported = perf_counter()

    def _compute_ahead(self) -> News | None:
        self._is_ahead = True
        try:
            return self._controller.compute(SLICE)
        except GiveWayError:
            self._stuck = self._controller.reached
            return None
        finally:
            self._is_ahead = False

    def _take(self, block: bool) -> list[_Ask]:
        """Return all requests that have come; `block` waits until there is one, else only a short time."""
        asks = []
        try:
            ask = self._asks.get() if block else self._asks.get(timeout=2 * SLICE if self.playing else SLICE / 4)
            if ask is not None and not self._closed:
                sleep(max(self._taken + self._frame - perf_counter(), 0))
            self._taken = perf_counter()
            while ask is not None:
                asks.append(ask)
                ask = self._asks.get_nowait()
        except Empty:
            pass
        return asks

    def _answer(self, asks: list[_Ask]) -> bool:
        self._halt.clear()
        if self._closed:  # checked after that, so that the halt of `close` is not lost
            return False
        if not self._answered and any(ask.order is not None for ask in asks):
            self._or_report(self._see_the_beginning)
        for order in merged([ask.order for ask in asks if ask.order is not None]):
            self._or_report(lambda order=order: self._obey(order))  # type: ignore[misc]
            if self._closed:
                return False
        if asks:
            self._answered = asks[-1].number
        pending = self._show()
        if self._answered == self.asked:
            self._obeyed.set()
        return pending

    def _obey(self, order: Order) -> None:
        told = self._controller.obey(order, self._wish, self._halt.is_set)
        if isinstance(told, str):
            self._tell(Stopped(told))
        elif told is not None:
            self._tell(told)

    def _show(self) -> bool:
        return self._or_report(self._make_scene) or False

    def _see_the_beginning(self) -> None:
        self.beginning = Scenes(*self._controller.scenes(self._wish), self._answered)

    def _make_scene(self) -> bool:
        scene, beside = self._controller.scenes(self._wish)
        self._tell(Scenes(scene, beside, self._answered))
        if (doubt := self._controller.stage.doubt) and doubt != self._doubted:
            self._doubted = doubt
            self._tell(Failed(doubt))
        charts = [s.chart for s in (scene, beside) if s is not None]
        return any(chart is not None and chart.pending for chart in charts)

    def _or_report(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except SchedscopeError as error:
            self._tell(Failed(str(error)))
        except (Exception, NoAnswerError) as error:  # a policy may return just as it is interrupted
            self._tell(Failed(f"{type(error).__name__}: {error}"))
        return None


def merged(orders: list[Order]) -> list[Order]:
    """Return the requests with successive moves by steps, and successive requests of playback, joined to one each. Of
    successive requests to go to a time, only the last is kept.

    >>> merged([Move(1), Move(1), Move(-1), GoToTime(60), GoToTime(90)])
    [Move(steps=1), GoToTime(time=90, scrubbed=False)]
    """
    done: list[Order] = []
    for order in orders:
        last = done[-1] if done else None
        if isinstance(order, Move) and isinstance(last, Move):
            done[-1] = Move(last.steps + order.steps)
        elif isinstance(order, Play) and isinstance(last, Play) and order[1:] == last[1:]:
            done[-1] = last._replace(seconds=last.seconds + order.seconds)
        elif isinstance(order, GoToTime) and isinstance(last, GoToTime):
            done[-1] = order
        else:
            done.append(order)
    return done
