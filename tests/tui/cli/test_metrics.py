import json

from sim.metrics.catalogue import FAIRNESS, MEASURED
from tests.tui.cli.program import error, schedscope


def test_without_words_every_metric_is_listed() -> None:
    lines = schedscope("metrics").stdout.splitlines()
    listed = [line.split()[0] for line in lines if line.strip()]
    names = {entry.name for entry in (*MEASURED, *FAIRNESS)}
    assert sorted(name for name in listed if name in names) == sorted(names)


def test_words_find_by_meaning_with_the_best_first() -> None:
    assert schedscope("metrics", "worst", "wait").stdout.splitlines()[1].startswith("max_wait ")


def test_name_explains_one_with_formula_and_paper() -> None:
    shown = schedscope("metrics", "guarantee_ratio_median").stdout
    assert "formula median of (first guaranteed start - due) / (start - due) of the jobs with start > due" in " ".join(
        shown.split()
    )
    assert "paper    ZKP, figure 16" in shown


def test_json_has_the_fields_of_each() -> None:
    (found,) = json.loads(schedscope("metrics", "p95-wait", "--format", "json").stdout)
    assert found["unit"] == "s"
    assert set(found) == {"name", "title", "unit", "better", "meaning", "formula", "paper"}


def test_nothing_found_is_one_line() -> None:
    assert error("metrics", "wiat") == (2, "no metric 'wiat'; did you mean 'wait'?")
    assert error("metrics", "xyzzy") == (2, "no metric 'xyzzy'; schedscope metrics lists them")
