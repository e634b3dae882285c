"""Labels of policies in results of a sweep: points of a series are told apart by their values."""

from pathlib import Path

import pytest

from sim.lab.again import session_of_run
from sim.lab.paired import compare
from sim.lab.pivot import PivotQuery, RunFilter, pivot, policy_labels, records
from sim.lab.plan import SweepPlan
from sim.lab.results import Results
from sim.lab.sweep import sweep
from sim.policies.policy import full_policy, written_policy
from sim.policies.registry import parse_policy

SERIES = ["relaxed:omega=0", "relaxed:omega=1", "relaxed:omega=2"]


def labels(*specs: str) -> list[str]:
    policies = [parse_policy(spec) for spec in specs]
    return list(policy_labels((written_policy(policy), full_policy(policy)) for policy in policies).values())


@pytest.mark.parametrize(
    ("specs", "told"),
    [
        (SERIES, SERIES),
        (["relaxed"], ["relaxed"]),
        (["easy", "relaxed", "relaxed:omega=1"], ["easy", "relaxed:omega=2", "relaxed:omega=1"]),
        (["easy", "easy:order=sjf"], ["easy", "easy:order=sjf"]),
        (["easy:order=sjf", "easy:order=sjf,depth=3"], ["easy:order=sjf,depth=1", "easy:order=sjf,depth=3"]),
        (
            ["adaptive:above=gang-backfill:mpl=3+slice=60", "adaptive:at=0.5"],
            ["adaptive:above=gang-backfill:mpl=3+slice=60,at=0.8", "adaptive:at=0.5"],
        ),
    ],
)
def test_series_of_numbers_shows_its_default(specs: list[str], told: list[str]) -> None:
    assert labels(*specs) == told
    assert [parse_policy(label) for label in told] == [parse_policy(spec) for spec in specs]


def test_default_point_of_a_sweep_has_its_value(tmp_path: Path) -> None:
    plan = SweepPlan.of({"trace": ["z-figure4"], "policy": ["easy", "relaxed:omega={0..2}"]})
    path = tmp_path / "o.sqlite"
    sweep(plan, path)
    with Results(path) as results:
        (table,) = pivot(results, PivotQuery())
        assert list(table.rows) == ["easy", *SERIES]
        for typed in ("policy=relaxed", "policy=relaxed:omega=2"):
            (found,) = records(results, [], [RunFilter.of(typed)])
            assert (found["policy"], found["spec"]) == ("relaxed:omega=2", "relaxed")
            assert session_of_run(found | {"sha256": "", "code": ""}).policy == "relaxed"
        for typed in ("relaxed", "relaxed:omega=2"):
            (compared,) = compare(results, PivotQuery(), typed)
            assert {row for row, _ in compared.cells} == {"easy", *SERIES[:2]}
