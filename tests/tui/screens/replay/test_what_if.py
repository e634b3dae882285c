"""What-if on the replay screen: other policies, branches, comparisons, causes, bookmarks.

Also tests tui.screens.replay.drawing, tui.screens.replay.messages.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from sim.engine.engine import Engine
from sim.policies import parse_policy, written_policy
from sim.policies.recorded_rules import unkept
from sim.support.formatting import span
from sim.workload.source import Source
from tests.sim.workload.test_replay import recorded
from tests.tui.own import FIRSTFIT, RAISES, own_file, save
from tests.tui.replays import Replay, replay
from tests.tui.screens.seeing import cell, enter, hover, noted, seen
from tui.replay.opening import Note, opening_of
from tui.screens.dialogs.alternatives_dialog import AlternativesDialog
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.policy_picker import PolicyPicker
from tui.screens.replay.screen import ReplayScreen
from tui.widgets.gantt import Gantt

pytestmark = pytest.mark.usefixtures("own_program")


# Under easy J5 passes J3 and J4 at 600 s (step 6); under fcfs no job passes.
async def choose_policy(run: Replay, key: str, policy: str) -> None:
    await run.press(key)
    assert isinstance(run.app.screen, PolicyPicker)
    await enter(run, policy)
    assert isinstance(run.app.screen, ReplayScreen)


async def go_to(run: Replay, place: str) -> None:
    await run.press("g")
    await enter(run, place)


async def test_other_policies_start_here_or_anew() -> None:
    async with replay() as run:
        await choose_policy(run, "p", "fcfs")
        assert "fcfs" in seen(run, "#top")
        await go_to(run, "00:10")
        assert "3 waiting" in seen(run, "#queue")
    async with replay(at="#4") as run:
        await choose_policy(run, "p", "easy")
        assert len(run.scene.branches) == 1
    async with replay(at="#7") as run:
        await choose_policy(run, "P", "fcfs")
        assert run.scene.clock == 1100
        assert "3 waiting" in seen(run, "#queue")


async def test_p_in_the_middle_switches_there_and_the_past_stays() -> None:
    async with replay(at="#4") as run:
        await choose_policy(run, "p", "fcfs")
        assert "fcfs" in seen(run, "#top")
        await go_to(run, "00:10")
        assert "3 waiting" in seen(run, "#queue")
        assert "◆ fcfs" in seen(run, "#strip")
        await go_to(run, "#3")
        assert "easy" in seen(run, "#top")
        assert "J3 is planned for 00:20" in seen(run, "#decisions")


async def test_the_screen_says_which_policies_cannot_keep_recorded_limits(tmp_path: Path) -> None:
    week = recorded(tmp_path / "week.slog").trace
    async with replay(week, "conservative", size=(100, 30)) as run:
        assert unkept(["conservative"]) in run.text
    async with replay(week, "easy", size=(100, 30), notifications=True) as run:
        assert "limits" not in run.text
        await choose_policy(run, "v", "conservative")
        await run.settle()
        assert run.told.startswith("conservative cannot keep limits of users")


async def test_f_forks_and_capital_b_looks_at_the_other_branch() -> None:
    async with replay(at="#4") as run:
        await run.press("B")
        assert "only one branch exists" in noted(run)
        await run.press("f")
        branch = run.scene.branch
        assert f"this is {branch}" in noted(run)
        assert f"on {branch}" in seen(run, "#top")
        await run.press("B")
        assert isinstance(run.app.screen, ChoiceDialog)
        assert "from step 4 of main" in run.text
        await run.press("1")
        assert "on main" in seen(run, "#top")
        assert run.step == 4


def compared(run: Replay) -> tuple[str, str] | None:
    return None if run.scene.versus is None else run.scene.versus.names


async def test_branches_are_not_denied_while_a_session_is_restored() -> None:
    async with replay(at="#4") as run:
        run.screen.player.beginning = run.screen.shown
        await run.press("B")
        assert "the session is being restored" in noted(run)


async def test_v_compares_with_another_policy_from_here_on_and_v_again_no_more() -> None:
    async with replay(at="#4") as run:
        await choose_policy(run, "v", "fcfs")
        assert compared(run) == ("easy", "fcfs")
        assert "no start or end differs yet" in seen(run, "#between")
        await go_to(run, "00:18:20")
        assert "J5" in seen(run, "#chart")
        assert "J5" not in seen(run, "#beside")
        await run.press("v")
        assert compared(run) is None
        assert seen(run, "#beside") == ""


async def test_first_proposal_of_v_shows_a_difference() -> None:
    async with replay(at="#4") as run:
        await run.press("v", "enter", "d")
        assert compared(run) == ("easy", "fcfs")
        assert "differ at d0 00:10:00: easy backfills J5; fcfs keeps J5 waiting" in seen(run, "#between")


async def test_d_reaches_a_difference_between_two_steps_of_the_shown_run() -> None:
    async with replay(at="00:00:20") as run:
        await choose_policy(run, "V", "selective")
        for keys in (("d",), ("e", "d")):
            await go_to(run, "00:00:20")
            assert "No start and no end of a job of both differs so far" in " ".join(seen(run, "#versus").split())
            await run.press(*keys)
            assert run.scene.versus is not None
            assert run.scene.versus.parting is not None
            assert run.scene.clock == run.scene.versus.parting.time > (run.scene.snapshot.time or 0)
            assert "first difference at" in seen(run, "#between") or "at d0" in seen(run, "#between")


async def test_a_new_branch_names_the_way_out_of_the_present_comparison() -> None:
    async with replay(at="#4", size=(160, 40)) as run:
        await choose_policy(run, "v", "fcfs")
        run.screen.select(2)
        await run.press("J", "w")
        assert "v, pressed twice, compares with main" in noted(run)


async def test_comparison_from_too_late_names_the_way_to_the_start() -> None:
    async with replay(at="00:20") as run:
        await choose_policy(run, "v", "fcfs")
        told = "no start and no end differs   v ends, V then compares from the start"
        await run.wait_for(lambda: told in seen(run, "#between"))


async def test_comparison_brings_its_hidden_panel_back() -> None:
    async with replay(at="#4") as run:
        await choose_policy(run, "v", "fcfs")
        await run.press("G")
        assert "hidden: G compared" in seen(run, "#top")
        await run.press("v")
        await choose_policy(run, "v", "conservative")
        assert "Compared" in seen(run, "#versus")


async def test_comparing_from_here_shares_the_past_and_capital_v_does_not() -> None:
    async with replay(at="#7") as run:
        await choose_policy(run, "v", "fcfs")
        assert "J5" in seen(run, "#beside")
        await run.press("V")
        assert seen(run, "#beside") == ""
        await choose_policy(run, "V", "fcfs")
        assert "J5" not in seen(run, "#beside")


async def test_v_offers_the_branches_that_there_are() -> None:
    async with replay(at="#4") as run:
        await choose_policy(run, "p", "fcfs")
        await run.press("v")
        assert isinstance(run.app.screen, ChoiceDialog)
        await run.press("1")
        await go_to(run, "00:18:20")
        assert compared(run) == ("fcfs", "easy")
        assert "J5" not in seen(run, "#chart")
        assert "J5" in seen(run, "#beside")


async def test_e_turns_to_the_other_run_and_says_so_everywhere() -> None:
    async with replay(at="#4") as run:
        await run.press("e")
        assert "no comparison" in noted(run)
        await choose_policy(run, "V", "fcfs")
        await run.press("d")
        for is_other, told in ((False, "J5 is backfilled"), (True, "J3 waits"), (False, "J5 is backfilled")):
            panels = "#queue", "#decisions", "#metrics", "#sentence"
            assert all((" fcfs " in seen(run, panel)) == is_other for panel in panels)
            assert told in seen(run, "#decisions")
            await run.press("e")
        await run.press("right")
        assert run.screen.told is not None
        assert run.screen.told.snapshot.time == run.scene.clock == 1200
        assert "beside" not in seen(run, "#top")


async def test_the_note_on_a_run_is_gone_while_the_other_is_told() -> None:
    async with replay(at="00:10") as run:
        run.screen.change(note=Note("J5 passes J3.", 600.0, "easy"))
        await choose_policy(run, "V", "fcfs")
        assert "J5 passes J3." in seen(run, "#note")
        await run.press("e")
        assert "J5 passes J3." not in run.text
        await run.press("v")
        await choose_policy(run, "v", "fcfs")
        await run.press("e")
        assert "this run changes from easy to fcfs" in seen(run, "#decisions")


async def test_e_turns_the_top_line_to_a_run_that_lasts_longer() -> None:
    async with replay(at="#4", size=(120, 36)) as run:
        run.screen.select(2)
        await run.press("J", "w", "v", "1", "end", "e", "left")
        assert run.screen.told is not None
        assert run.screen.told.snapshot.step != run.scene.snapshot.step
        assert f"step {run.screen.told.snapshot.step} / 10" in seen(run, "#top")
        assert "5 jobs" in seen(run, "#top")


async def test_capital_c_colours_who_starts_earlier_and_later() -> None:
    async with replay(at="#7") as run:
        await run.press("C")
        assert "no comparison" in noted(run)
        await choose_policy(run, "V", "fcfs")
        await run.press("C")
        assert "earlier than in the other run" in seen(run, "#legend")
        await run.press("C")
        assert seen(run, "#legend") == ""


async def test_d_goes_to_differences_and_forks() -> None:
    async with replay() as run:
        await run.press("d")
        assert "no comparison" in noted(run)
        await choose_policy(run, "V", "fcfs")
        await run.press("d")
        assert run.step == 6
    async with replay(at="#4") as run:
        await choose_policy(run, "p", "fcfs")
        await run.press("end", "d")
        assert run.step == 3
        assert "here fork 1 leaves main; v compares them" in noted(run)


@pytest.mark.parametrize(("trace", "named"), [("k-figure2.1-2.2", "easy"), ("z-figure4", "fcfs")])
async def test_compare_proposes_another_policy_than_the_running_one(trace: str, named: str) -> None:
    opening = opening_of(Source(trace))
    async with replay(trace, written_policy(opening.policy), at=opening.at, note=opening.note) as run:
        await run.press("V")
        await run.press("enter")
        assert run.scene.versus is not None
        assert run.scene.versus.specs == (written_policy(opening.policy), named)


async def test_compare_refuses_the_run_that_is_shown() -> None:
    async with replay() as run:
        await choose_policy(run, "v", "easy")
        assert "this run is already under easy" in noted(run)
        assert run.screen.shown is not None
        assert run.screen.shown.beside is None


async def test_at_the_end_the_comparison_has_the_numbers_of_both_whole_runs() -> None:
    async with replay(at="#4", size=(120, 36)) as run:
        await choose_policy(run, "V", "fcfs")
        await run.complete()
        await run.press("end")
        told = " ".join(seen(run, "#versus").split())
        runs = [Engine(Source("z-figure4").read()[1], parse_policy(policy)) for policy in ("easy", "fcfs")]
        for engine in runs:
            engine.run()
        waits = [span(engine.snapshot().totals.mean_wait) for engine in runs]
        assert waits[0] != waits[1]
        assert "Whole runs 5 jobs" in told
        assert f"mean wait {waits[0]} ● {waits[1]}" in told


async def test_take_back_undoes_jumps_switches_and_comparisons() -> None:
    async with replay(at="#4") as run:
        await choose_policy(run, "p", "fcfs")
        await run.press("end")
        await choose_policy(run, "V", "easy")
        await run.press("v")
        assert "the comparison is closed" in noted(run)
        places = []
        for key in ("ctrl+z", "Z", "Z", "ctrl+z"):
            await run.press(key)
            places.append((run.step, compared(run) is not None, run.scene.branch))
        assert places == [(10, True, "fork 1"), (10, False, "fork 1"), (4, False, "fork 1"), (4, False, "main")]
        await run.press("Z", "Z")
        assert "nothing is left to take back" in noted(run)


async def test_saved_policy_is_rerun_and_d_goes_to_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = own_file(tmp_path, monkeypatch)
    async with replay(policy="./fair.py", at="00:18:20", notifications=True) as run:
        save(file, FIRSTFIT)
        await run.wait_for(lambda: run.screen.state.news)
        await run.settle()
        assert "fair.py: first difference at d0 00:10:00, J4 starts" in seen(run, "#top")
        assert "first difference" in noted(run)
        assert len(run.scene.branches) == 2
        await run.press("d")
        assert run.scene.clock == 600
        await run.press("Z", "Z")
        assert (run.scene.clock, run.scene.branch) == (1100, "main")
        save(file, RAISES)
        await run.wait_for(lambda: "ZeroDivisionError" in run.told)
        await run.settle()
        assert "fair.py:18: ZeroDivisionError" in seen(run, "#top")
        assert "fair.py:18 in decide: 1 / 0); the old run stays" in run.told
        await run.press("escape")
        assert "z-figure4" in seen(run, "#top")


async def test_take_back_undoes_a_reload_within_a_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = own_file(tmp_path, monkeypatch)
    async with replay(policy="./fair.py", at="00:18:20") as run:
        await choose_policy(run, "V", "fcfs")
        save(file, FIRSTFIT)
        await run.wait_for(lambda: run.screen.state.news)
        await run.settle()
        await run.wait_for(lambda: run.scene.branch != "main")
        await run.press("d")
        assert run.scene.clock == 600
        await run.press("Z", "Z")
        assert (run.scene.branch, run.scene.clock) == ("main", 1100)
        assert seen(run, "#beside")
        await run.press("Z")
        assert seen(run, "#beside") == ""


async def test_capital_l_reads_the_files_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with replay() as run:
        await run.press("L")
        assert "no policy was loaded from a file" in noted(run)
    own_file(tmp_path, monkeypatch)
    async with replay(policy="./fair.py", at="00:10") as run:
        await run.press("L")
        await run.wait_for(lambda: run.screen.state.news)
        await run.settle()
        assert "fair.py is as this run has it" in seen(run, "#top")


async def test_causes_are_gone_back_to() -> None:
    async with replay(at="#7") as run:
        await run.press("r")
        assert "no job is selected" in noted(run)
        await run.press("slash", "3", "enter", "r")
        assert run.step == 3
        await run.press("r")
        assert "no earlier change found" in noted(run)
    async with replay(at="#7") as run:
        await run.press("E")
        assert "point at a processor" in noted(run)
        await hover(run, "#chart", cell(run, 1000, 0))
        await run.press("E")
        assert run.step == 6
    async with replay("ls-figure1", "multiqueue", at="#6") as run:
        await run.press("D")
        assert run.step == 4
        assert "borrows 4 processors" in seen(run, "#decisions")


async def test_capital_x_breaks_processors_on_a_branch() -> None:
    async with replay(at="#4") as run:
        await run.press("X")
        await enter(run, "0-99")
        assert "there are processors 0 to 9" in run.text
        await run.press("escape", "X")
        await enter(run, "0-2 until 1h")
        assert run.scene.branch == "fork 1"
        assert "processors 0-2 fail here; main is unchanged" in noted(run)
        assert "╳" in seen(run, "#chart")
        assert "is interrupted" in seen(run, "#decisions")


async def test_b_remembers_a_moment_and_an_apostrophe_goes_back_to_it() -> None:
    async with replay(at="#6") as run:
        await run.press("apostrophe")
        assert "no bookmarks" in noted(run)
        await run.press("b")
        await enter(run, "J5 passes")
        assert "J5 passes" in seen(run, "#strip")
        await run.press("home", "apostrophe")
        assert isinstance(run.app.screen, ChoiceDialog)
        assert "step 6 of main" in run.text
        await run.press("1")
        assert run.step == 6


async def test_a_bookmark_leads_back_to_its_branch() -> None:
    async with replay(at="#6") as run:
        await run.press("b", "enter", "f", "right", "apostrophe", "1")
        assert (run.scene.branch, run.step) == ("main", 6)


# Other jobs: J3, which heads the queue, delays J4 (rank 3) from 10 to 30 minutes


async def test_job_is_withdrawn_in_a_run_of_its_own_and_the_selection_follows() -> None:
    async with replay(at="00:15") as run:
        run.screen.select(3)
        await run.press("J")
        assert "as if it had never been submitted" in run.text
        await run.press("escape")
        run.screen.select(2)
        await run.press("J", "w")
        assert (run.scene.branch, run.scene.clock, run.screen.state.selected) == ("without J3", 900, None)
        assert "without J3: this run again from the beginning" in noted(run)
        assert "easy; without J3" in seen(run, "#top")
        run.screen.select(2)
        await run.press("v", "1")
        assert [chart.selected for chart in run.screen.charts] == [2, 3]
        assert run.scene.versus is not None
        assert run.scene.versus.of_both.startswith("Only main has J3. Waits and slowdowns are of jobs of both runs")
        run.screen.post_message(Gantt.Picked(run.screen.charts[1], 2, None))
        await run.settle()
        assert "only the other run has this job" in noted(run)
        run.screen.post_message(Gantt.Picked(run.screen.charts[1], 4, None))
        await run.settle()
        assert (run.screen.state.selected, run.screen.state.other) == (3, True)
        await run.press("v", "B", "1")
        assert (run.scene.branch, run.screen.state.selected) == ("main", 4)
        await run.press("Z")
        await run.wait_for(lambda: run.scene.branch == "without J3")
        await run.press("Y")
        assert run.app.clipboard == "schedscope watch z-figure4 --policy easy --without J3 --at 900"
        kept = run.session
    async with replay(session=kept) as run:
        assert (run.scene.branch, run.scene.clock, run.screen.state.selected) == ("without J3", 900, 3)
        await run.press("d")
        assert "from here on without J3 may differ" in noted(run)
        assert run.scene.clock == 20


async def test_jobs_are_changed_and_added_by_typing() -> None:
    async with replay(at="00:15") as run:
        await run.press("J")
        await enter(run, "11x1m@0")
        assert "needs 1 to 10 processors, got 11" in run.text
        await run.press("escape", "J")
        await enter(run, "2x1h@00:01")
        run.screen.select(2)
        await run.press("J", "c")
        await enter(run, "procs=11")
        assert "the machine has 10 processors, got 11" in run.text
        await run.press("escape", "J", "c")
        await enter(run, "procs=8")
        assert "J3 has these values already" in run.text
        await run.press("escape", "J", "c")
        await enter(run, "procs=2, submit=00:02")
        assert run.scene.branch == "J3:procs=2,submit=2m; with 2x1h@1m"
        await run.press("Y")
        assert "--change J3:procs=2,submit=2m --add 2x1h@1m" in run.app.clipboard


async def test_u_shows_the_run_without_a_job_beside_this_one() -> None:
    async with replay(at="00:15") as run:
        await choose_policy(run, "v", "fcfs")
        run.screen.select(3)
        await run.press("e", "u")
        assert not run.screen.state.other
        dialog = run.app.screen
        assert isinstance(dialog, AlternativesDialog)
        await run.wait_for(lambda: "without J2" in dialog._listed)
        dialog.query_one(OptionList).highlighted = dialog._listed.index("without J2")
        await run.press("enter")
        assert run.scene.branch == "without J2"
        assert run.scene.versus is not None
        assert run.scene.versus.names == ("without J2", "main")
