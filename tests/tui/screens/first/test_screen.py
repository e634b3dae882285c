"""Also tests tui.menus."""

import re
from pathlib import Path
from threading import Event, get_ident
from time import sleep

import pytest

from sim.support.formatting import clock_near
from sim.workload.samples import SAMPLES, sample_path
from tests.tui.replays import PATIENCE, Replay, first_screen, replay
from tests.tui.screens.seeing import enter, seen
from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.chart.partition_names import told_decision
from tui.chart.scene import ChartScene
from tui.look.palette import Look
from tui.replay.thumbnail import Thumbnail
from tui.screens.first import screen
from tui.screens.first.screen import Menu


async def opened(run: Replay) -> None:
    await run.wait_for(lambda: run.app.replay is not None)
    await run.settle()


async def test_enter_opens_what_backfilling_is_at_the_moment_that_it_is_about() -> None:
    async with first_screen() as run:
        await run.pilot.press("enter")
        await opened(run)
        assert (run.screen.about.trace, run.scene.snapshot.policy, run.scene.clock) == ("z-figure4", "easy", 600)
        assert "J5 passes J3: it ends before J3 is to start." in run.text
        assert "00:18:20, before J3's start at 00:20:00" in run.text
        await run.press("right")
        assert "J5 passes J3" not in run.text
        await run.press("left")
        assert "J5 passes J3" in run.text


async def test_a_sample_on_a_line_comes_where_it_is_best_seen() -> None:
    async with first_screen((80, 24)) as run:
        assert "look at   Doubled estimates  Sixty jobs with uniform run times" in run.text
        await run.pilot.press(*["down"] * 5, "enter")
        await opened(run)
        assert (run.screen.about.trace, run.scene.clock) == ("zkp-uniform", 54598)


async def test_a_click_opens_and_the_arrows_choose() -> None:
    async with first_screen((60, 18)) as run:
        await run.pilot.press("down", "down")
        assert "Letting the head wait a little" in run.text
        await run.pilot.click("Menu", offset=(30, 1))
        await opened(run)
        assert run.screen.about.trace == "z-figure4"


async def test_the_first_screen_is_a_key_away_and_esc_goes_back() -> None:
    async with replay("w-figure1") as run:
        await run.press("right", "right")
        await run.pilot.press("H")
        assert "Which jobs may pass?" in run.text
        await run.press("escape")
        assert run.step == 2
        await run.pilot.press("H", "6")
        await run.wait_for(lambda: run.screen.about.trace == "z-figure7")
        await run.settle()
        assert run.scene.snapshot.matrix is not None
        assert len(run.app.screen_stack) == 2


async def test_esc_leaves_nothing_where_nothing_is_open() -> None:
    async with first_screen() as run:
        await run.pilot.press("escape", "question_mark")
        assert "Choose what to open." in run.text
        assert "A block in the chart" not in run.text


async def test_sessions_and_traces_are_offered_again(tmp_path: Path) -> None:
    trace = tmp_path / "my.swf"
    trace.write_bytes(sample_path("w-figure1").read_bytes())
    async with replay(str(trace), "fcfs") as run:
        await run.press("right", "right", "right")
        await run.press("s")
        await enter(run, str(tmp_path / "a.session"))
        await run.wait_for(lambda: run.app.settings.recent)
    async with first_screen() as run:
        assert "where it was left" in run.text
        assert "a.session  my.swf under fcfs, step 3" in run.text
        await run.wait_for(lambda: str(tmp_path) in run.text)
        run.app.screen.query_one(Menu).choose(9)
        await run.pilot.press("enter")
        await opened(run)
        assert (run.step, run.scene.snapshot.policy) == (3, "fcfs")


async def test_menu_of_lessons_shows_the_progress() -> None:
    async with first_screen() as run:
        await run.pilot.press("9")
        assert "what to learn?" in run.text
        assert "Who may pass whom" not in run.text
        await run.pilot.press("2")
        await opened(run)
        assert "1/7" in run.text
        await run.press("space")
        assert run.app.settings.lessons == {"backfilling": 2}
        await run.pilot.press("L")
        assert "2 of 7 scenes" in run.text
        await run.pilot.press("2")
        await run.wait_for(lambda: "2/7" in run.text)
        await run.settle()
        await run.press("end")
        await run.screen.run_action("lesson_go(6)")
        await run.settle()
        await run.pilot.press("space")
        await run.wait_for(lambda: "A workload in a line" in run.text)
        await run.pilot.press("L")
        await run.wait_for(lambda: "done" in run.text)


async def test_a_look_that_is_chosen_is_kept() -> None:
    async with first_screen((80, 24)) as run:
        await run.pilot.press("T", "3")
        await run.wait_for(lambda: "AJ1A" in run.text)
        assert run.app.settings.mode == "ascii"


@pytest.mark.parametrize("size", [(60, 18), (200, 60)])
@pytest.mark.parametrize("number", range(1, len(SAMPLES) + 1))
async def test_each_sample_comes_as_it_is_shown_and_says_nothing_twice(number: int, size: tuple[int, int]) -> None:
    async with first_screen(size) as run:
        await run.pilot.press(str(number))
        await opened(run)
        sample, shown = SAMPLES[number - 1], run.scene.snapshot
        assert (run.screen.about.trace, shown.policy) == (sample.name, sample.policy)
        assert run.scene.clock == sample.at == shown.time
        assert shown.decisions
        note = sample.note
        told = [
            " ".join(seen(run, f"#{part.id}").split())
            for part in run.screen.query("*")
            if part.id and part.display and not part.children
        ]
        parts = [text for text in told if text]
        assert sum(note in text for text in parts) == 1
        elsewhere = " ".join(parts).replace(note, "")
        assert not [job for job in re.findall(r"\bJ\d+", note) if not re.search(rf"\b{job}\b", elsewhere)]
        for decision in shown.decisions:
            said = told_decision(decision, shown, clock_near(run.scene.clock))
            assert sum(text.count(said) for text in parts) <= 1, said


async def test_pictures_are_drawn_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that was cancelled, because the screen got another size, ends only after its present picture."""
    drawing, most = set[int](), list[int]()

    class Slow(Thumbnail):
        def chart(self, columns: int, rows: int) -> ChartScene:
            drawing.add(get_ident())
            most.append(len(drawing))
            sleep(0.02)
            drawing.discard(get_ident())
            return super().chart(columns, rows)

    monkeypatch.setattr(screen, "_thumbnail", lambda entry: Slow.of_sample("z-figure4"))
    async with first_screen((80, 24)) as run:
        for size in ((90, 24), (120, 36), (80, 30)):
            await run.pilot.resize_terminal(*size)
        menu = run.app.screen.query_one(Menu)
        await run.wait_for(lambda: menu.is_whole)
    assert max(most) == 1


async def test_a_picture_that_comes_late_in_the_look_before_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread may be drawing in the look before when the user chooses another one, and be the last to end."""
    drawing, go_on = Event(), Event()

    def late(chart: ChartScene, look: Look, size: Size) -> Cells:
        if look.mode != "ascii":
            drawing.set()
            go_on.wait(PATIENCE)
        return sketch(chart, look, size)

    monkeypatch.setattr(screen, "sketch", late)
    async with first_screen((80, 24)) as run:
        await run.wait_for(drawing.is_set)
        await run.pilot.press("T", "3")
        menu = run.app.screen.query_one(Menu)
        await run.wait_for(lambda: menu.is_whole and "AJ1A" in run.text)
        before = run.text
        go_on.set()
        await run.wait_for(lambda: all(worker.is_finished for worker in run.app.workers))
        await run.pilot.pause()
        assert run.text == before


async def test_the_cluster_of_this_machine_is_the_first_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No command of Slurm is found here, which its screen reports."""
    monkeypatch.setattr("tui.menus.which", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    async with first_screen() as run:
        assert "1 watch     this cluster" in run.text
        await run.pilot.press("enter")
        await run.wait_for(lambda: "no answer since" in run.text)
        live = run.app.screen
        await run.pilot.press("H")
        await run.wait_for(lambda: "this cluster" in run.text)
        await run.pilot.press("1")
        await run.wait_for(lambda: run.app.screen is live)


async def test_note_of_a_sample_is_not_said_of_other_jobs() -> None:
    async with first_screen((80, 24)) as run:
        await run.pilot.press("2")
        await opened(run)
        note = run.screen.state.note.told[:20] if run.screen.state.note else ""
        assert note
        assert note in seen(run, "#note")
        run.screen.select(run.scene.snapshot.queue[0].job.rank)
        await run.press("J", "w")
        await run.wait_for(lambda: run.scene.branch.startswith("without"))
        assert note not in run.text
