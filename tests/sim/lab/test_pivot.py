import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.lab.intervals import mean
from sim.lab.measured import Measured
from sim.lab.pivot import PivotCell, PivotQuery, PivotTable, RunFilter, Value, order_of, pivot, records
from sim.lab.plan import Run, SweepPlan
from sim.lab.results import Results
from sim.lab.work import Outcome
from sim.metrics.groups import GroupRow
from sim.support.errors import ParameterError

NOISE = [0.0, 6.0, -4.0, 10.0]
BASE = {"easy": 10.0, "relaxed:omega=0": 20.0, "relaxed:omega=1": 10.5}


def plan(**more: list[str]) -> SweepPlan:
    return SweepPlan.of({"trace": ["z-figure4"], "policy": list(BASE), "load": ["{1,2}"], "seed": ["{0..3}"], **more})


def value(run: Run) -> float:
    """Return a made-up result of a run. It depends on the policy and the load; noise depends on the seed and a little
    on the policy."""
    options = dict(run.options)
    own = {"easy": 0.0, "relaxed:omega=0": 0.1, "relaxed:omega=1": -2.0}[run.policy]
    load: float = options["load"]
    noise: float = NOISE[options["seed"]] + own * (-1) ** options["seed"]
    return BASE[run.policy] * load + noise


def outcome(run: Run, overload: str = "") -> Outcome:
    groups = {
        "class": [GroupRow("short", "", {"mean_wait": 1.0, "jobs": 3}), GroupRow("long", "", {"mean_wait": value(run)})]
    }
    batches = json.dumps({"mean_wait": [value(run) - 1, value(run) + 1]})
    return Outcome(run, Measured({"mean_wait": value(run), "jobs": 7}, overload, batches, groups), groups=("class",))


def file(path: Path, of: SweepPlan | None = None, made: Callable[[Run], Outcome] = outcome) -> Results:
    with Results(path, write=True) as results:
        results.add(made(run) for run in (of or plan()).runs())
    return Results(path)


def table(path: Path, ask: PivotQuery, of: SweepPlan | None = None) -> PivotTable:
    with file(path, of) as results:
        (found,) = pivot(results, ask)
    return found


def cell(of: PivotTable, row: Value, column: Value = None) -> PivotCell:
    return of.cells[row, column]


def test_means_and_intervals_are_over_seeds(tmp_path: Path) -> None:
    found = table(tmp_path / "r", PivotQuery("policy", "load", "mean_wait"))
    assert found.rows == ("easy", "relaxed:omega=0", "relaxed:omega=1")
    assert found.columns == (1.0, 2.0)
    assert cell(found, "easy", 2.0).mean == mean([20 + noise for noise in NOISE])
    assert (cell(found, "easy", 2.0).runs, cell(found, "easy", 2.0).seeds) == (4, 4)
    assert not found.mixed


def test_the_best_is_marked_where_pairs_show_that_it_is(tmp_path: Path) -> None:
    ask = PivotQuery("policy", "load", "mean_wait", where=(RunFilter.of("policy!=relaxed:omega=1"),))
    found = table(tmp_path / "r", ask)
    assert sorted(at for at, of in found.cells.items() if of.best) == [("easy", 1.0), ("easy", 2.0)]
    # both runs have the seed's noise, so separate means with intervals would not show the difference at load 1
    (low, high) = (cell(found, name, 1.0).mean for name in ("easy", "relaxed:omega=0"))
    assert low.value + (low.half or 0) > high.value - (high.half or 0)


def test_where_the_second_is_as_good_none_is_marked(tmp_path: Path) -> None:
    found = table(tmp_path / "r", PivotQuery("policy", "load", "mean_wait"))
    assert not any(of.best for of in found.cells.values())


def test_policies_in_columns_compete_within_their_rows(tmp_path: Path) -> None:
    found = table(tmp_path / "r", PivotQuery("load", "family", "mean_wait", where=(RunFilter.of("policy.omega!=1"),)))
    assert sorted(at for at, of in found.cells.items() if of.best) == [(1.0, "easy"), (2.0, "easy")]


def test_a_parameter_of_policies_can_stand_in_rows(tmp_path: Path) -> None:
    found = table(tmp_path / "r", PivotQuery("policy.omega", "", "mean_wait"))
    assert found.rows == (None, 0.0, 1.0)
    assert found.mixed == {"load": 2}


def test_other_factors_are_named_and_are_no_random_repeats(tmp_path: Path) -> None:
    found = table(tmp_path / "r", PivotQuery("policy", "", "mean_wait"), plan(stretch=["{1,2,3}"]))
    assert found.mixed == {"load": 2, "stretch": 3}
    assert (cell(found, "easy").runs, cell(found, "easy").seeds) == (24, 4)
    assert cell(found, "easy").mean == mean([15 + noise for noise in NOISE])


def test_groups_make_a_table_each_in_their_order(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        short, long = pivot(results, PivotQuery("policy", "load", "mean_wait", by="class"))
        assert (short.label, long.label) == ("short", "long")
        assert cell(short, "easy", 1.0).mean == mean([1.0] * 4)
        assert cell(long, "easy", 1.0).mean == mean([10 + noise for noise in NOISE])
        with pytest.raises(ParameterError, match="has no groups 'user'; there is class"):
            pivot(results, PivotQuery(by="user"))


def test_batches_make_intervals_within_runs(tmp_path: Path) -> None:
    ask = PivotQuery(
        "policy", "", "mean_wait", where=(RunFilter.of("seed=0"), RunFilter.of("load=1")), interval="batches"
    )
    found = table(tmp_path / "r", ask)
    assert cell(found, "easy").mean == pytest.approx((10.0, mean([9.0, 11.0]).half))


def test_runs_that_failed_are_left_out_and_overloaded_ones_counted(tmp_path: Path) -> None:
    def made(run: Run) -> Outcome:
        seed = dict(run.options)["seed"]
        return Outcome(run, None, error="broke") if seed == 0 else outcome(run, "full" if seed == 1 else "")

    with file(tmp_path / "r", made=made) as results:
        (found,) = pivot(results, PivotQuery("policy", "load", "mean_wait"))
        assert len(list(records(results, [], [RunFilter.of("error")]))) == 6
        assert len(list(records(results, [], [RunFilter.of("overload")]))) == 6
    assert (cell(found, "easy", 1.0).runs, cell(found, "easy", 1.0).overloaded) == (3, 1)


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("load<=1", 12), ("load < 1.5", 12), ("load>=1.0", 24), ("policy=easy", 8), ("family=relaxed", 16),
        ("policy.omega=1", 8), ("policy.omega", 16), ("mean_wait>30", 5), ("seed!=0", 18), ("load=1 OR 1=1", 0),
        ("jobs=7", 0), ("trace=z-figure4", 24), ("procs=", 24),
    ],
)  # fmt: skip
def test_conditions_are_compared_and_never_run(tmp_path: Path, where: str, left: int) -> None:
    with file(tmp_path / "r") as results:
        assert len(list(records(results, ["mean_wait"], [RunFilter.of(where)]))) == left


def test_a_number_is_not_less_than_a_word(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results, pytest.raises(ParameterError, match="load<= needs a number, got 'x'"):
        list(records(results, ["mean_wait"], [RunFilter.of("load<=x")]))


@pytest.mark.parametrize("where", ["", "load<>1", "1;", "laod=1", "load=1" + " " * 1000, "'; DROP TABLE runs"])
def test_what_is_no_condition_is_refused(tmp_path: Path, where: str) -> None:
    with file(tmp_path / "r") as results, pytest.raises(ParameterError):
        list(records(results, [], [RunFilter.of(where)]))


def test_a_factor_and_a_metric_of_one_name_are_distinguished(tmp_path: Path) -> None:
    with file(tmp_path / "r", plan(jobs=["3"])) as results:
        (record, *_) = records(results, ["jobs"])
    assert (record["jobs"], record["=jobs"]) == (3, 7)


@pytest.mark.parametrize(
    "ask", [PivotQuery("colour"), PivotQuery("policy", "mean_wait"), PivotQuery(value="mean_wiat")]
)
def test_names_that_do_not_exist_are_refused(tmp_path: Path, ask: PivotQuery) -> None:
    with file(tmp_path / "r") as results, pytest.raises(ParameterError, match=r"no factor|no metric"):
        pivot(results, ask)


def test_values_stand_in_a_persons_order() -> None:
    mixed: list[Value] = ["factor:10", 2.0, None, "factor:9", "exact", 1, "10", "9"]
    assert sorted(mixed, key=order_of) == [None, 1, 2.0, "9", "10", "exact", "factor:9", "factor:10"]
