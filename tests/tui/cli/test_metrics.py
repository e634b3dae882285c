import json

from sim.metrics.catalogue import FAIRNESS, MEASURED
from tests.tui.cli.program import error, schedscope


def test_metrics_are_found_and_explained() -> None:
    lines = schedscope("metrics").stdout.splitlines()
    listed = [line.split()[0] for line in lines if line.strip()]
    names = {entry.name for entry in (*MEASURED, *FAIRNESS)}
    assert sorted(name for name in listed if name in names) == sorted(names)
    assert schedscope("metrics", "worst", "wait").stdout.splitlines()[1].startswith("max_wait ")
    shown = schedscope("metrics", "guarantee_ratio_median").stdout
    assert "formula median of (first guaranteed start - due) / (start - due) of the jobs with start > due" in " ".join(
        shown.split()
    )
    assert "paper    ZKP, figure 16" in shown
    (found,) = json.loads(schedscope("metrics", "p95-wait", "--format", "json").stdout)
    assert found["unit"] == "s"
    assert set(found) == {"name", "title", "unit", "better", "meaning", "formula", "paper"}
    assert error("metrics", "wiat") == (2, "no metric 'wiat'; did you mean 'wait'?")
    assert error("metrics", "xyzzy") == (2, "no metric 'xyzzy'; schedscope metrics lists them")
