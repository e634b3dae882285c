import re

import pytest
from textual.events import Key

from sim.policies import parse_policy
from tests.tui.replays import replay
from tests.tui.screens.seeing import enter, noted, seen
from tui.replay.requests import Compare, GoToTime
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.prompt import Prompt
from tui.screens.replay.screen import ReplayScreen


# z-figure4 under easy: jobs come at 0, 10, 20, 30 and 40 s (steps 1 to 5); J5 passes J3 and J4 at 600 s (step 6).
async def test_space_plays_and_pauses() -> None:
    async with replay() as run:
        await run.pilot.press("space")
        await run.wait_for(lambda: "▶ 1m/s" in seen(run, "#top"))
        await run.wait_for(lambda: "space pause" in seen(run, "#keys"))
        await run.wait_for(lambda: run.step >= 2)
        await run.press("space")
        assert "‖ 1m/s" in seen(run, "#top")
        assert "space play" in seen(run, "#keys")


async def test_playing_ends_where_the_run_is_over() -> None:
    async with replay(at="#9") as run:
        await run.press("up", "up", "up")
        await run.pilot.press("space")
        await run.wait_for(lambda: "The run is over: 5 jobs" in noted(run))
        await run.settle()
        assert run.step == 10
        assert not run.screen.state.playing


async def test_r_plays_backwards_as_far_as_the_beginning() -> None:
    async with replay(at="#6") as run:
        await run.pilot.press("R")
        await run.wait_for(lambda: "◀ 1m/s" in seen(run, "#top"))
        await run.wait_for(lambda: run.step < 6)
        await run.press("R")
        assert "‖ 1m/s" in seen(run, "#top")
        await run.press("up", "up", "up")
        await run.pilot.press("R")
        await run.wait_for(lambda: "this is the beginning" in noted(run))
        await run.settle()
        assert run.step == 0


async def test_arrows_step_and_change_the_speed() -> None:
    async with replay() as run:
        await run.press("right")
        assert "step 1 / 10" in seen(run, "#top")
        await run.press("right", "right", "left")
        assert "step 2 / 10" in seen(run, "#top")
        assert "d0 00:00:10" in seen(run, "#top")
        await run.press(*["left"] * 3)
        assert "step 0 / 10" in seen(run, "#top")
    async with replay() as run:
        await run.press("up")
        assert "5m/s" in seen(run, "#top")
        await run.press("down", "down")
        assert "10s/s" in seen(run, "#top")
        await run.press(*["down"] * 4)
        assert "by event, 4 s" in seen(run, "#top")


async def test_k_plays_by_event_and_by_the_clock_again() -> None:
    async with replay() as run:
        await run.press("up", "k")
        assert "‖ by event, 2 s" in seen(run, "#top")
        await run.press("up", "k")
        assert "5m/s" in seen(run, "#top")
        await run.press("k")
        assert "by event, 1 s" in seen(run, "#top")
        assert "1 s at each step with a decision" in seen(run, "#sentence")


async def test_dot_and_comma_walk_decisions_across_steps() -> None:
    async with replay(at="#5") as run:
        await run.press("full_stop")
        assert "▸ J4 waits: needs 4 > 0 free" in seen(run, "#decisions")
        assert "1 of 2" in seen(run, "#decisions")
        assert "Before decision 1 of 2: 0 of 10 processors are free" in seen(run, "#sentence")
        await run.press("full_stop")
        assert "▸ J5 waits: needs 5 > 0 free" in seen(run, "#decisions")
        await run.press("full_stop")
        assert (run.step, run.screen.state.decision) == (5, None)  # the end of the step
        assert "Before decision" not in run.text
        await run.press("full_stop")
        assert run.step == 6
        assert "Before decision 1 of 2" in seen(run, "#sentence")
        await run.press("comma")
        assert run.step == 5
        await run.press("right", "comma")
        assert "▸ J5 is backfilled on 5 processors" in seen(run, "#decisions")
        await run.press("comma")
        assert "▸ J4 waits: needs 4 > 2 extra" in seen(run, "#decisions")
        await run.press("comma")
        assert run.step == 5


KINDS = [
    ("z-figure4", "easy", [("s", 1, "J1 starts"), ("a", 1, "J1 arrives"), ("c", 6, "J1 ends"),
                           ("b", 6, "J5 is backfilled")]),
    ("k-figure3.1", "selective:sf=1.5", [("u", 2, "J1 is suspended"), ("r", 3, "J1 resumes")]),
    ("w-figure1", "relaxed:omega=1.25", [("h", 3, "J2")]), ("z-figure7", "gang-migrate", [("m", 10, "J3 migrates")]),
    ("ls-figure1", "multiqueue", [("o", 3, "borrows 5 processors")]),
]  # fmt: skip


@pytest.mark.parametrize(("trace", "policy", "kinds"), KINDS, ids=[kind[0] for kind in KINDS])
async def test_j_goes_to_the_next_event_of_a_kind(trace: str, policy: str, kinds: list[tuple[str, int, str]]) -> None:
    async with replay(trace, policy) as run:
        for key, step, event in kinds:
            await run.press("home", "j")
            assert isinstance(run.app.screen, ChoiceDialog)
            await run.press(key)
            assert isinstance(run.app.screen, ReplayScreen)
            assert run.step == step
            assert event in seen(run, "#decisions") + seen(run, "#sentence")


async def test_a_job_gone_to_is_wide_enough_to_be_seen() -> None:
    # J2 lasts a minute, and starts after ten hours, when a column of the chart is many minutes.
    async with replay("4 procs; 3x10h@0; 4x1m@1m; 1x5h@2m; 1x5h@3m") as run:
        before = run.screen.chart.camera
        await run.press("O")
        assert run.screen.state.selected == 1
        camera = run.screen.chart.camera
        assert before is not None
        assert camera is not None
        assert before.per_column > 60
        assert 3 <= 60 / camera.per_column <= 30
        assert "J2" in seen(run, "#chart")


async def test_brackets_go_to_events_of_the_chosen_kind() -> None:
    async with replay() as run:
        await run.press("right_square_bracket")
        assert run.step == 1
        await run.press("j", "c", "right_square_bracket")
        assert run.step == 7
        await run.press("left_square_bracket")
        assert run.step == 6
        await run.press("left_square_bracket")
        assert run.step == 6
        assert "no earlier step meets: completion" in noted(run)


async def test_jumps_go_to_jobs_and_switches() -> None:
    async with replay() as run:
        await run.press("j", "j")
        assert "no job is selected" in noted(run)
        assert run.step == 0
        await run.press("slash", "3", "enter", "right_square_bracket")
        assert "J3 starts on 8 processors" in seen(run, "#decisions")
    async with replay(switches=((600.0, parse_policy("fcfs")),)) as run:
        await run.press("j", "w")
        assert run.step == 6
        assert "fcfs" in seen(run, "#top")


async def test_jumps_that_lead_nowhere_say_so() -> None:
    async with replay() as run:
        await run.press("j", "m")
        assert "no later step meets: migrate" in noted(run)
        assert run.step == 0
    async with replay(at="#3") as run:
        await run.press("g")
        await enter(run, "tomorrow")
        assert isinstance(run.app.screen, Prompt)
        assert "cannot go to 'tomorrow'" in run.text
        await run.press("escape")
        assert isinstance(run.app.screen, ReplayScreen)
        assert run.step == 3


PLACES = [
    ("#4", 4, 30), ("step 4", 4, 30), ("00:10", 6, 600), ("15m", 6, 900), ("J5", 5, 40), ("J5 starts", 6, 600),
    ("#1,000", 10, 2700),
]  # fmt: skip


async def test_g_goes_to_a_time_a_step_or_a_job() -> None:
    async with replay() as run:
        for typed, step, clock in PLACES:
            await run.press("home", "g")
            await enter(run, typed)
            assert (run.step, run.scene.clock) == (step, clock), typed


async def test_end_and_home_go_to_the_end_and_the_beginning() -> None:
    async with replay() as run:
        await run.press("end")
        assert "The run is over: 5 jobs" in seen(run, "#sentence")
        await run.press("home")
        assert "step 0 / 10" in seen(run, "#top")
        assert "Press space to play" in seen(run, "#sentence")


async def test_x_makes_it_stop_at_a_condition() -> None:
    async with replay() as run:
        await run.press("x")
        await enter(run, "queue > 1; job 5 ends")
        assert isinstance(run.app.screen, ChoiceDialog)
        assert "stops when queue > 1 or when job 5 ends" in run.text
        await run.pilot.press("space")
        await run.wait_for(lambda: "stopped: queue > 1" in noted(run))
        await run.settle()
        assert run.step == 4


async def test_stop_is_run_to_at_once_when_it_is_set() -> None:
    async with replay() as run:
        await run.press("x")
        await enter(run, "start")
        await run.press("enter")
        assert (run.step, "stopped: start" in noted(run)) == (1, True)
        assert "; : stops" in seen(run, "#keys")


@pytest.mark.parametrize(
    ("policy", "said"),
    [("easy++", "no number 'nosuch'; there is predicted"), ("easy", "no number 'nosuch'; none is written here")],
)
async def test_stop_with_an_unknown_number_is_refused(policy: str, said: str) -> None:
    async with replay(policy=policy) as run:
        await run.press("x")
        await enter(run, "number nosuch > 5")
        assert said in run.text
        assert run.screen.state.stops == ()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("variable nosuch > 5", "no variable 'nosuch' in the policy's code; there is at, "),
        ("variable shado > 5", "no variable 'shado' in the policy's code; did you mean 'shadow'?"),
    ],
)
async def test_stop_with_an_unknown_variable_is_refused(typed: str, said: str) -> None:
    async with replay() as run:
        await run.press("x")
        await enter(run, typed)
        assert said in run.text
        assert run.screen.state.stops == ()


async def test_adaptive_may_write_any_number() -> None:
    async with replay(policy="adaptive:above=easy++") as run:
        await run.press("x")
        await enter(run, "number predicted > 5")
        assert [stop.text for stop in run.screen.state.stops] == ["number predicted > 5"]


async def test_stops_are_walked_on_and_back() -> None:
    async with replay() as run:
        await run.press("semicolon")
        assert "no condition to stop at is set: x sets one" in noted(run)
        await run.press("x")
        await enter(run, "start; job 5 ends")
        await run.press("escape")
        walked = []
        for key in ("semicolon", "semicolon", "semicolon", "colon", "semicolon"):
            await run.press(key)
            walked.append((run.step, noted(run).strip()))
        assert [step for step, _ in walked] == [1, 2, 6, 2, 6]
        assert {told for _, told in walked} == {"stopped: start"}
        await run.press("home", "colon")
        assert "no earlier step meets: start or job 5 ends" in noted(run)


async def test_end_halts_at_a_stop_and_says_so() -> None:
    async with replay() as run:
        await run.press("x")
        await enter(run, "job 5 ends")
        await run.press("escape", "end")
        assert "stopped: job 5 ends" in noted(run)
        assert run.step < 10
        await run.press("end")
        assert run.step == 10


async def test_an_empty_condition_stops_at_nothing() -> None:
    async with replay() as run:
        await run.press("x")
        await enter(run, "queue > 1")
        await run.press("escape", "x")
        await enter(run, "")
        assert "no stop conditions" in noted(run)
        await run.pilot.press("space")
        await run.wait_for(lambda: run.step >= 5)


async def test_escape_stops_what_takes_long() -> None:
    async with replay("lublin-320", "gang-migrate-backfill") as run:
        run.app.post_message(Key("end", None))  # a pilot waits until nothing computes
        await run.wait_for(lambda: "esc stops" in seen(run, "#top"))
        run.app.post_message(Key("escape", None))
        await run.wait_for(lambda: "esc stops" not in seen(run, "#top"))
        assert not run.scene.complete


async def test_escape_closes_what_is_open_then_selects_nothing() -> None:
    async with replay(at="#5", size=(80, 24)) as run:
        await run.press("w")
        assert "J3" in seen(run, "#details")
        await run.press("escape")
        assert seen(run, "#side") == ""
        assert run.screen.state.selected == 2
        await run.press("escape")
        assert run.screen.state.selected is None


# z-figure7 under gang:mpl=4: at 660 s (step 9) all have started; turns take 200 s, and the next step is at 3120 s.
async def test_parentheses_walk_the_turns_of_the_rows_between_steps() -> None:
    async with replay("z-figure7", "gang:mpl=4", at="#9") as run:
        walked = []
        for _ in range(5):
            await run.press("right_parenthesis")
            walked.append((run.step, run.scene.clock, noted(run)))
        assert [place[:2] for place in walked] == [(9, 860 + 200 * turn) for turn in range(5)]
        assert [row for _, _, told in walked for row in re.findall(r"Row (\d) is on turn", told)] == list("12341")
        assert "Row 3 is on turn until 00:24:20: J3, J4 and J5." in walked[2][2]
        assert "row 1 ◂ 3m20 of 3m20 left" in run.text
        for _, clock, told in walked[-2::-1]:
            await run.press("left_parenthesis")
            assert (run.scene.clock, noted(run)) == (clock, told)


async def test_turns_are_walked_across_steps_and_the_other_way_alike() -> None:
    async with replay("z-figure7", "gang:mpl=4") as run:
        places = []
        while "no row comes on turn later" not in noted(run):
            await run.press("right_parenthesis")
            places.append((run.step, run.scene.clock))
        assert places[-1] == places[-2]
        back = []
        while "no row comes on turn earlier" not in noted(run):
            await run.press("left_parenthesis")
            back.append((run.step, run.scene.clock))
        assert back[:-1] == places[-3::-1]


async def test_turn_keys_report_a_run_without_turns() -> None:
    async with replay() as run:
        await run.press("right_parenthesis")
        assert (run.step, noted(run).strip()) == (0, "no rows take turns under easy")
        await run.press("end")
        await run.ask(Compare(parse_policy("gang"), from_start=True))
        await run.ask(GoToTime(30))
        await run.press("e", "right_parenthesis")
        assert noted(run).strip() == "Row 2 is on turn until 00:07:00: J3."
        assert run.scene.clock == 220
