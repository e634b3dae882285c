"""The puzzle's screen: typed, drawn, undone, replayed, saved.

Also tests tui.classroom.puzzle.runs, tui.screens.fitting_keys, tui.classroom.cli.puzzle.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from sim.classroom.play.tasks import Task, tasks
from sim.workload.formats.puzzle import parse_puzzle
from sim.workload.job_changes import PuzzleJob
from sim.workload.replay import read
from tests.tui.cli.program import error, schedscope
from tests.tui.late import late_message
from tests.tui.replays import finished, painted, wait_until
from tui.chart.cells.grid import Size
from tui.classroom.puzzle.board import NAMES, Board, Draft, Scale, part_at
from tui.classroom.puzzle.runs import charts
from tui.classroom.puzzle.screen import EXAMPLE, Charted, PuzzleScreen
from tui.classroom.screens import Begun
from tui.look.palette import LOOKS
from tui.screens.dialogs.choice import ChoiceDialog
from tui.widgets.cell_rows import Lines


class Puzzling:
    def __init__(self, pilot: Pilot[int], screen: PuzzleScreen) -> None:
        self.pilot, self.screen = pilot, screen

    @property
    def text(self) -> str:
        widgets = self.screen.query(Lines)
        return "\n".join(
            "".join(s.text for s in each.cells(y, 0, each.size.width))
            for each in widgets
            for y in range(each.size.height)
        )

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until the charts are on the screen; drawing them may give them another size, for which they are made
        again."""
        await painted(self.pilot)
        while any(not worker.is_finished for worker in self.screen.workers):
            await finished(self.pilot.app)
            await painted(self.pilot)


@asynccontextmanager
async def puzzle(
    line: str = EXAMPLE, size: tuple[int, int] = (80, 24), task: Task | None = None
) -> AsyncIterator[Puzzling]:
    app = Begun(lambda look, is_guest: PuzzleScreen(parse_puzzle(line), look, is_guest, task=task))
    async with app.run_test(size=size) as pilot:
        await wait_until(lambda: isinstance(app.screen, PuzzleScreen))
        assert isinstance(app.screen, PuzzleScreen)
        made = Puzzling(pilot, app.screen)
        await made.settle()
        yield made
        app.exit()


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (60, 18)])
async def test_four_policies_schedule_the_jobs_at_once(size: tuple[int, int]) -> None:
    async with puzzle(size=size) as run:
        for told in ("fcfs  mean ", "firstfit  mean ", "easy  mean ", "conservative  mean "):
            assert told in run.text
        await run.press("down", "down", "minus", "minus", "minus", "minus", "minus", "minus", "minus")
        assert run.screen.draft.puzzle.jobs[2].procs == 1
        assert re.search("easy  mean (wait )?7m42", run.text)


async def test_keys_change_a_job_and_undo_takes_it_back() -> None:
    async with puzzle("10 procs; 5x10m@0") as run:
        await run.press("right", "right_square_bracket", "right_curly_bracket", "plus", "greater_than_sign")
        step = round(Scale.of(Draft(parse_puzzle("10 procs; 5x10m@0")), 80 - NAMES).per_column)
        job = run.screen.draft.puzzle.jobs[0]
        assert job == PuzzleJob(6, 600 + step, step, 600 + 2 * step)
        assert run.screen.draft.puzzle.procs == 11
        await run.press(*"uuuuu")
        assert run.screen.draft.puzzle.line == "10 procs; 5x10m@0"
        await run.press("n", "n", "delete", "r")
        assert len(run.screen.draft.puzzle.jobs) == 2


async def test_what_is_typed_is_drawn_and_what_is_wrong_is_reported() -> None:
    async with puzzle("10 procs") as run:
        await run.press("e", *"; 5x10m@0; 9x1")
        assert len(run.screen.draft.puzzle.jobs) == 2
        await run.press(*"q[bold]")
        assert "J2: a time is seconds or like" in run.text
        await run.press("enter")
        assert run.screen.query_one("#line", Input).value.endswith("9x1q[bold]")
        assert "esc takes the line back" in run.text
        await run.press("escape")
        assert run.screen.query_one("#line", Input).value == "10 procs"
        assert run.screen.draft.puzzle.line == "10 procs"


async def test_changed_puzzle_is_left_only_when_asked_for() -> None:
    async with puzzle("10 procs; 5x10m@0") as run:
        app = run.pilot.app
        await run.press("n", "escape")
        assert isinstance(app.screen, ChoiceDialog)
        await run.press("s")
        assert isinstance(app.screen, PuzzleScreen)
        await run.press("y", "escape")
        assert not isinstance(app.screen, ChoiceDialog | PuzzleScreen)


async def test_full_puzzle_says_so() -> None:
    async with puzzle("10 procs" + "; 1x1m@0" * 60) as run:
        await run.press("n")
        assert "60 jobs at most" in run.text


async def test_a_drag_draws_a_job_and_moves_it() -> None:
    async with puzzle("10 procs; 5x10m@0") as run:
        step = Scale.of(run.screen.draft, 80 - NAMES).per_column
        await run.pilot.mouse_down(Board, offset=(NAMES + 10, 1))
        await run.pilot.hover(Board, offset=(NAMES + 20, 1))
        await run.pilot.mouse_up(Board, offset=(NAMES + 20, 1))
        await run.settle()
        assert run.screen.draft.puzzle.jobs[1] == PuzzleJob(5, round(10 * step), round(10 * step))
        await run.pilot.mouse_down(Board, offset=(NAMES + 12, 1))
        for column in (14, 17):
            await run.pilot.hover(Board, offset=(NAMES + column, 1))
        await run.pilot.mouse_up(Board, offset=(NAMES + 17, 1))
        await run.settle()
        assert run.screen.draft.puzzle.jobs[1].submit == round(15 * step)
        await run.press("u")
        assert run.screen.draft.puzzle.jobs[1].submit == round(10 * step)


def test_the_parts_of_a_bar_are_distinguished() -> None:
    draft = Draft(parse_puzzle("10 procs; 5x10m/20m@5m"))
    scale = Scale.of(draft, 80)
    found = [part_at(draft, 80 + NAMES, 0, NAMES + scale.column(time)) for time in (0, 300, 600, 1485, 1700)]
    assert found == ["none", "submit", "submit", "asked", "none"]
    assert part_at(draft, 80 + NAMES, 0, NAMES + scale.column(900) - 1) == "run"
    assert part_at(draft, 80 + NAMES, 1, NAMES) == "new"
    exact = Draft(parse_puzzle("10 procs; 5x10m@0"))
    end = Scale.of(exact, 80).column(600)
    assert [part_at(exact, 80 + NAMES, 0, NAMES + end + by) for by in (-2, -1, 0, 1)] == [
        "submit",
        "run",
        "run",
        "none",
    ]


async def test_smaller_machine_says_which_jobs_it_narrows() -> None:
    async with puzzle("3 procs; 3x10m@0; 1x1m; 3x5m") as run:
        await run.press("less_than_sign")
        assert "the machine has 2 processors, so J1, J3 got narrower" in run.text
        await run.press("less_than_sign", "less_than_sign")
        assert "narrower" not in run.text
        assert "J1: 1 processor for" in run.text


@pytest.mark.parametrize("size", [(80, 24), (60, 18)])
async def test_help_stays_on_the_line_of_keys_and_can_be_clicked(size: tuple[int, int]) -> None:
    async with puzzle(size=size) as run:
        keys = run.text.splitlines()[-1]
        assert "? help  q quit" in keys
        await run.pilot.click("#keys", offset=(keys.index("new"), 0))
        await run.settle()
        assert len(run.screen.draft.puzzle.jobs) == 6


async def replay_and_return(run: Puzzling) -> None:
    """Show the replay of the puzzle, and come back to the puzzle."""
    app = run.pilot.app
    assert isinstance(app, Begun)
    await run.press("enter")
    await wait_until(lambda: app.replay is app.screen)
    await run.pilot.pause()
    await run.pilot.press("H")
    await wait_until(lambda: app.screen is run.screen)


async def test_replay_comes_and_goes() -> None:
    async with puzzle() as run:
        await replay_and_return(run)
    # The replay screen has a widget of the same name, which is hidden by default.
    async with puzzle() as run:
        await replay_and_return(run)
        await run.settle()
        assert run.screen.query_one("#note").display


async def test_a_puzzle_becomes_a_trace_and_a_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with puzzle() as run:
        for key, name in (("S", "puzzle.swf"), ("L", "puzzle.toml")):
            await run.press(key)
            await run.pilot.press("enter")
            await wait_until(lambda name=name: (tmp_path / name).exists())  # type: ignore[misc]
    assert read(tmp_path / "puzzle.swf").submit.tolist() == [0, 0, 20, 30, 40]
    assert EXAMPLE in (tmp_path / "puzzle.toml").read_text()


@pytest.mark.parametrize("key", ["S", "L"])
async def test_unusable_path_is_reported_while_it_is_typed(key: str) -> None:
    async with puzzle() as run:
        await run.press(key)
        for typed, told in (("a" * 300, "File name too long"), ("/dev/null/a", "directory does not exist")):
            run.pilot.app.screen.query_one(Input).value = typed
            await run.settle()
            assert told in "\n".join(each.text for each in run.pilot.app.screen._compositor.render_strips())


def test_odd_lines_are_refused_or_read() -> None:
    assert [each.cells for each in charts(parse_puzzle("4 procs"), LOOKS["dark"], Size(10, 3))] == [None] * 4
    assert "J1: needs 1 to 4 processors, got 5" in error("puzzle", "4 procs; 5x1m@0")[1]
    assert "a puzzle needs a terminal" in error("puzzle", "4 procs")[1]
    line = "4 procs; " + "; ".join(["1x10m@0"] * 40)
    assert "a puzzle needs a terminal" in error("puzzle", line)[1]
    assert Draft(parse_puzzle("12 procs")).model.procs == 3
    assert Draft(parse_puzzle("1 procs")).model.procs == 1
    assert Draft(parse_puzzle("12 procs; 3x1m; 7x1m"), chosen=2).model.procs == 7


def test_a_file_is_no_puzzle_and_the_error_says_what_opens_it(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n1 0 0 10 2\n", encoding="utf-8")
    _, line = error("puzzle", tmp_path / "log.swf")
    assert "is a file" in line
    assert "schedscope watch opens a trace" in line


@pytest.mark.parametrize("has_another_size", [False, True])
async def test_charts_that_come_late_are_left_out(has_another_size: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts in another look or of another size may still be on their way, and come after the right ones."""
    async with puzzle() as run:
        of_before = late_message(run.screen, Charted, monkeypatch)
        await run.pilot.press("n")
        await of_before.come()
        if has_another_size:
            await run.pilot.resize_terminal(100, 30)
        else:
            run.screen.use_look(replace(run.screen._look, mode="ascii"))
        await run.settle()
        before = run.text
        await of_before.go()
        await run.settle()
        assert run.text == before


# Inverse puzzles


async def test_task_is_judged_while_the_jobs_change() -> None:
    async with puzzle() as run:
        await run.press("N")
        assert "Make one wait: add 1 job, so that J3.wait@fcfs > 10m" in run.text
        assert "Not yet: J3 is the job you add" in run.text
        await run.press("e", *"; 8x1m@2m", "enter")
        assert "Solved. N: the next task" in run.text
        await run.press("N")
        assert "Slip through: add 1 job" in run.text
        assert "Not yet: " in run.text
        await run.press("u")
        assert "the jobs of the puzzle stay as they are" in run.text


async def test_last_task_says_that_it_is_the_last() -> None:
    async with puzzle(tasks()[-1].start.line, task=tasks()[-1]) as run:
        await run.press("e", *"; 2x3m@0", "enter")
        assert "Solved: that was the last task. N: the first one again" in run.text


def test_tasks_are_listed_and_answers_judged_without_a_terminal() -> None:
    listed = schedscope("puzzle", "--tasks").stdout.splitlines()
    assert len(listed) == 24
    start = listed[1].partition(" ?")[0].strip()
    done = schedscope("puzzle", "--task", "1", f"{start}; 8x1m@2m")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "solved")
    again = schedscope("puzzle", "--task", listed[1].strip())
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, "not yet: J3 is the job you add")
    assert "whole puzzle, with the jobs of the task" in " ".join(schedscope("puzzle", "--help").stdout.split())
    short = schedscope("puzzle", "--task", "1", f"{start}; 1x1m@2m").stdout.splitlines()[-1]
    assert short.startswith("not yet: J3.wait@fcfs > 10m does not hold")
    assert error("puzzle", "--task", "99")[1].startswith("'99': expected 1 to 12, or a line of --tasks")
