"""Program of one visitor in its own process, which is cut off from the rest of the machine.

Traces that were read before the fork are shared by all visitors. The process may read only the program and those
traces. It cannot write files, start processes or open connections.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TextIO

from textual import events, on
from textual.driver import Driver
from textual.drivers.web_driver import WebDriver
from textual.message import Message
from textual.messages import InBandWindowResize

from sim.classroom.lessons.performance import Staged
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.runs import RunMoment
from sim.classroom.play.game import Game
from sim.classroom.play.tasks import tasks
from sim.policies.own.consent import refuse
from sim.session.session import Session, from_line, parsed
from sim.session.trace_ref import TraceRef
from sim.session.trust import NeedsTrustError
from sim.support.errors import ParameterError, SchedscopeError
from sim.workload.model import Workload
from sim.workload.replay import Replay, replay_of
from sim.workload.samples import ALSO, SAMPLES
from sim.workload.source import Source, is_line
from tui.app import Guest
from tui.chart.partition_names import named_under
from tui.classroom.guide import LessonGuide, Teaching, walk_of
from tui.classroom.opening import LessonOpening
from tui.classroom.play.screen import GameOver, PlayScreen
from tui.classroom.puzzle.screen import Charted, PuzzleScreen
from tui.classroom.web.classroom import Classroom
from tui.classroom.web.plain_pages import GamePage, LessonPage, PlainPage
from tui.classroom.web.roster import Roster, best_of
from tui.classroom.web.scene_pictures import ScenePictures
from tui.classroom.web.wall import Reporting
from tui.look.palette import LOOKS
from tui.replay.opening import Opening, Prepared
from tui.screens.dialogs.choice import ChoiceDialog
from tui.sessions.session_conversion import reopened

MOST_BYTES = 2**24
"""Largest size in bytes of a file that is offered to the user as a download."""


class VisitorDriver(WebDriver):
    """Driver of a visitor's program, which sends a file in one piece, and answers questions of the server."""

    answers: ClassVar[dict[str, Callable[[], dict[str, object]]]] = {}
    """For each kind of question of the server: the function that answers it, called in the program's own thread."""
    hears: ClassVar[dict[str, Callable[[str], object]]] = {}
    """For each kind of text from the page: the function that takes the text, called in the program's own thread."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():  # a key that Textual cannot read has ended the thread
            self._app.call_later(self._app.exit)

    def process_message(self, message: Message) -> None:
        """Pass on typed input, but no change of size from the page: the server limits sizes and sends them itself."""
        if not isinstance(message, events.Resize | InBandWindowResize):
            super().process_message(message)

    def deliver_binary(self, binary: BinaryIO | TextIO, *, delivery_key: str, save_path: Path, **about: Any) -> None:
        content = binary.read(MOST_BYTES)
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        self.write_meta({"type": "file", "name": save_path.name, "text": text})
        binary.close()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type in self.answers:
            self._app.call_later(self._answer, packet_type)
        elif packet_type in self.hears:
            self._app.call_later(self.hears[packet_type], str(payload.get("text", "")))
        elif packet_type in ("resize", "focus", "blur", "quit"):
            super().on_meta(packet_type, payload)

    def _answer(self, asked: str) -> None:
        self.write_meta({"type": asked, **self.answers[asked]()})


_OFFERED = (("c", "continue", "where the visit stood"), ("n", "new", "from the beginning"))
MOST_MEMORY = 1 << 30
"""Largest number of bytes of memory that a visitor's process may use in addition to the memory it begins with."""
AHEAD = 20.0
"""Longest time in seconds for which the first run is computed in advance, before any visitor comes."""
_DENIED = (
    *("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.connect", "socket.bind"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "os.chmod", "os.chown"),
    *("os.utime", "os.setxattr", "os.removexattr", "os.kill", "signal.pidfd_send_signal", "sqlite3.connect"),
    *("socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostby", "socket.getnameinfo"),
)
"""Names, or beginnings of names, of Python's audit events that raise an error in a visitor's process."""
_UNHEARD = ("mkfifo", "mknod", "posix_fallocate", "copy_file_range", "memfd_create")
"""Names of functions of `os` that make or fill files without an audit event; they are removed from the module."""
INSTALLED = ("site-packages", "dist-packages")
"""Names of folders that hold installed packages"""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True)
class ServerResources:
    """Traces and other objects that all visitors share, made before the first visit."""

    openings: tuple[Opening, ...] = ()
    """Traces and lessons that visitors can open; if empty, the first screen is shown."""
    read: Mapping[Source, Replay] = field(default_factory=dict)
    first: Prepared | None = None
    game: Workload | None = None
    has_tasks: bool = False
    """True if every visit begins with the first inverse puzzle."""

    @classmethod
    def of(cls, openings: tuple[Opening, ...]) -> ServerResources:
        read = {each.source: replay_of(each.source) for each in openings if not isinstance(each, LessonOpening)}
        first = None
        if openings:
            made = openings[0]
            first = made.prepared(read[made.source]) if made.source in read else made.prepare()
            first.timeline.compute_for(AHEAD)
        return cls(openings, read, first)

    def from_there(self, told: Mapping[str, Any]) -> ServerResources:
        """Return the objects with the first run where the common screen is, for a visitor who continues alone."""
        opening = self.openings[0] if self.openings else None
        walk, scene = walk_of(self.first.guide) if self.first else None, told.get("scene")
        if self.first is not None and walk is not None and isinstance(scene, int):
            return replace(self, first=replace(self.first, guide=LessonGuide(walk.go(scene))))
        if told.get("line"):
            there = reopened(from_line(told["line"]))
            source = there.source if opening is None or not self.read else opening.source
            read = self.read.get(source) or replay_of(source)
            return replace(self, first=replace(there, source=source).prepared(read))
        return self

    @property
    def traces(self) -> tuple[str, ...]:
        return tuple(source.trace for source in self.read)

    def classroom(self, answers: bool) -> Classroom | None:
        """Return the class for the first lesson if `answers` is True, otherwise for the game, or None."""
        walk = None if self.first is None else walk_of(self.first.guide)
        if self.first is not None and walk is not None and answers:
            scenes, pictures = [*map(self._as_in_the_chart, walk.scenes)], ScenePictures(self.first.timeline)
            return Classroom(Roster(scenes), walk.lesson.title, pictures=pictures)
        if self.has_tasks:
            at, none = RunMoment("", 0, 0.0), (None, (), None, None, "job")
            asked = [Staged(each.title, "", "", at, *none, Question("number", each.told, "", at)) for each in tasks()]
            return Classroom(Roster(asked, has_tasks=True), "Inverse puzzles")
        return None if self.game is None else Classroom(Roster(), f"A game: {self.game.name}")

    def plain(self) -> Callable[[], PlainPage] | None:
        """Return a function that begins the plain page of the game or of the first lesson; None for traces."""
        if self.game is not None:
            return partial(GamePage, Game(self.game))
        if self.first is None or (walk := walk_of(self.first.guide)) is None:
            return None
        walk = replace(walk, scenes=tuple(map(self._as_in_the_chart, walk.scenes)))
        return partial(LessonPage, walk, ScenePictures(self.first.timeline))

    def _as_in_the_chart(self, scene: Staged) -> Staged:
        """Return the scene with the chart's names of partitions in the answer to its question."""
        asked = scene.question
        if self.first is None or asked is None:
            return scene
        policy = self.first.timeline.branches[asked.seen.branch].engine.moment.rules
        choices = tuple(replace(choice, why=named_under(choice.why, policy)) for choice in asked.choices)
        return replace(scene, question=replace(asked, told=named_under(asked.told, policy), choices=choices))


class Visit(Reporting):
    """Program that a visitor sees in a browser."""

    def __init__(
        self, shared: ServerResources, theme: str = "dark", offer: Mapping[str, Any] | None = None, best: object = None
    ) -> None:
        """Make the program. `offer` is the visitor's last place, to which a dialog offers to return."""
        super().__init__(shared.first, guest=Guest(LOOKS[theme].with_depth(24), traces=shared.traces))
        self._shared, self._offer = shared, offer or {}
        self._best = best_of(best)
        VisitorDriver.answers.update(whole=self.whole, place=self.place)
        VisitorDriver.hears.update(session=self._take, wall=self.show_wall, best=self._hear_best)

    def on_mount(self) -> None:
        if self._shared.game is not None:
            self.call_after_refresh(self._begin_game, self._shared.game)
        if self._shared.has_tasks:
            first = tasks()[0]
            self.call_after_refresh(self.push_screen, PuzzleScreen(first.start, self.look, is_guest=True, task=first))
        if self._offer:
            self.call_after_refresh(self._ask_back)

    def _ask_back(self) -> None:
        told = "The visit was away for too long to be kept open; its place was kept."
        self.push_screen(ChoiceDialog("Continue where you were?", _OFFERED, told=(told,)), self._go_back)

    def _go_back(self, answer: str | None) -> None:
        if answer != "continue":
            return
        scene, replay = self._offer.get("scene"), self.replay
        if replay is not None and isinstance(replay.guiding, Teaching) and isinstance(scene, int):
            replay.guiding.lesson_resume(scene, _answers(self._offer.get("answers")))
        elif line := self._offer.get("line"):
            self.open(lambda: self._of_session(from_line(str(line))))

    def _take(self, text: str) -> None:
        self.open(lambda: self._of_session(parsed(text.encode("utf-8", "replace"), "the dropped file")))

    def _of_session(self, session: Session) -> Opening:
        """Return what to open for a session; its trace must be offered, and is recognised by its content."""
        self._check_files(session)
        try:
            there = reopened(session)
        except NeedsTrustError:
            raise ParameterError(
                "this session names policies that are code, and a visitor's code does not run"
            ) from None
        for source in self._shared.read:
            if session.trace.sha256 and session.trace.sha256 == _hash_of(source.trace):
                return replace(there, source=replace(there.source, trace=source.trace))
        return there

    def _check_files(self, session: Session) -> None:
        """Raise an error if a session names a file that is not offered; whether it exists is not checked."""
        nodes, outages = session.options.get("nodes"), str(session.options.get("outage") or "")
        if nodes not in (None, *(source.nodes for source in self._shared.read)) or ".csv" in outages.lower():
            raise ParameterError("this session names a file of nodes or outages, and visitors read none")

    # The class

    def report(self, **told: object) -> None:
        if isinstance(self._driver, VisitorDriver):
            self._driver.write_meta(told)

    def _begin_game(self, game: Workload) -> None:
        self.push_screen(PlayScreen(game, self.look, game.name, self._best))

    @on(GameOver)
    def _report_score(self, message: GameOver) -> None:
        self.report(type="score", mean=message.mean, worst=message.worst)

    @on(Charted)
    def _report_task(self, message: Charted) -> None:
        if message.task in tasks():
            solution = "" if message.problem else message.puzzle.line
            self.report(type="stands", scene=tasks().index(message.task), given=solution, right=True)

    def _hear_best(self, text: str) -> None:
        self._best = best_of(json.loads(text))
        for screen in self.screen_stack:
            if isinstance(screen, PlayScreen):
                screen.put_best(self._best)

    def get_driver_class(self) -> type[Driver]:
        return VisitorDriver

    def prepare(self, opening: Opening) -> Prepared:
        """Read what is to be opened; a file must be one that the server offers."""
        if opening.source in self._shared.read:
            return opening.prepared(self._shared.read[opening.source])
        if isinstance(opening, LessonOpening) or is_line(opening.source.trace):
            return super().prepare(opening)
        trace = opening.source.trace
        if trace not in {sample.name for sample in (*SAMPLES, *ALSO)} or os.path.exists(trace):
            raise ParameterError(f"{trace}: there is no such trace here")
        return super().prepare(opening)


def live(shared: ServerResources, theme: str) -> Callable[[dict[str, Any]], object]:
    def run(told: dict[str, Any]) -> object:
        os.environ.update(COLUMNS=str(told["columns"]), ROWS=str(told["rows"]))
        seal(shared.traces)
        return Visit(shared.from_there(told), theme, told.get("offer"), told.get("best")).run()

    return run


def seal(traces: tuple[str, ...]) -> None:
    """Cut off this process: from now on it can read only the program and these traces, and write nothing."""
    refuse()
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if (taken := _memory()) is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (taken + MOST_MEMORY,) * 2)
    for module in (os, sys.modules[os.name]):
        for name in _UNHEARD:
            if hasattr(module, name):
                setattr(module, name, _refused(name))
    sys.addaudithook(_read_only_guard(_readable(traces)))


def _memory() -> int | None:
    with suppress(OSError, ValueError, StopIteration), open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmData:")) << 10
    return None


def _refused(name: str) -> Callable[..., None]:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(f"os.{name} is not for visitors")

    return refused


def _readable(traces: tuple[str, ...]) -> tuple[str, ...]:
    ours = Path(__file__).resolve().parents[3]
    # a folder of development has more than code, and the folder in which the server runs is the user's
    private = {os.path.realpath(".")} | ({str(ours)} if ours.name not in INSTALLED else set())
    roots: list[str | Path] = [
        *(root for root in sys.path if root and os.path.realpath(root) not in private),
        sys.prefix,
        sys.base_prefix,
        ours / "sim",
        ours / "tui",
        ours / "sample_traces",
    ]
    return tuple(f"{os.path.realpath(root)}{os.sep}" for root in roots) + tuple(map(os.path.realpath, traces))


def _read_only_guard(readable: tuple[str, ...]) -> Callable[[str, tuple[Any, ...]], None]:
    def guard(event: str, about: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = about
            if isinstance(path, int):
                return
            if flags & _WRITES or (mode and set(mode) & set("wax+")):
                raise PermissionError("nothing is written here")
            if not _is_within(os.path.realpath(os.fsdecode(path)), readable):
                raise PermissionError("this is not to be read here")
        elif event in ("os.listdir", "os.scandir") and not _is_within(os.path.realpath(about[0] or "."), readable):
            raise PermissionError("this is not to be read here")
        elif event.startswith(_DENIED):
            raise PermissionError(f"{event} is not for visitors")

    return guard


def _is_within(path: str, readable: tuple[str, ...]) -> bool:
    return path.startswith(("/proc/self/", "/dev/null", "/dev/urandom")) or any(
        path == root or (root.endswith(os.sep) and path.startswith(root)) for root in readable
    )


def _answers(given: object) -> tuple[tuple[int, bool], ...]:
    if not isinstance(given, list):
        return ()
    return tuple((each[0], bool(each[1])) for each in given if isinstance(each, list) and len(each) == 2)


def _hash_of(trace: str) -> str:
    try:
        return TraceRef.of(trace, not os.path.exists(trace)).sha256
    except SchedscopeError:
        return ""
