import pytest

from sim.lab.measured import measured_metric
from sim.metrics.catalogue import FAIRNESS, MEASURED, METRICS, meant, metric, respelled, search
from sim.support.errors import ParameterError


@pytest.mark.parametrize(("words", "name"), [
    ("worst wait", "max_wait"), ("average response time", "mean_turnaround"), ("fragmentation", "fragmentation"),
    ("usage", "utilization"), ("how full is the machine", "utilization"),
    ("95 percentile of bounded slowdown", "p95_bounded_slowdown"), ("longest waiting time", "max_wait"),
    ("jain users", "fairness_users"), ("suspensions", "preemptions"), ("length of the schedule", "makespan"),
])  # fmt: skip
def test_metric_is_found_by_meaning(words: str, name: str) -> None:
    assert search(words, MEASURED)[0].name == name


@pytest.mark.parametrize(
    ("wrong", "name"), [("worst wait", "max_wait"), ("mean_wiat", "mean_wait"), ("avg slowdown", "mean_slowdown")]
)
def test_error_proposes_by_letters_or_meaning(wrong: str, name: str) -> None:
    for find in (metric, measured_metric):
        with pytest.raises(ParameterError, match=f"did you mean .*'{name}'"):
            find(wrong)


@pytest.mark.parametrize(
    ("wrong", "right"), [("wiat", "wait"), ("slwodown", "slowdown"), ("worst wiat", "worst wait"), ("wait", "")]
)
def test_misspelled_word_is_replaced(wrong: str, right: str) -> None:
    assert respelled(wrong, METRICS) == right


def test_nonsense_points_to_the_list() -> None:
    assert search("xyzzy", METRICS) == []
    assert meant("xyzzy", METRICS) == "; schedscope metrics lists them"


def test_every_metric_has_a_formula() -> None:
    for entry in (*MEASURED, *FAIRNESS):
        assert entry.formula
    assert measured_metric("p95_wait").formula == "95 % quantile of start - due"
