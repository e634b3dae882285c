"""Also tests tui.live.scene."""

from dataclasses import replace
from pathlib import Path

import pytest

from sim.live.cluster.observed import Observed
from sim.live.cluster.values import Cluster, Node
from sim.live.forecast.board import DayScore, Forecasts
from tests.sim.live.cluster.captures import VERSIONS
from tests.tui.live.moments import DAY, NODES, observed_of, recorded, runs, waits
from tests.tui.live.test_queue import context_of
from tui.chart.hover import Spot
from tui.live.panels import _fitting, _in_rows, draw_events, draw_job, draw_strip, sentence, top_line
from tui.live.scene import LiveContext, State


def two(*later: object) -> LiveContext:
    """Return the context of panels after two polls: first J1 waits; then it runs, J2 has arrived and a node is
    drained."""
    observed = Observed()
    observed.add(
        Cluster(at=DAY + 60, name="testbed", nodes=NODES, jobs=(waits("1", 2, 90, "Priority", "n1"),), cost=0.2)
    )
    gone = (NODES[0], replace(NODES[1], states=frozenset({"DRAIN"}), reason="disk"))
    jobs = (runs("1", 2, "n1", start=100), waits("2", 4, 600, "Priority", "n1"))
    observed.add(Cluster(at=DAY + 120, name="testbed", nodes=gone, jobs=jobs, cost=0.2))
    return context_of(observed)


def test_the_events_of_a_picture_are_sentences() -> None:
    text = draw_events(two(), (60, 10)).text
    assert "J1 started on n1" in text
    assert "J2 of bob arrived, 4 cores" in text
    assert "node n2: DRAIN disk" in text
    assert "3 events" in text


def test_a_job_tells_why_and_when_and_of_its_priority() -> None:
    context = two()
    job = context.scene.cluster.find("2")
    assert job is not None
    parts = {job.number: {"age": 100.0, "fairshare": 400.0}}
    scene = replace(context.scene, cluster=replace(context.scene.cluster, parts=parts))
    text = draw_job(replace(context, scene=scene, selected=scene.rank(job)), (70, 20)).text
    assert "J2" in text
    assert "fairshare" in text
    assert text.index("fairshare") < text.index("age")


def test_score_of_the_forecasts_stands_above_the_strip() -> None:
    context = two()
    forecasts = Forecasts(DAY, {}, {}, DayScore(9, 40.0, 0.9, 0.1), DayScore(9, 60.0, 0.8, 0.2), 0.85)
    told = replace(context, scene=replace(context.scene, forecasts=forecasts))
    assert "forecasts within 10m00: ours 90 %, Slurm's 80 %; 85 % of starts in range" in draw_strip(told, (120, 5)).text
    assert "Slurm's 80 %; " not in draw_strip(told, (76, 5)).text
    assert "2 pictures" in draw_strip(context, (120, 5)).text


def test_top_line_says_what_is_wrong() -> None:
    context = two()
    scene = replace(context.scene, cluster=replace(context.scene.cluster, unread=3))
    assert " · 3 lines unreadable" in top_line(replace(context, scene=scene), DAY + 132, 120).text
    context = two()
    scene = replace(context.scene, state=State(trouble="squeue: no controller", since=DAY + 130))
    for width in range(60, 120):
        assert " live " in top_line(two(), DAY + 132, width).text
    assert "no answer since" in top_line(replace(context, scene=scene), DAY + 190, 120).text
    assert "no controller" in sentence(replace(context, scene=scene), 120)[0].text
    gone = tuple(replace(node, states=frozenset({"DOWN"})) for node in NODES)
    context = context_of(observed_of(runs("1", 3, "n1"), nodes=gone))
    assert "3 of 8 cores busy" in top_line(context, DAY, 120).text
    assert "5 cores down" in top_line(context, DAY, 120).text


def test_top_line_says_when_the_next_poll_comes() -> None:
    context = two()

    def shown(width: int, **state: object) -> str:
        scene = replace(context.scene, state=State(due=DAY + 180, **state))  # type: ignore[arg-type]
        return top_line(replace(context, scene=scene), DAY + 132, width).text

    assert "12s old, next in 48s, cost 0.2s" in shown(120)
    assert shown(80).endswith(", next in 48s ")
    assert "2/8 cores · 1 running · 1 waiting" in shown(80)
    assert "next in 48s" in shown(120, trouble="no", since=DAY + 130)
    assert "next in 48s" in shown(80, trouble="no", since=DAY + 130)
    scene = replace(context.scene, state=State(due=DAY + 132))
    assert "asking now" in top_line(replace(context, scene=scene), DAY + 132, 80).text


def test_hidden_jobs_are_said_at_the_top() -> None:
    context = two()
    scene = replace(context.scene, cluster=replace(context.scene.cluster, is_private=True))
    hidden = replace(context, scene=scene)
    assert "others' jobs are hidden, so no plan is drawn" in top_line(hidden, DAY + 130, 160).text
    assert "others' jobs hidden: no plan" in top_line(hidden, DAY + 130, 80).text
    planned = [job for job in scene.cluster.queue if job.is_planned]
    assert planned
    assert all(scene.planned_start(scene.rank(job)) is None for job in planned)


def test_the_pointer_is_told_of_jobs_and_of_nodes() -> None:
    scene = two().scene
    assert "J1" in scene.hover(0)
    assert "ann" in scene.hover(0)
    told = scene.hover_free(Spot(60, 1, None))
    assert told.startswith("n2 at ")
    assert "1 of 2 GPUs" in told
    assert "disk" in told


@pytest.mark.parametrize("version", VERSIONS)
def test_panels_draw_every_job_of_a_recorded_moment(shared: Path, version: str) -> None:
    context = context_of(recorded(shared, version))
    for job in context.scene.cluster.jobs:
        sheet = draw_job(replace(context, selected=context.scene.rank(job)), (60, 20))
        assert all(len(line.text) <= 60 for line in sheet.body)
    assert draw_strip(context, (100, 5)).text
    assert all(len(line.text) <= 60 for line in draw_events(context, (60, 20)).body)


@pytest.mark.parametrize("name", ["[red]x", "\x1b[31m", "a\nb", "x" * 5000])
def test_hostile_names_stay_text(name: str) -> None:
    job = replace(runs("1", 1, "n1"), name=name, user=name, account=name, dependency=name, state=name)
    node = Node(name, 4, states=frozenset({"DOWN"}), reason=name)
    observed = observed_of(job, nodes=(*NODES, node))
    context = replace(context_of(observed), selected=0)
    for text in (draw_job(context, (60, 20)).text, top_line(context, DAY, 100).text, sentence(context, 100)[0].text):
        assert "\x1b" not in text
        assert "\n\n\n" not in text


def test_events_that_do_not_fit_are_counted() -> None:
    words = [f"J{number} arrived, 2 cores" for number in range(6)]
    told = [_fitting(words, 40, width) for width in (30, 60, 200)]
    assert told == [
        "J0 arrived, 2 cores · 39 more events",
        "J0 arrived, 2 cores; J1 arrived, 2 cores · 38 more events",
        "; ".join(words) + " · 34 more events",
    ]


def test_a_sentence_takes_a_second_row_before_it_is_cut() -> None:
    told = (
        "J14 waits behind 16 jobs for nodes of scavenge: J191 is in batch, of tier 1 > 0; Slurm keeps nodes for them."
    )
    assert [row.text for row in _in_rows(told, 79, 2)] == [f" {told[:77]}", f" {told[78:]}"]
    assert _in_rows(told, 40, 2)[1].text.endswith("…")
    assert [row.text for row in _in_rows("No job waits.", 79, 2)] == [" No job waits.", " "]
