"""Also tests tui.panels.context, tui.panels.queue_table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from sim.decisions.sentences import Unit
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.engine.snapshot import Queued, QueueSeen
from sim.policies.backfill.conservative import Conservative
from sim.policies.columns import Column
from sim.why.evidence import obstacle
from sim.workload.outages import Outage
from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, engine_of, stage_of
from tui.chart.scale import Camera
from tui.look.sheets import Line
from tui.panels import queue
from tui.panels.context import Context, QueueOrder
from tui.panels.queue_table import sorted_places
from tui.replay.requests import Wish

HEAD_AND_ANOTHER = ("1 0 3 10 12", "2 1 4 10 10", "3 2 1 11 11")


def shown(context: Context, width: int = 70, rows: int = 20, first: int = 0) -> str:
    return queue.draw(context, (width, rows), first).text


def rows(context: Context, width: int = 70) -> list[Line]:
    return [line for line in queue.draw(context, (width, 40), 0).body if line.rank is not None]


def test_wide_jobs_on_a_large_machine_keep_all_their_digits(lab: Lab) -> None:
    context = context_of(lab.run("easy", 100_000, "1 0 70000 10 12", "2 1 65536 10 10", until=2))
    assert rows(context, 46)[0].text.split()[1:3] == ["2", "65,536"]


def test_no_line_is_wider_than_the_panel() -> None:
    context = context_of(engine_of("lublin-128", "conservative", steps=200))
    for width in (20, 30, 38, 48, 58, 78, 120):
        lines = queue.draw(context, (width, 40), 0)
        assert max(len(line.text) for line in (*lines.head, *lines.body)) <= width


def test_the_columns_follow_from_what_a_policy_declares(lab: Lab) -> None:
    """The policy is user-defined, so that the panel does not know its name."""

    @dataclass(frozen=True)
    class Own(Conservative):
        def weighs_xfactors(self) -> bool:
            return True

    context = context_of(lab.run(Own(), 4, *HEAD_AND_ANOTHER, until=2))
    assert queue.draw(context, (60, 9), 0).head[0].text.split() == [
        "job", "procs", "estimate", "waited", "xfactor", "starts",
    ]  # fmt: skip


def test_moving_starts_and_waits_are_told(lab: Lab) -> None:
    # Job 1 is expected to end at 100 and ends at 20; job 3 is behind job 2, which starts then.
    context = context_of(lab.run("conservative", 1, "1 0 1 20 100", "2 1 1 10 10", "3 2 1 10 10", until=20))
    (row,) = rows(context)
    assert ("▲ 1m20", "cool") in [(span.text.strip(), span.style) for span in row.spans]
    context = context_of(lab.run("easy:order=xfactor", 4, "1 0 4 100 100", "2 10 4 20 20", until=10))
    later = replace(context, scene=replace(context.scene, clock=40.0))
    assert [rows(each)[0].text.split()[3:6] for each in (context, later)] == [
        ["20s", "0s", "1.00"],
        ["20s", "30s", "2.50"],
    ]


@pytest.mark.parametrize(("width", "told"), [(60, "would delay J2"), (46, "would delay J2"), (44, "delays J2")])
def test_a_reason_is_said_in_fewer_words_before_it_is_cut(lab: Lab, width: int, told: str) -> None:
    context = context_of(lab.run("easy:order=xfactor", 4, *HEAD_AND_ANOTHER, until=2))
    assert rows(context, width)[1].text.endswith(told)


def test_of_a_long_queue_only_what_is_seen_is_touched() -> None:
    class Lazy(Sequence[Queued]):
        """A queue of 77,000 jobs that records which of them were read."""

        def __init__(self, one: Queued) -> None:
            self.one = one
            self.touched: set[int] = set()

        def __len__(self) -> int:
            return 77_000

        def __getitem__(self, index: int) -> Queued:  # type: ignore[override]
            self.touched.add(index)
            return self.one

    context = context_of(engine_of("z-figure4", "easy", until=30))
    lazy = Lazy(context.scene.snapshot.queue[0])
    snapshot = replace(context.scene.snapshot, queue=cast(Any, lazy))
    context = replace(context, scene=replace(context.scene, snapshot=snapshot))
    drawn = queue.draw(context, (70, 11), 500)
    assert (drawn.first, drawn.total, len(drawn.body)) == (500, 77_000, 10)
    assert lazy.touched == set(range(500, 510))
    assert drawn.note == "77,000 waiting · 12 procs wanted"


def test_suspended_jobs_stand_first_with_who_sits_on_their_processors(lab: Lab) -> None:
    # At 60, job 2 has waited 60 s for a run of 60 s: its xfactor is twice that of job 1, which it suspends.
    context = context_of(lab.run("selective:sf=2,tick=60", 4, "1 0 4 600 600", "2 0 3 60 60", until=60))
    drawn = queue.draw(context, (70, 20), 0)
    assert drawn.note == "0 waiting · 1 suspended"
    assert drawn.body[0].text == "Suspended  1, waited includes suspension"
    assert drawn.body[1].text.split()[1:6] == ["1", "4", "10m00", "0s", "1.00"]
    assert drawn.body[1].text.endswith("  J2 has its processors")


def test_selected_job_is_in_sight(lab: Lab) -> None:
    jobs = ["1 0 4 900 900", *(f"{number} 1 1 10 10" for number in range(2, 40))]
    context = context_of(lab.run("fcfs", 4, *jobs, until=1), selected=30)
    drawn = queue.draw(context, (70, 11), 0)
    assert drawn.mark == 29
    assert queue.draw(context, (70, 11), 28).body[1].rank == 30
    engine = lab.run("multiqueue:classes=100", 4, "1 0 4 500 500", "2 1 2 10 10", "3 1 4 500 500", until=1)
    drawn = queue.draw(context_of(engine, selected=2), (70, 20), 0)
    assert drawn.mark is not None
    assert drawn.body[drawn.mark].rank == 2


def test_an_empty_queue_teaches(lab: Lab) -> None:
    free = context_of(lab.run("easy", 4, "1 0 3 10 10", "2 50 1 10 10", until=0))
    assert shown(free, 80).splitlines() == [
        "Queue   0 waiting",
        "No job waits.",
        "",
        "A job submitted now starts at once if it fits: 1 of 4 processors is free.",
    ]
    full = context_of(lab.run("easy", 4, "1 0 4 10 10", "2 50 1 10 10", until=0))
    assert shown(full, 80).splitlines()[1:] == ["No job waits.", "", "0 of 4 processors are free."]
    assert "the run is over" in shown(context_of(lab.run("easy", 4, "1 0 3 10 10")))
    assert "a row of the matrix" in shown(context_of(engine_of("z-figure7", "gang", until=0)))


def test_where_only_some_starts_are_promised_the_others_are_marked(lab: Lab) -> None:
    context = context_of(lab.run("conservative", 4, *HEAD_AND_ANOTHER, until=2))
    shown = context.scene.snapshot
    planned = {queued.job.rank: queued.planned or 0 for queued in shown.queue}
    only_first = QueueSeen(
        shown.queue.jobs, 2, shown.rules, 1, planned=planned, moved={}, reserved=[shown.queue.jobs[0].rank], granted=(),
        lasts={}, rows={}, why={}, columns=(), notes={},
    )  # fmt: skip
    snapshot = replace(shown, queue=only_first)
    drawn = queue.draw(replace(context, scene=replace(context.scene, snapshot=snapshot)), (70, 9), 0)
    assert "~may start" in drawn.head[0].text
    assert ["~" in line.text for line in drawn.body] == [False, True]


def test_suspended_row_names_one_holder_and_counts_the_others() -> None:
    context = context_of(engine_of("lublin-128", "selective:sf=2", steps=120))
    halted = replace(context.scene.snapshot.suspended[0], blocked_by=(10, 11, 12, 13))
    snapshot = replace(context.scene.snapshot, suspended=(halted,))
    context = replace(context, scene=replace(context.scene, snapshot=snapshot))
    assert [rows(context, width)[0].text.split("  ")[-1] for width in (80, 48, 46)] == [
        "J11, J12 and 2 more",
        "J11 and 3 more",
        "J11 + 3",
    ]


class Numbered(Conservative):
    name = "numbered"
    columns = (Column("usage"), Column("due", unit=Unit.MOMENT), Column("procs"))

    def decide(self, now: Moment) -> None:
        now.notes["usage"] = {job.rank: 1234.567 * job.procs for job in now.queue}
        now.notes["due"] = dict.fromkeys(now.notes["usage"], 60)


def test_numbers_of_the_policys_own_are_columns(lab: Lab) -> None:
    engine = lab.run(Numbered(), 4, *HEAD_AND_ANOTHER, until=2)
    heading, first, *_ = shown(context_of(engine), 110).splitlines()[1:]
    ours = ["job", "procs", "estimate", "waited", "starts", "moved"]
    assert heading.split() == [*ours, "usage", "due", "procs", "why"]
    assert first.split()[1:8] == ["1", "3", "12s", "2s", "–", "3,703.7", "00:01:00"]
    assert shown(context_of(engine), 50).splitlines()[1].split() == ["job", "procs", "waited", "usage", "due", "procs"]


def test_the_queue_is_as_it_was_before_the_decision_that_is_walked_to() -> None:
    engine = engine_of("z-figure4", "easy", steps=6)  # J4 is kept waiting, then J5 is backfilled
    stage = stage_of(engine)
    told = []
    for place in range(2):
        scene = stage.scene(Wish(Camera.on(engine.workload, 80, 40), decision=place))
        told.append(shown(replace(context_of(engine, decision=place), scene=scene)).splitlines())
    assert [each[0] for each in told] == ["Queue   before decision 1", "Queue   before decision 2"]
    assert [line[2:7].split() for line in told[0][2:]] == [["3"], ["▸", "4"], ["5"]]
    assert [line[2:7].split() for line in told[1][2:]] == [["3"], ["4"], ["▸", "5"]]
    assert told[1][3].endswith("would delay J3")
    assert [queued.job.id for queued in engine.snapshot().queue] == ["3", "4"]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_queue_names_maintenance_as_the_details_do(lab: Lab, policy: str) -> None:
    """Job 2 fits now, but by its estimate it would still run when maintenance begins at 100."""
    workload = replace(lab.workload(4, "1 0 1 90 90", "2 1 2 60 150"), outages=(Outage(100, 150, 0b1111, True),))
    engine = Engine(workload, policy)
    engine.run(until=2)
    context = context_of(engine)
    assert rows(context, 90)[0].text.endswith("machine down at 00:01:40")
    assert "maintenance of the machine at 00:01:40" in obstacle(
        engine.snapshot(), engine.snapshot().queue[0], context.at
    )


@pytest.fixture(scope="module")
def busy() -> Context:
    return context_of(engine_of("lublin-128", "easy", steps=984))


@pytest.mark.parametrize("column", ["job", "procs", "estimate", "waited", "xfactor", "starts", "moved", "own 0"])
@pytest.mark.parametrize("descends", [True, False])
def test_sorted_queue_has_every_job_once(busy: Context, column: str, descends: bool) -> None:
    places = sorted_places(replace(busy, order=QueueOrder(column, descends)), range(12))
    assert sorted(places) == [*range(12)]
    jobs = [busy.scene.snapshot.queue.jobs[place] for place in places]
    if column == "procs":
        assert [job.procs for job in jobs] == sorted((job.procs for job in jobs), reverse=descends)
    if column == "waited":
        assert [job.submit for job in jobs] == sorted((job.submit for job in jobs), reverse=not descends)
