from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.lab.intervals import student
from sim.lab.paired import compare, more_seeds, paired, panels_against
from sim.lab.pivot import PivotQuery
from sim.support.errors import NotThereError, ParameterError
from tests.sim.lab.test_pivot import BASE, file

VALUES = st.lists(st.tuples(st.floats(1, 1000), st.floats(1, 1000)), min_size=2, max_size=12)


@given(VALUES)
def test_difference_has_the_interval_of_students_t_and_a_bootstrap(samples: list[tuple[float, float]]) -> None:
    found = paired(samples, smaller_is_better=True)
    differences = [one - base for one, base in samples]
    half = student(0.975, len(samples) - 1) * stdev(differences) / sqrt(len(samples))
    assert found.value == pytest.approx(fmean(differences))
    assert found.student == pytest.approx((found.value - half, found.value + half))
    assert found.bootstrap is not None
    assert min(differences) - 1e-9 <= found.bootstrap[0] <= found.bootstrap[1] <= max(differences) + 1e-9
    assert found.better == fmean(one < base for one, base in samples)
    assert found == paired(samples, smaller_is_better=True)


def test_odd_pairs_have_no_interval() -> None:
    found = paired([(2.0, 1.0), (8.0, 1.0)], smaller_is_better=False, ratio=True)
    assert found.value == pytest.approx(4.0)
    assert found.better == 1.0
    assert found.student is not None
    assert sqrt(found.student[0] * found.student[1]) == pytest.approx(4.0)
    with pytest.raises(ParameterError, match="compare by differences"):
        paired([(0.0, 1.0), (1.0, 1.0)], None, ratio=True)
    found = paired([(2.0, 1.0)], None)
    assert (found.student, found.bootstrap, found.better, found.more) == (None, None, None, None)
    assert more_seeds([0.0, 0.0, 0.0]) is None
    assert paired([(6.0, 2.0)], None, ratio=True).value == pytest.approx(exp(log(3.0)))


@given(st.floats(0.3, 5), st.integers(3, 9))
def test_so_many_seeds_more_would_separate_and_one_less_would_not(centre: float, many: int) -> None:
    differences = [centre + (-1) ** at * 2.0 for at in range(many)]
    more = more_seeds(differences)
    assert more is not None
    share = stdev(differences) / abs(fmean(differences))

    def separates(seeds: int) -> bool:
        return bool(student(0.975, seeds - 1) * share / sqrt(seeds) < 1)

    assert separates(many + more)
    assert more == 0 or not separates(many + more - 1)


def test_pairs_have_all_else_in_common(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        (found,) = compare(results, PivotQuery("policy", "load", "mean_wait"), "easy")
    assert {row for row, _ in found.cells} == {"relaxed:omega=0", "relaxed:omega=1"}
    for load in (1.0, 2.0):
        cell = found.cells["relaxed:omega=0", load]
        assert cell.value == pytest.approx((BASE["relaxed:omega=0"] - BASE["easy"]) * load)
        assert (cell.samples, cell.better, cell.more) == (4, 0.0, 0)
        noise = [0.5 * load - 2.0 * (-1) ** seed for seed in range(4)]  # that of a seed is in both, and goes
        assert found.cells["relaxed:omega=1", load].value == pytest.approx(fmean(noise))


def test_ratio_over_several_loads_is_the_geometric_mean_of_its_pairs(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        (apart,) = compare(results, PivotQuery("policy", "load", "mean_wait"), "easy", ratio=True)
        (found,) = compare(results, PivotQuery("policy", "", "mean_wait"), "easy", ratio=True)
    values = [apart.cells["relaxed:omega=1", load].value for load in (1.0, 2.0)]
    assert found.cells["relaxed:omega=1", None].value == pytest.approx(sqrt(values[0] * values[1]))


def test_batches_of_one_run_are_samples_too(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        (found,) = compare(results, PivotQuery("policy", "load", "mean_wait", interval="batches"), "easy", ratio=False)
        (by_group,) = [
            one
            for one in compare(results, PivotQuery("policy", "load", "mean_wait", "class"), "easy")
            if one.label == "long"
        ]
    assert found.cells["relaxed:omega=0", 1.0].samples == 8  # two batches of each of four runs
    assert by_group.cells["relaxed:omega=0", 2.0].value == pytest.approx(20.0)


def test_lines_are_differences_from_the_baseline(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        (panel,) = panels_against(results, PivotQuery("load", "policy", "mean_wait"), "easy")
        assert [point.mean.value for point in panel.lines["relaxed:omega=0"]] == pytest.approx([10.0, 20.0])
        with pytest.raises(NotThereError, match="did you mean 'easy'"):
            panels_against(results, PivotQuery("load", "policy", "mean_wait"), "eazy")
        with pytest.raises(ParameterError, match="needs --by"):
            panels_against(results, PivotQuery("load", "", "mean_wait"), "easy")


def test_lines_are_ratios_whose_intervals_are_not_symmetric(tmp_path: Path) -> None:
    ask = PivotQuery("load", "policy", "mean_wait")
    with file(tmp_path / "r") as results:
        (panel,) = panels_against(results, ask, "easy", ratio=True)
        (table,) = compare(results, PivotQuery("policy", "load", "mean_wait"), "easy", ratio=True)
    for spec, line in panel.lines.items():
        for point in line:
            cell = table.cells[spec, point.x]
            assert (point.mean.value, point.ends) == (cell.value, cell.student)
            assert point.ends[0] * point.ends[1] == pytest.approx(cell.value**2)  # symmetric as logarithms
