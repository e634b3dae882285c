"""Text from a file, a name, a policy or the clipboard is never taken as markup or as a command, but shown unchanged."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from textual.content import Content
from textual.events import Paste
from textual.widgets import Select

from sim.engine.moment import Moment
from sim.policies import POLICIES, Policy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.gang.gang import Gang
from sim.policies.multiqueue.multiqueue import MultiQueue
from sim.policies.parameters import parameter
from sim.policies.registry import policy
from sim.session.session import Bookmark, BranchRecord, Session, parsed, session_text
from sim.session.sources import session_of
from sim.support.formatting import Clock
from sim.workload.model import Job
from sim.workload.source import Source
from tests.tui.replays import replay
from tests.tui.screens.seeing import enter

MARKS = ("[", "[/x]", "[@click=app.exit]")
ID, USER, QUEUE = "[/x]", "[/u]", "[/q]"
FILE = "[@click=app.exit]A[.swf"
HEADER = f"""; MaxProcs: 4
; Computer: [/x] box
; Note: [@click=app.exit]note[/foo][
; Queue: 1 {QUEUE}
"""
JOBS = "1 0 -1 50 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n2 1 -1 50 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n"
TABLE = f"job,submit,runtime,procs,user,queue\n{ID}1,0,5000,4,{USER},{QUEUE}\n{ID}2,10,5000,4,{USER},{QUEUE}\n"


@pytest.fixture(autouse=True)
def taken_for_markup(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the list of all texts that the program lets Textual read as markup; check afterwards that none comes from a
    file or a user."""
    read, parse = list[str](), Content.from_markup.__func__  # type: ignore[attr-defined]

    def from_markup(cls: type[Content], markup: str | Content, /, **variables: object) -> Content:
        if isinstance(markup, str):
            read.append(markup)
        made: Content = parse(cls, markup, **variables)
        return made

    monkeypatch.setattr(Content, "from_markup", classmethod(from_markup))
    yield read
    assert [text for text in read if "[/" in text or "[@" in text or text == "["] == []


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / FILE.replace(".swf", ".csv")
    path.write_text(TABLE)
    return str(path)


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / FILE
    path.write_text(HEADER + JOBS)
    return str(path)


# Sessions
def with_line(session: Session, table: str, line: str) -> Session:
    return parsed(session_text(session).replace(f"[{table}]\n", f"[{table}]\n{line}\n").encode(), "s")


async def test_a_key_of_a_session_is_no_action_even_when_clicked(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    key = f"[@click=app.screenshot('{target.name}','{tmp_path}')]OK[/]"
    session = with_line(session_of(Source("z-figure4"), "easy"), "run", f'"{key}" = 1')
    assert session.warnings
    async with replay(session=session, notifications=True) as run:
        assert key in run.told
        await run.wait_for(lambda: "[@click=" in run.text)
        rows = run.text.splitlines()
        for y, row in enumerate(rows):
            if "OK[/]" in row:
                await run.pilot.click(offset=(row.index("OK[/]"), y))
        await run.settle()
    assert target.read_text() == "mine"


async def test_names_in_a_session_are_names() -> None:
    begun = session_of(Source("z-figure4"), "easy")
    marks = tuple(Bookmark(mark, "main", step) for step, mark in enumerate(MARKS))
    branches = (*begun.branches, *(BranchRecord(mark, "main", 2) for mark in MARKS))
    session = replace(begun, bookmarks=marks, branches=branches, view={"jump": "[/x]", "selected": "[/x]"})
    async with replay(session=session) as run:
        for key in ("apostrophe", "B", "v"):
            await run.press(key)
            for mark in MARKS:
                assert mark in run.text
            await run.press("escape")


# Traces
async def test_everything_that_a_log_says_of_itself_is_text(log: str) -> None:
    async with replay(log) as run:
        assert FILE[:12] in run.text
        await run.press("i")
        for words in (Path(FILE).stem, "[/x] box", "[@click=app.exit]note[/foo]["):
            assert words in run.text


async def test_ids_users_and_queues_are_text_in_every_panel(table: str) -> None:
    async with replay(table, "easy", at="10") as run:
        assert f"{ID}2" in run.text
        await run.press("w")
        await run.wait_for(lambda: USER in run.text)
        for mode, name in (("user", USER), ("queue", QUEUE)):
            await run.do(f"colour_by({mode!r})")
            await run.complete()
            assert name in run.text
        await run.pilot.hover("#chart", offset=(20, 8))
        await run.wait_for(lambda: run.screen.chart.tooltip is not None)
        assert ID in str(run.screen.chart.tooltip)
        await run.press("V", *"fcfs", "enter")
        await run.press("right", "right")


async def test_an_id_is_no_markup_where_it_is_looked_for_or_jumped_to(table: str) -> None:
    async with replay(table) as run:
        await run.press("slash", *"[/x]2")
        assert "[/x]2" in run.text
        await run.press("enter")
        assert run.screen.state.selected == 1
        await run.do("jump_to('job')")
        await run.settle()
        await run.press("slash")
        await enter(run, "[/foo]")
        assert "[/foo]" in run.text
        await run.press("escape")


async def test_files_in_the_picker_of_traces_are_text(log: str, table: str) -> None:
    async with replay() as run:
        await run.press("F")
        run.app.screen.post_message(Paste(str(Path(log).parent) + "/"))
        await run.wait_for(lambda: "[@click=app.exit]A" in run.text)
        await run.press("down")
        await run.wait_for(lambda: "[/x] box" in run.text)
        run.app.screen.post_message(Paste("[/x]"))
        await run.wait_for(lambda: "nothing begins with" in run.text)
        await run.press("escape")


async def test_an_error_that_quotes_a_name_is_text() -> None:
    async with replay(notifications=True) as run:
        for mark in MARKS:
            await run.do(f"open_trace({mark!r})")
            await run.wait_for(lambda mark=mark: mark in run.told)  # type: ignore[misc]
            await run.wait_for(lambda mark=mark: mark in run.text)  # type: ignore[misc]
            run.app.clear_notifications()


# Typed text
@pytest.mark.parametrize("action", ["save", "picture", "go_to", "find", "stops", "bookmark", "trace", "policy", "help"])
async def test_what_is_typed_is_text(action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with replay() as run:
        for mark in MARKS:
            await run.do(action)
            await run.settle()
            if action == "picture":
                await run.press("c")
            await run.pilot.press("ctrl+u")
            run.app.screen.post_message(Paste(mark))
            await run.wait_for(lambda mark=mark: mark in run.text)  # type: ignore[misc]
            await run.press("enter")
            if action == "save":
                assert mark in run.screen.state.said or f"{mark}: its directory does not" in run.text
            await run.pilot.pause()
            while run.app.screen is not run.screen:
                await run.press("escape")


async def test_the_palette_finds_what_looks_like_markup(own: str) -> None:
    async with replay() as run:
        await run.pilot.press("ctrl+p")
        await run.pilot.press(*"policy: [/x", "right_square_bracket")
        await run.wait_for(lambda: "[@click=app.exit]Own[/foo]" in run.text)
        assert f"policy: {own}" in run.text
        await run.pilot.press("escape")


# Policies
@contextmanager
def registered(name: str) -> Iterator[str]:
    @policy(name, "[/x] paper")
    @dataclass(frozen=True)
    class Own(FirstComeFirstServed):
        """[@click=app.exit]Own[/foo]

        [/x] more
        """

        kind: str = parameter("[/x]", "[/x] meaning", choices=("[/x]", "[/y]"))

    yield name
    POLICIES.remove(name)


@pytest.fixture
def own() -> Iterator[str]:
    with registered("[/x]") as name:
        yield name


async def test_what_a_policy_says_of_itself_is_text(own: str) -> None:
    async with replay(policy=own) as run:
        await run.press("V")
        assert f"Compare {own}" in run.text
        await run.press("escape", "p")
        for words in ("[/x] paper", "[@click=app.exit]Own[/foo]", "[/x] meaning", "[/x] more"):
            assert words in run.text
        run.app.screen.query_one(Select).action_show_overlay()
        await run.wait_for(lambda: "[/y]" in run.text)
        await run.pilot.press("[", "escape", "escape")


@dataclass(frozen=True)
class Because:
    """A reason of a user-defined policy whose sentence looks like markup."""

    mark: str

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{self.mark} because"


@dataclass(frozen=True)
class Talking(MultiQueue):
    """Policy whose names of queues and whose reasons look like markup."""

    def queues(self) -> tuple[str, ...]:
        return "[/x]", "[@click=app.exit]q", "["

    def limits(self) -> tuple[float, ...]:
        return ()

    def decide(self, now: Moment) -> None:
        super().decide(now)
        for job, mark in zip(now.queue, MARKS, strict=False):
            now.keep(job, Because(mark))


@dataclass(frozen=True)
class Turning(Gang):
    """Policy whose names of phases and whose reasons look like markup."""

    def rebuild(self, now: Moment) -> None:
        now.phase("[/x]phase")  # type: ignore[arg-type]
        super().rebuild(now)

    def place_in_new_row(self, now: Moment, job: Job, span: float | None) -> None:
        now.place(job, now.open_row(), Because("[@click=app.exit]"))


@contextmanager
def known(cls: type[Policy], name: str) -> Iterator[str]:
    cls.name, cls.paper = name, ""
    POLICIES.add(cls)
    yield name
    POLICIES.remove(name)


async def test_what_a_policy_calls_its_queues_and_why_it_decides_is_text(table: str) -> None:
    with known(Talking, "talking") as policy:
        async with replay(table, policy, (200, 60), at="10") as run:
            for words in ("[/x]", "[@click=app.exit]q", "[ because"):
                assert words in run.text
            await run.press("w")
            assert "[ because" in run.text
            await run.press("x")
            await enter(run, "user [/u] starts")
            await run.wait_for(lambda: "user [/u] starts" in run.screen.state.said + run.text)


async def test_what_a_policy_calls_the_phases_of_its_matrix_is_text(table: str) -> None:
    with known(Turning, "turning") as policy:
        async with replay(table, policy, (200, 60), at="10") as run:
            for words in ("[/x]phase", "[@click=app.exit] because", f"{ID}2"):
                assert words in run.text
            await run.press("left_square_bracket", "period", "comma")
            await run.do("select_phase(0)")
            await run.settle()
