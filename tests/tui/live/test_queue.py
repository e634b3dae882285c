from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sim.live.cluster.observed import Dated, Observed
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.board import Forecasts
from sim.live.forecast.expected import Expected
from sim.live.forecast.ranges import Range
from sim.support.errors import ParameterError
from tests.effort import calls
from tests.sim.live.cluster.captures import VERSIONS
from tests.tui.live.moments import DAY, NODES, observed_of, recorded, runs, waits
from tui.live.panels import draw_job
from tui.live.queue import draw_queue, kept_layouts, moved_of, parse_layout, range_in_words
from tui.live.scene import Listing, LiveContext, LiveScene, strip_of
from tui.look.palette import DARK


def context_of(observed: Observed, **chosen: object) -> LiveContext:
    cluster = observed.last
    assert cluster is not None
    last = len(observed.moments) - 1
    clock = observed.moments[-1]
    scene = LiveScene(
        cluster, observed, clock, last, last + 1, None, strip_of(observed, clock), observed.happened(last) or ()
    )
    return LiveContext(scene, DARK, **chosen)  # type: ignore[arg-type]


def drawn(observed: Observed, width: int = 100, rows: int = 20, **chosen: Any) -> list[str]:
    """Return the lines of a list: its title, the names of the lists, the headings, and the jobs."""
    return draw_queue(context_of(observed, listing=Listing(**chosen)), (width, rows)).text.splitlines()


def test_date_is_a_plan_a_question_a_begin_time_or_never() -> None:
    observed = observed_of(
        waits("1", 2, 7200, "Priority", "n1"), waits("2", 2, 7200, "BeginTime"), waits("3", 1, None, "JobHeldUser"),
        waits("4", 1, None, "PartitionTimeLimit"), waits("5", 1, 7200, "AssocGrpCpuLimit"),
    )  # fmt: skip
    rows = {line.split()[0]: line.split()[2] for line in drawn(observed)[3:]}
    assert rows == {"J1": "02:00", "J2": ">02:00", "J3": "-", "J4": "never", "J5": "02:00?"}
    far = observed_of(waits("1", 2, 2 * 86400, "Priority", "n1"), waits("2", 2, 40 * 86400, "Priority", "n1"))
    assert [" ".join(line.split()[2:4]) for line in drawn(far)[3:]] == ["Wed 00:00", "02 Jan"]


def test_how_a_date_moved_is_reported() -> None:
    observed = Observed()
    for at, start in ((60, 600), (120, 900), (180, 1200)):
        observed.add(Cluster(at=DAY + at, nodes=NODES, jobs=(waits("1", 2, start, "Priority", "n1"),)))
    assert "2x +10m" in draw_job(context_of(observed, selected=0), (60, 20)).text
    assert moved_of((Dated(0, 600), Dated(1, 300))) == "1x -5m00"


def test_forecast_stands_beside_slurms_date_where_there_is_room() -> None:
    observed = observed_of(waits("1", 2, 7200, "Priority", "n1"), waits("2", 2, 7200, "BeginTime"))
    context = context_of(observed)
    starts = {"1": Expected(DAY + 3600, DAY + 5400, DAY + 9000)}
    ranges = {"1": Range(DAY + 3600, DAY + 9000)}
    told = replace(context, scene=replace(context.scene, forecasts=Forecasts(DAY, starts, ranges)))
    rows = {width: draw_queue(told, (width, 9)).text.splitlines() for width in (50, 130)}
    assert [rows[50][place].split()[2] for place in (3, 4)] == ["01:00-02:30", ">02:00"]
    assert {"01:00-02:30", "02:00"} <= set(rows[130][3].split())
    assert "Our forecast: 01:00 to 02:30 for 80 %" in draw_job(replace(told, selected=0), (70, 20)).text


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-60, -60, "now"), (0, 3600, "now-13:00"), (3600, 3620, "13:00"), (3600, 9000, "13:00-14:30"),
        (3600, 15 * 3600, "13:00-Tue"), (15 * 3600, 18 * 3600, "Tue 03-06h"), (15 * 3600, 15 * 3600, "Tue 03:00"),
        (15 * 3600, 40 * 3600, "Tue-Wed"), (86400, 12 * 86400, "24 Nov-05 Dec"), (0, 1e300, "-"),
    ],
)  # fmt: skip
def test_range_is_written_in_few_columns(low: float, high: float, words: str) -> None:
    noon = DAY + 43200
    assert range_in_words(noon + low, noon + high, noon) == words
    assert len(words) <= 13


def test_lists_are_mine_first_of_a_partition_and_filtered() -> None:
    jobs = (replace(waits("1", 1), priority=9, partition="batch"), replace(waits("2", 1), user="ann", partition="gpu"))
    observed = Observed()
    observed.add(Cluster(at=DAY, nodes=NODES, jobs=jobs, me="ann"))

    def rows(**chosen: Any) -> list[str]:
        return [line.split()[0] for line in drawn(observed, **chosen)[3:]]

    assert [rows(mine=mine) for mine in range(3)] == [["J1", "J2"], ["J2", "J1"], ["J2"]]
    assert rows(partition="gpu") == rows(words="AN gp") == rows(words="j2") == ["J2"]
    assert drawn(observed, partition="gpu")[0].startswith("Jobs in gpu · mine first")
    assert "No such job here" in drawn(observed, words="nobody")[-1]


def test_running_and_ended_jobs_have_lists_of_their_own() -> None:
    observed = Observed()
    there = (runs("1", 2, "n1"), runs("2", 1, "n2", end=400), waits("3", 1))
    gone = (replace(runs("4", 1, "n2", end=70), state="TIMEOUT"), *there)
    for at, jobs in ((60, gone), (120, (there[0], there[2]))):
        observed.add(Cluster(at=DAY + at, nodes=NODES, jobs=jobs))
    assert drawn(observed)[1].startswith("waiting 1  running 1  ended 2")
    running, ended = drawn(observed, kind="running"), drawn(observed, kind="ended")
    assert running[3].split()[:6] == ["J1", "2", "8m00", "ann", "n1", "2m00"]
    assert [line.split()[:2] for line in ended[3:]] == [["J2", "gone"], ["J4", "timeout"]]


def test_columns_are_those_that_fit_or_were_chosen() -> None:
    job = replace(waits("1", 2, 7200), name="fold", partition="batch", account="chem")
    wide = drawn(observed_of(job), 88)
    assert wide[2].split() == ["job", "cores", "start", "user", "left", "waited", "partition", "name", "why"]
    assert drawn(observed_of(job), 52)[2].split() == ["job", "cores", "start", "user", "left", "why"]
    chosen = drawn(observed_of(job), 50, layouts={"waiting": "account -left"})
    assert chosen[2].split() == ["job", "account", "▼left"]
    assert chosen[3].split() == ["J1", "chem", "5m00"]
    assert kept_layouts({"waiting": "user", "running": "nonsense"}) == {"waiting": "user"}
    with pytest.raises(ParameterError, match="no column 'lefty'; there are cores, start,"):
        parse_layout("user -lefty")


def test_a_list_is_sorted_with_unknown_values_last() -> None:
    jobs = tuple(replace(waits(str(at), at, start), limit=9.0 - at) for at, start in ((1, 90), (2, None), (3, 70)))
    orders = {order: [line.split()[0] for line in drawn(observed_of(*jobs), layouts={"waiting": order})[3:]]
              for order in ("+start", "-start", "-cores", "+job", "+left")}  # fmt: skip
    assert orders == {
        "+start": ["J3", "J1", "J2"], "-start": ["J1", "J3", "J2"], "-cores": ["J3", "J2", "J1"],
        "+job": ["J1", "J2", "J3"], "+left": ["J3", "J2", "J1"],
    }  # fmt: skip


def test_hidden_jobs_are_said_and_no_date_is_given() -> None:
    observed = Observed()
    observed.add(Cluster(at=DAY, nodes=NODES, jobs=(waits("1", 1, 60),), is_private=True))
    assert "hidden" in drawn(observed)[0]
    assert drawn(observed)[3].split()[2] == "-"


@pytest.mark.parametrize("name", ["[red]x", "\x1b[31m", "1\n2", "x" * 5000])
def test_hostile_words_stay_in_their_line(name: str) -> None:
    job = ClusterJob(name, name, "PENDING", name=name, reason=name, user=name, submit=DAY)
    for line in drawn(observed_of(job)):
        assert "\x1b" not in line
        assert len(line) <= 101


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("width", [40, 56, 72, 100])
def test_every_row_of_a_recorded_queue_fits(shared: Path, version: str, width: int) -> None:
    lines = drawn(recorded(shared, version), width, 100)
    assert len(lines) > 20
    assert max(map(len, lines[1:])) <= width
    assert lines[2].split()[-1] == "why"


def test_a_long_queue_costs_what_is_seen_of_it() -> None:
    def context(count: int) -> LiveContext:
        return context_of(observed_of(*(waits(str(number), 1, None, "JobHeldUser") for number in range(count))))

    few, many = context(500), context(5000)
    for each in (few, many):
        draw_queue(each, (100, 30))
    spent = [calls(partial(draw_queue, each, (100, 30))) for each in (few, many)]
    assert spent[1] < 4 * spent[0] + 40_000
