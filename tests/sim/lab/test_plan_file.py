from pathlib import Path

import pytest

from sim.lab.plan import SweepPlan
from sim.lab.plan_file import PlanError, read_plan, seeds
from sim.workload.samples import sample_path
from tests.sim.lab.test_plan import FAIR

WHOLE = """
traces = ["z-figure4", "w-figure1"]
policies = ["easy", "relaxed:omega={0,1}"]
seeds = 2
groups = ["class"]
cut = "10%"
zip = [["load", "stretch"]]

[options]
load = "{0.8..1.0..0.1}"
stretch = [1, 2.0, "3"]
offline = false
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_is_what_would_be_typed(tmp_path: Path) -> None:
    factors = {
        "trace": ["z-figure4", "w-figure1"], "policy": ["easy", "relaxed:omega={0,1}"], "seed": [seeds(2)],
        "load": ["{0.8..1.0..0.1}"], "stretch": ["1", "2.0", "3"], "offline": ["no"],
    }  # fmt: skip
    plan = read_plan(written(tmp_path, WHOLE)).plan()
    assert plan == SweepPlan.of(factors, [["load", "stretch"]], ["class"], "10%")
    assert len(plan) == 2 * 3 * 2 * 3


def test_traces_are_looked_for_beside_the_plan_first(tmp_path: Path) -> None:
    (tmp_path / "own.swf").write_bytes(sample_path("z-figure4").read_bytes())
    asked = read_plan(written(tmp_path, 'traces = ["{own.swf,z-figure4}"]'))
    assert asked.factors["trace"] == [str(tmp_path / "own.swf"), "z-figure4"]


@pytest.mark.parametrize("spec", ["easy:order=evil:Foo", "adaptive:below=evil:Foo"])
def test_code_in_a_parameter_of_a_plan_needs_trust(tmp_path: Path, spec: str) -> None:
    plan = written(tmp_path, f'traces = ["z-figure4"]\npolicies = ["{spec}"]')
    with pytest.raises(PlanError, match=r"it runs code: evil; if you trust it, add --trust"):
        read_plan(plan)


def test_code_that_a_plan_names_runs_only_with_trust(tmp_path: Path) -> None:
    (tmp_path / "fair.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n{FAIR}")
    plan = written(tmp_path, 'traces = ["z-figure4"]\npolicies = ["./{fair.py,fair.py:Fair}", "easy"]')
    with pytest.raises(PlanError, match=r"it runs code: .*fair\.py.*--trust"):
        read_plan(plan)
    assert not (tmp_path / "ran").exists()
    (run, *_) = read_plan(plan, trust=True).plan().runs()
    assert run.code


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('traces = ["a"\n', 1, ""),
        ('\ntrace = ["a"]\n', 2, "did you mean 'traces'"),
        ('traces = ["a"]\n[options]\nlaod = 1\n', 3, "did you mean"),
        ('traces = ["a"]\n[options]\n\nload = 0\n', 4, "must be between"),
        ('traces = ["a"]\n[options]\nload = "{1..1000000000}"\n', 3, "1,000,000,000 values"),
        ('traces = ["a"]\n[options]\nload = {x = 1}\n', 3, "expected words or numbers"),
        ('traces = ["a"]\n[options]\noffline = "maybe"\n', 3, "expected yes or no"),
        ('traces = ["a"]\npolicies = ["eazy"]\n', 2, "did you mean 'easy'"),
        ('traces = ["a"]\n\nx = = 1', 3, "Invalid value"),
        ('traces = ["a"]\nseeds = 0\n', 2, "counted from 1"),
        ('traces = ["a"]\nseeds = true\n', 2, "a number of them"),
        ('traces = ["a"]\noptions = 1\n', 2, "a table"),
        ("x = " + "[" * 5000, 1, ""),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PlanError) as error:
        read_plan(path)
    told = str(error.value)
    assert told.startswith(f"{path}:{line}: " if line else f"{path}")
    assert said in told
    assert len(told) < len(str(path)) + 300


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"#" * (2**20 + 1)], ids=["no text", "too long"])
def test_what_is_no_text_or_too_long_is_no_plan(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "plan.toml").write_bytes(data)
    with pytest.raises(PlanError, match=r"is no (plan|text)"):
        read_plan(tmp_path / "plan.toml")
    with pytest.raises(PlanError, match="cannot be read"):
        read_plan(tmp_path / "missing.toml")
