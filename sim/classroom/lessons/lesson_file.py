"""A lesson as a file (TOML), as the page of the lessons explains it. It runs no code, and reads no file outside of its
folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar, cast, get_args

from sim.classroom.lessons.lesson import COLOURS, ORDER, PANELS, Ask, Kind, Lesson, LessonError, LessonScene, Zoom
from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.policies.own.naming import code_in
from sim.support.errors import ParameterError, SchedscopeError, near
from sim.support.files import TextKind
from sim.support.formatting import quoted
from sim.workload.formats.puzzle import LONGEST as LONGEST_PUZZLE
from sim.workload.formats.puzzle import parse_puzzle
from sim.workload.options import OPTIONS, WITH, Option
from sim.workload.samples import sample_path
from sim.workload.source import is_line
from sim.workload.transforms import parse_estimates

MOST_BYTES = 2**18
LESSON = TextKind("lesson", MOST_BYTES, LessonError)
MOST_SCENES = 200
LONGEST = 2000
"""Largest number of characters in a long text, such as that of a scene."""
A_LINE = 200
"""Largest number of characters in a title or another text of one line."""
MOST_OF_A_LIST = 20
MOST_OF_A_TRACE = 2**26
"""Largest size in bytes of a trace file in the lesson's folder."""
P = ParamSpec("P")
T = TypeVar("T")


def read_lesson(path: str | Path) -> Lesson:
    """Return the lesson in a file, or raise its first error as a `LessonError`; its `others` are the remaining ones."""
    text = LESSON.read(path)
    found = LESSON.toml(text, path)
    reader = _Reader(path, text)
    try:
        lesson = reader.lesson(found)
    except LessonError as error:
        raise LessonError.first_of([*reader.wrong, error]) from None
    if reader.wrong:
        raise LessonError.first_of(reader.wrong)
    return lesson


FOLDER = Path(__file__).parent / "course"


@cache
def course() -> tuple[Lesson, ...]:
    return tuple(read_lesson(FOLDER / f"{name}.toml") for name in ORDER)


def found_lesson(named: str) -> Lesson:
    """Return the lesson in the file `named` (ending in .toml, or a path), or the built-in one by name or number."""
    if named.endswith(".toml") or os.sep in named:
        return read_lesson(named)
    if named.isdecimal() and 0 < int(named) <= len(ORDER):
        named = ORDER[int(named) - 1]
    if named not in ORDER:
        raise ParameterError(f"no lesson {quoted(named)}{near(named, ORDER)} (or FILE.toml, one of your own)")
    return read_lesson(FOLDER / f"{named}.toml")


def _recording_errors(take: Callable[Concatenate[_Table, P], T]) -> Callable[Concatenate[_Table, P], T | None]:
    """Return `take`, a method that reads a value, as one that records its `LessonError` and returns None."""

    @wraps(take)
    def taken(table: _Table, /, *args: P.args, **named: P.kwargs) -> T | None:
        try:
            return take(table, *args, **named)
        except LessonError as error:
            table.wrong.append(error)
            return None

    return taken


class _Table:
    """Table of a lesson file. It checks values when they are read; a key that the program never reads is an error."""

    def __init__(
        self, name: str, values: Mapping[str, Any], lines: Mapping[str, int], path: str | Path, wrong: list[LessonError]
    ) -> None:  # fmt: skip
        self.name, self.lines, self.path, self.wrong = name, lines, path, wrong
        """Name of the table, key -> line number, path of the file, and list of the errors found in the file."""
        self._values = dict(values)

    def note(self, what: str, key: str = "") -> None:
        self.wrong.append(LessonError(what, self.path, self.lines.get(key, self.lines.get("", 1))))

    def fail(self, what: str, key: str = "") -> NoReturn:
        self.note(what, key)
        raise self.wrong.pop()

    def take(self, key: str) -> Any:
        return self._values.pop(key, None)

    @_recording_errors
    def words(self, key: str, most: int = A_LINE, needed: bool = False) -> str | None:
        """Return a text of at most `most` characters; None or, if `needed`, an error if the key is missing."""
        value = self.take(key)
        if value is None and not needed:
            return None
        if not isinstance(value, str) or (needed and not value.strip()):
            self.fail(f"{key}: expected words in quotes", key if value is not None else "")
        if len(value) > most:
            self.fail(f"{key}: {len(value):,} letters, at most {most:,} can be shown", key)
        if any(not c.isprintable() and c not in "\n\t" for c in value):
            self.fail(f"{key}: has letters that cannot be shown", key)
        return value.strip()

    @_recording_errors
    def moment(self, key: str) -> str | None:
        """Return the time or step under a key as text, a plain number being seconds; None if the key is missing."""
        value = self._values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._values[key] = f"{value:.12g}" if abs(value) < 1e15 else "too late"
        return self.words(key)

    @_recording_errors
    def listed(self, key: str, among: Sequence[str] = ()) -> tuple[str, ...] | None:
        """Return the words under a key, all of which are in `among` if given; None if the key is missing."""
        value = self.take(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self.fail(f"{key}: expected a list of words in quotes", key)
        if len(value) > MOST_OF_A_LIST:
            self.fail(f"{key}: at most {MOST_OF_A_LIST} can stand here", key)
        for word in value:
            if len(word) > A_LINE:
                self.note(f"{key}: {quoted(word)} is too long", key)
            if among and word not in among:
                self.note(f"{key}: no {quoted(word)}{near(word, among)}", key)
        return tuple(value)

    @_recording_errors
    def one_of(self, key: str, among: Sequence[str], needed: bool = False) -> str | None:
        value = self.words(key, needed=needed)
        if value is not None and value not in among:
            self.fail(f"{key}: no {quoted(value)}{near(value, among)}", key)
        return value

    def spec(self, key: str) -> str | None:
        """Return the spec under a key, None if missing or wrong; only built-in policies, as a lesson runs no code."""
        value = self.words(key)
        return None if value is None else self._checked(value, key)

    def run(self, key: str) -> str | None:
        """Return the policy under a key, perhaps with estimates (`easy with exact`); None if missing or wrong."""
        value = self.words(key)
        return None if value is None else self._checked_run(value, key)

    def runs(self, key: str) -> tuple[str, ...]:
        return tuple(filter(None, (self._checked_run(run, key) for run in self.listed(key) or ())))

    def _checked_run(self, run: str, key: str) -> str | None:
        spec, has_estimates, estimates = run.partition(WITH)
        if has_estimates:
            try:
                parse_estimates(estimates)
            except SchedscopeError as error:
                self.note(f"{key}: {error}", key)
        return run if self._checked(spec, key) else None

    @_recording_errors
    def _checked(self, spec: str, key: str) -> str:
        if code_in(spec):
            self.fail(f"{key}: {quoted(spec)} is code, and a lesson runs none", key)
        try:
            parse_policy(spec)
        except SchedscopeError as error:
            self.fail(f"{key}: {error}", key)
        return spec

    @_recording_errors
    def table(self, key: str, lines: Mapping[str, int]) -> _Table | None:
        value = self.take(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(f"{key}: expected a table", key)
        return _Table(key, value, lines, self.path, self.wrong)

    def close(self, known: Sequence[str]) -> None:
        for key in self._values:
            where = f"[{self.name}]" if self.name else "a lesson"
            self.note(f"there is no {quoted(key)} in {where}{near(key, known)}", key)


class _Reader:
    """Reader of a lesson file, whose errors name the line of the wrong value."""

    def __init__(self, path: str | Path, text: str) -> None:
        self._path, self._places = path, dict(places(text))
        self.wrong: list[LessonError] = []

    def _lines(self, *table: object) -> dict[str, int]:
        return {key: line for (of, key), line in self._places.items() if of == table}

    def lesson(self, found: Mapping[str, Any]) -> Lesson:
        top = _Table("", found, self._lines(), self._path, self.wrong)
        title = top.words("title", needed=True) or ""
        recorded = top.words("recording")
        named = top.words("trace", LONGEST_PUZZLE, needed=recorded is None)
        if recorded is not None and named is not None:
            top.note("trace and recording: a lesson has one of them", "recording")
        trace = _trace(top, named) if named is not None else None
        options = _options(top.table("options", self._lines("options")))
        scenes = top.take("scene")
        if not isinstance(scenes, list) or not scenes or not all(isinstance(scene, dict) for scene in scenes):
            top.fail("a lesson needs scenes: [[scene]]", "scene")
        if len(scenes) > MOST_SCENES:
            top.fail(f"{len(scenes):,} scenes: at most {MOST_SCENES} are shown", "scene")
        picture = top.take("picture")
        if picture is not None and (type(picture) is not int or not 1 <= picture <= len(scenes)):
            top.note(f"picture: expected the number of a scene, from 1 to {len(scenes)}", "picture")
        lesson = Lesson(
            name=Path(self._path).stem,
            title=title,
            trace=trace or "",
            scenes=tuple(self._scene(scene, number) for number, scene in enumerate(scenes)),
            policy=top.spec("policy") or "easy",
            paper=top.words("paper") or "",
            about=top.words("about") or "",
            exercise=top.words("exercise", LONGEST) or "",
            solution=top.words("solution", LONGEST) or "",
            holds=top.listed("holds") or (),
            options=options,
            placement=cast(Placement, top.one_of("placement", get_args(Placement)) or "lowest"),
            picture=picture or 1,
            path=os.fspath(self._path),
            lines=top.lines,
            recording="" if recorded is None else _file_in_folder(top, "recording", recorded) or "",
        )
        top.close([key for key in Lesson.__dataclass_fields__ if key not in ("name", "scenes", "path", "lines")])
        return lesson

    def _scene(self, found: Mapping[str, Any], number: int) -> LessonScene:
        table, known = _Table("scene", found, self._lines("scene", number), self._path, self.wrong), len(self.wrong)
        ask = table.table("ask", self._lines("scene", number, "ask"))
        scene = LessonScene(
            title=table.words("title") or "",
            say=table.words("say", LONGEST) or "",
            notes=table.words("notes", LONGEST) or "",
            at=table.moment("at"),
            when=table.words("when"),
            before=table.words("before"),
            policy=table.run("policy"),
            switch=table.spec("switch"),
            compare=table.run("compare"),
            compare_here=table.spec("compare_here"),
            show=table.listed("show", PANELS),
            over=table.one_of("over", PANELS),
            zoom=_zoom(table),
            select=table.words("select"),
            colour=table.one_of("colour", COLOURS),
            ask=None if ask is None else self._ask(ask),
            holds=table.listed("holds") or (),
            lines=table.lines if ask is None else {**table.lines, "ask": ask.lines.get("", 0)},
        )
        if scene.when and scene.before:
            table.note("when and before: a scene goes to one moment", "before")
        if scene.compare and scene.compare_here:
            table.note("compare and compare_here: one other run can stand beside", "compare_here")
        if not scene.say and scene.ask is None and len(self.wrong) == known:
            table.note("a scene says or asks something: give it a say or a [scene.ask]")
        table.close([name for name in LessonScene.__dataclass_fields__ if name != "lines"])
        return scene

    def _ask(self, table: _Table) -> Ask:
        known = len(self.wrong)
        kind = cast(Kind, table.one_of("kind", get_args(Kind), needed=True))
        ask = Ask(
            kind=kind,
            question=table.words("question", LONGEST) or "",
            job=table.words("job") or "",
            of=table.words("of") or "",
            among=table.runs("among"),
            under=table.run("under") or "",
            within=_tolerated_share(table) or 0.0,
            then=table.words("then", LONGEST) or "",
        )
        needs = {"policy": "among", "gains": "under", "loses": "under", "number": "of"}
        needs |= dict.fromkeys(("start", "reason", "earlier"), "job")
        needed = needs.get(kind, "")
        if len(self.wrong) == known:
            if needed and not getattr(ask, needed):
                table.note(f"a question of the kind {kind} needs {needed}")
            elif kind == "number" and not ask.question:
                table.note("a question for a number needs its words: question")
            elif kind == "policy" and len(set(ask.among)) < 2:
                table.note("among: give it two policies or more to choose from", "among")
        table.close([*Ask.__dataclass_fields__])
        return ask


# Values that need parsing


@_recording_errors
def _trace(top: _Table, named: str) -> str:
    """Return the trace: a file in the lesson's folder, a sample or a puzzle; anything else is an error."""
    if is_line(named):
        try:
            return parse_puzzle(named).line
        except SchedscopeError as error:
            top.fail(f"trace: {error}", "trace")
    if (path := _file_beside(top, "trace", named)) is not None:
        return path
    try:
        sample_path(named)
    except SchedscopeError as error:
        top.fail(f"trace: no file {quoted(named)} next to the lesson, and {error}", "trace")
    return named


@_recording_errors
def _file_in_folder(top: _Table, key: str, named: str) -> str:
    path = _file_beside(top, key, named)
    return path if path is not None else top.fail(f"{key}: no file {quoted(named)} next to the lesson", key)


def _file_beside(top: _Table, key: str, named: str) -> str | None:
    """Return the path of a file in the lesson's folder, None if it is missing; a path out of it is an error."""
    folder = os.path.dirname(os.path.abspath(top.path))
    if os.path.isabs(named) or ".." in Path(named).parts or "\\" in named or named.startswith("~"):
        top.fail(f"{key}: {quoted(named)}: a {key} lies beside its lesson{', or is a sample' * (key == 'trace')}", key)
    try:
        path = os.path.realpath(os.path.join(folder, named))
        if not os.path.isfile(path):
            return None
        if not path.startswith(os.path.join(os.path.realpath(folder), "")):
            top.fail(f"{key}: {quoted(named)} leads out of the folder of the lesson", key)
        if os.path.getsize(path) > MOST_OF_A_TRACE:
            top.fail(f"{key}: {quoted(named)} has more than {MOST_OF_A_TRACE:,} bytes", key)
        return path
    except (OSError, ValueError):
        top.fail(f"{key}: {quoted(named)} is no name of a file", key)


def _options(table: _Table | None) -> dict[str, Any]:
    if table is None:
        return {}
    found = {name: _option(table, name, option) for name, option in OPTIONS.items()}
    table.close([*OPTIONS])
    return {name: value for name, value in found.items() if value is not None}


@_recording_errors
def _option(table: _Table, name: str, option: Option) -> Any:
    """Return the value of an option of the trace, None if missing; one that reads another file is an error."""
    value = table.take(name)
    if value is None:
        return None
    typed = str(value) if option.kind is str and not isinstance(value, bool) else value
    try:
        if isinstance(value, list | dict):
            raise SchedscopeError("expected one value")
        if name == "outage" and ".csv" in f"{value}".lower():
            raise SchedscopeError("a lesson reads no file of outages: write them here, like 5d..6d; 7d..8d: 0-63")
        option.taken(typed)
    except (SchedscopeError, TypeError, ValueError, OverflowError) as error:
        table.fail(f"{name}: {error}", name)
    return typed


@_recording_errors
def _zoom(table: _Table) -> Zoom | None:
    value = table.take("zoom")
    if value is None or value in ("all", "first"):
        return cast("Zoom | None", value)
    if isinstance(value, list) and len(value) == 2:
        ends = _Table(
            "scene",
            {"from": value[0], "to": value[1]},
            dict.fromkeys(("from", "to"), table.lines.get("zoom", 0)),
            table.path,
            table.wrong,
        )
        begin, end = ends.moment("from"), ends.moment("to")
        if begin and end:
            return begin, end
    return table.fail('zoom: expected "all", "first" or [from, to]', "zoom")


@_recording_errors
def _tolerated_share(table: _Table) -> float:
    value = table.take("within")
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        table.fail("within: expected a share of the number, more than 0 and at most 1", "within")
    return float(value)


# Lines of keys, which the standard library's parser does not report

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\s-]+?)\s*\]\]?\s*(?:#.*)?$", re.ASCII)
_KEY = re.compile(r"""\s*["']?([\w-]+)["']?\s*=\s*(.*)$""", re.ASCII | re.DOTALL)


def places(text: str) -> Iterator[tuple[tuple[tuple[object, ...], str], int]]:
    r"""Yield ((path of the table, key), line) for each key of a TOML text; the key "" is the first line of a table.

    >>> dict(places('title = "a"\n[[scene]]\nat = 3'))
    {((), 'title'): 1, ((), 'scene'): 2, (('scene', 0), ''): 2, (('scene', 0), 'at'): 3}
    """
    table: tuple[object, ...] = ()
    scenes, closes = -1, ""
    for number, line in enumerate(text.split("\n"), 1):
        if closes:
            closes = "" if closes in line else closes
        elif header := _HEADER.match(line):
            path = header[2].replace(" ", "").split(".")
            if header[1] == "[[":
                scenes += 1
                if not scenes:
                    yield ((), path[0]), number
            table = ("scene", scenes, *path[1:]) if path[0] == "scene" else tuple(path)
            yield (table, ""), number
        elif key := _KEY.match(line):
            yield (table, key[1]), number
            for quote in ('"""', "'''"):
                if key[2].startswith(quote) and quote not in key[2][3:]:
                    closes = quote
