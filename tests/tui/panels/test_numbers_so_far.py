from functools import cache

import pytest

from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, engine_of, scene_of
from tui.look.palette import DARK
from tui.panels.context import Context
from tui.panels.numbers_so_far import draw_metrics, figures
from tui.replay.strip_maker import StripMaker


@cache
def lublin(policy: str, steps: int = 700) -> Context:
    engine = engine_of("lublin-128", policy, steps=steps)
    context = context_of(engine)
    series = StripMaker(engine.workload).series(engine.history, engine.step_count, 50)
    return Context(context.about, scene_of(engine, series=series), context.look)


def names(context: Context) -> list[str]:
    return [figure.name for figure in figures(context)]


# Which numbers
@pytest.mark.parametrize(("policy", "extra"), [
    ("fcfs", []), ("easy", ["backfilled"]), ("selective", ["preemptions"]),
    ("multiqueue:speculate=180", ["backfilled", "borrowed", "runs cut short"]), ("gang", []),
    ("gang-migrate-backfill", ["backfilled", "migrations"]),
])  # fmt: skip
def test_only_what_the_policy_can_have_is_shown(policy: str, extra: list[str]) -> None:
    common = ["utilization", "mean wait", "bounded slowdown", "worst wait"]
    told = [name for name in names(lublin(policy)) if name not in ("killed", "longest in queue")]
    assert told == [*common, *extra, "worst slowdown"]


def test_a_job_that_still_waits_is_shown_next_to_those_that_ended() -> None:
    context = context_of(engine_of("ls-figure1", "multiqueue", until=8000))
    told = {figure.name: figure.brief for figure in figures(context)}
    assert told["worst wait"] == "worst wait 0s"
    assert told["longest in queue"] == "longest in queue 16m40"  # J7
    assert told["mean wait"] == "4 ended: wait 0s"


def test_numbers_count_ended_and_killed_jobs(lab: Lab) -> None:
    right = context_of(lab.run("fcfs", 4, "1 0 1 10 10", "2 0 1 10 10"))
    killed = context_of(lab.run("fcfs", 4, "1 0 1 50 10", "2 0 1 10 10"))
    assert "killed" not in names(right)
    assert next(figure for figure in figures(killed) if figure.name == "killed")[1:] == (
        "1", "1 killed", ("of 2 ended", "of 2"),
    )  # fmt: skip
    engine = lab.run("fcfs", 4, "1 0 4 100 100", "2 0 4 100 100", "3 50 4 100 100", until=200)
    values = {figure.name: figure.value for figure in figures(context_of(engine))}
    assert values == {
        "utilization": "100.0 %", "mean wait": "50s", "bounded slowdown": "1.5", "worst wait": "1m40",
        "worst slowdown": "2",
    }  # fmt: skip


def test_odd_numbers_are_dashes(lab: Lab) -> None:
    values = [figure.value for figure in figures(context_of(lab.run("fcfs", 4, "1 0 4 9 9", until=0)))]
    assert values == ["0.0 %", "–", "–", "–", "–"]
    assert "finished jobs appear" in draw_metrics(context_of(engine_of("z-figure4", "easy")), (60, 5)).text


# Forms
def test_a_plot_shows_a_long_number_in_full(lab: Lab) -> None:
    engine = lab.run("fcfs", 2_000_000, "1 0 2000000 10 10", "2 5 1500000 10 10", until=5)
    series = StripMaker(engine.workload).series(engine.history, engine.step_count, 50)
    context = Context(context_of(engine).about, scene_of(engine, series=series), DARK)
    plot = next(line for line in draw_metrics(context, (76, 8)).text.splitlines() if "wanted" in line)
    assert plot.rstrip().endswith(" 1,500,000")


@pytest.mark.parametrize("size", [(20, 3), (46, 4), (76, 7), (120, 30), (196, 55)])
def test_it_never_takes_more_room_than_it_has(size: tuple[int, int]) -> None:
    sheet = draw_metrics(lublin("multiqueue:speculate=180"), size)
    lines = (*sheet.head, *sheet.body)
    assert len(lines) <= size[1]
    assert max(len(line.text) for line in lines) <= size[0]
