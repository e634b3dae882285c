from pathlib import Path

import pytest

from sim.lab.measured import Measured, measured_metric
from sim.lab.papers import GAIN, MISSED, STATEMENTS, PaperTable, PaperValue, table, tables
from sim.lab.results import Results
from sim.lab.work import Outcome
from sim.metrics.aggregates import Value
from sim.metrics.groups import GroupRow
from sim.policies import parse_policy
from sim.support.errors import ParameterError, SchedscopeError
from sim.workload.categories import CATEGORIES
from sim.workload.samples import sample_path


@pytest.mark.parametrize("name", list(tables()))
def test_every_table_can_be_made(name: str, tmp_path: Path) -> None:
    of = table(name)
    for log in of.logs:
        (tmp_path / log).write_bytes(sample_path("z-figure4").read_bytes())
    plan = of.plan(tmp_path)
    assert len(plan) == len(of.rows) * (2 if of.compares else 1)
    assert {len(row) for row in of.rows} == {1 + len(of.head) + len(of.metrics)}
    for spec in plan.values["policy"]:
        parse_policy(spec)
    labels = {row[1 + of.head.index("label")] for row in of.rows} if of.group else set()
    assert labels <= {"", "short", "medium", "long", *(category.label for category in CATEGORIES)}
    figures = {figure for row in of.rows for figure in row[1 + len(of.head) :] if isinstance(figure, str)}
    assert figures <= {"", *STATEMENTS}
    for metric in of.metrics:
        assert metric == MISSED or measured_metric(metric.removeprefix(GAIN))


def small(**more: object) -> PaperTable:
    options = {"trace": "a.swf", "estimates": "exact"}
    rows = (("one", "easy", 10.0, 0.5), ("two", "fcfs", 20.0, 0.25), ("again", "easy:depth=1", 11.0, 0.5))
    return PaperTable("small", "A table", "", ("mean_wait", MISSED), ("policy",), rows, options)


def test_figures_stand_beside_ours_also_where_two_rows_are_one_run(tmp_path: Path) -> None:
    (tmp_path / "a.swf").write_bytes(sample_path("z-figure4").read_bytes())
    of = small()
    plan = of.plan(tmp_path)
    easy, fcfs = plan.runs()
    with Results(tmp_path / "r", write=True) as results:
        values: dict[str, Value] = {"mean_wait": 12.0, "reservations": 8, "missed_reservations": 2}
        results.add([Outcome(easy, Measured(values)), Outcome(fcfs, None, error="broke")])
        found = list(of.figures(plan, results))
    assert found[:2] == [PaperValue("one", "mean_wait", 10.0, 12.0), PaperValue("one", MISSED, 0.5, 0.25)]
    assert found[2] == PaperValue("two", "mean_wait", 20.0, None)
    assert found[4] == PaperValue("again", "mean_wait", 11.0, 12.0)


def test_a_statement_is_held_against_the_gain_over_another_policy(tmp_path: Path) -> None:
    (tmp_path / "a.swf").write_bytes(sample_path("z-figure4").read_bytes())
    rows = (("one", "easy", "", ">0"), ("two", "conservative", "", ">0"))
    options = {"trace": "a.swf", "against": "fcfs"}
    of = PaperTable("small", "A table", "", ("mean_wait", "gain:mean_wait"), ("policy",), rows, options)
    plan = of.plan(tmp_path, jobs=3)
    assert plan.values["jobs"] == ("3",)
    waits: dict[str, Value] = {"easy": 10.0, "conservative": 30.0, "fcfs": 20.0}
    with Results(tmp_path / "r", write=True) as results:
        results.add(Outcome(run, Measured({"mean_wait": waits[run.policy]})) for run in plan.runs())
        found = list(of.figures(plan, results))
    assert [(figure.ours, figure.holds, figure.off) for figure in found] == [
        (10.0, None, None), (1.0, True, None), (30.0, None, None), (-0.5, False, None)
    ]  # fmt: skip


def test_figures_of_groups_are_those_of_their_jobs(tmp_path: Path) -> None:
    (tmp_path / "a.swf").write_bytes(sample_path("z-figure4").read_bytes())
    rows = (("short", "VS N", 2.0), ("all", "", 3.0))
    options = {"trace": "a.swf", "policy": "easy"}
    of = PaperTable("small", "A table", "", ("mean_wait",), ("label",), rows, options, "category")
    plan = of.plan(tmp_path)
    (run,) = plan.runs()
    groups = {"category": [GroupRow("VS N", "", {"mean_wait": 7.0})]}
    with Results(tmp_path / "r", write=True) as results:
        results.add([Outcome(run, Measured({"mean_wait": 9.0}, groups=groups), groups=("category",))])
        assert [figure.ours for figure in of.figures(plan, results)] == [7.0, 9.0]


def test_a_log_that_is_missing_is_named_with_the_name_of_the_archive(tmp_path: Path) -> None:
    with pytest.raises(
        SchedscopeError, match=r"needs the log KTH-SP2-1996-2\.swf\.gz of the Parallel Workloads Archive"
    ):
        table("zkp-table-2").plan(tmp_path)
    with pytest.raises(ParameterError, match="did you mean 'zkp-table-2'"):
        table("zkp-tabel-2")
