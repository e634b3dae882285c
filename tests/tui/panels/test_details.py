from dataclasses import replace
from math import inf

from sim.engine.engine import Engine
from sim.life.job_state import PlannedAt
from sim.policies import parse_policy
from sim.workload.model import Field
from sim.workload.outages import Outage
from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, engine_of
from tui.panels import details
from tui.panels.context import Context


def page(context: Context, width: int = 72) -> list[str]:
    return [line.text for line in details.draw(context, (width, 60), 0).body]


def test_the_whole_page_of_a_waiting_job() -> None:
    context = context_of(engine_of("z-figure4", "easy", until=600), selected=3)
    assert details.draw(context, (72, 60), 0).text.splitlines() == [
        "J4   waiting, could not start", "▇▇ 4 of 10 processors · estimate 15m00", "submitted d0 00:00:30", "", "Now",
        "J4 has waited 9m30: needs 4 > 2 extra and would end at 00:25:00 > J3's", "start at 00:20:00.",
        "1 job passed it, which held processors it needed.", "1 job is ahead of it in the queue.", "", "In numbers",
        "needs          4 for 15m00", "free now       1", "head of queue  J3", "its start      00:20:00",
        "would end      00:25:00", "extra procs    2", "enough free    by 00:18:20, when J5 has ended",
        "ahead of it    1 job, 8 processors",
        "passed by      1 job that arrived later, which held processors it needed", "xfactor        1.63", "",
        "Considered", "◐ J5 is backfilled on 5 processors: ends at 00:18:20, before J3's start", "  at 00:20:00", "",
        "Planned start", "none so far: easy has planned no start for it", "",
        "Life", "00:00:30  · submitted",
    ]  # fmt: skip


def test_jobs_have_names_of_trace_and_partition() -> None:
    context = context_of(engine_of("lublin-128", "easy", steps=3), selected=0)
    workload = replace(context.about.workload, names={Field.USER: ("root", "ada", "grace")})
    context = replace(context, about=replace(context.about, workload=workload))
    assert "user grace · group 2 · queue primary" in " ".join(page(context))
    assert page(context_of(engine_of("z-figure4", "easy", until=0)))[0] == "Click a job, or / to find one."
    context = context_of(engine_of("ls-figure1", "multiqueue", until=8000), selected=5)
    told = " ".join(page(context))
    assert "first in long's queue" in told
    assert "partition 2" not in told


def test_planned_starts_that_moved_are_drawn_as_a_curve(lab: Lab) -> None:
    # Job 1 ends at 20, long before its estimate.
    context = context_of(lab.run("conservative", 1, "1 0 1 20 100", "2 1 1 10 10", "3 2 1 10 10", until=20), selected=2)
    assert page(context)[page(context).index("Planned start") + 1] == (
        "from 00:01:50 to 00:00:30, moved once (1 earlier)"
    )
    assert context.scene.job is not None
    longer = (*context.scene.job.planned, PlannedAt(21, 200))
    context = replace(context, scene=replace(context.scene, job=replace(context.scene.job, planned=longer)))
    assert page(context)[page(context).index("Planned start") + 1] == "▄▁█"


def test_odd_lives_are_told(lab: Lab) -> None:
    engine = lab.run("multiqueue:classes=none,speculate=20,speculate_over=100", 4, "1 0 4 200 200", until=20)
    assert "from 1 to 1.10: flat while it runs" in " ".join(page(context_of(engine, selected=0)))
    workload = lab.workload(4, "1 0 4 100 100", "2 10 4 10 10").with_outages([Outage(50, inf, 0b1)])
    engine = Engine(workload, "fcfs")
    engine.run(50)
    told = page(context_of(engine, selected=1))
    assert "J2 is cancelled: it needs 4 processors and at most 3 will ever be" in told
    assert not any("comes at" in line for line in told)
    engine = lab.run("replan:order=sjf", 1, "1 0 1 100 100", "2 1 1 10 10", "3 2 1 5 5", until=2)
    engine.switch(parse_policy("gang-backfill:mpl=1,slice=20"), 3)
    moved = ", moved twice, in rows: moves of a turn or more, or replanned (1 earlier, 1 later)"
    assert f"from 00:01:40 to 00:01:40{moved}" in page(context_of(engine, selected=1), 200)
    alone = lab.run("gang-backfill:mpl=1,slice=20", 1, "1 0 1 20 100", "2 1 1 10 10", "3 2 1 5 5")
    moved = "from 00:01:50 to 00:00:30, moved once, in rows: moves of a turn or more (1 earlier)"
    assert moved in page(context_of(alone, selected=2), 200)


def test_panel_leaves_out_what_is_shown_elsewhere(lab: Lab) -> None:
    jobs = ("1 0 4 100 100", "2 1 4 10 10", "3 2 4 10 10", "4 3 4 10 10")
    lines = page(context_of(lab.run("firstfit", 4, *jobs, until=3), selected=3))
    considered = lines[lines.index("Considered") + 1 : lines.index("Planned start") - 1]
    assert considered == ["… and 2 other decisions"]
    context = context_of(engine_of("z-figure4", "easy", until=600), selected=3)
    lines = page(replace(context, visible=frozenset({"decisions"})))
    considered = lines[lines.index("Considered") + 1 : lines.index("Planned start") - 1]
    assert considered == ["◐ J5 is backfilled on 5 processors"]
