from pathlib import Path

import pytest

from sim.lab.plan import SweepPlan
from sim.support.errors import ParameterError, SchedscopeError

pytestmark = pytest.mark.usefixtures("own_program")

FAIR = """
from dataclasses import dataclass
from sim.decisions.decisions import Start
from sim.decisions.reasons import Fits
from sim.policies.policy import Policy

@dataclass(frozen=True)
class Fair(Policy):
    def decide(self, view):
        for job in list(view.queue):
            if job.procs > view.free:
                return
            yield Start(job, Fits(view.free))
"""


def test_plan_nests_or_zips_factors() -> None:
    plan = SweepPlan.of({"policy": ["easy", "fcfs"], "trace": ["z-figure4"], "load": ["{1,2}"], "seed": ["{0..1}"]})
    assert len(plan) == 8
    found = [(run.policy, dict(run.options)["load"], dict(run.options)["seed"]) for run in plan.runs()]
    assert found[:3] == [("easy", 1.0, 0), ("fcfs", 1.0, 0), ("easy", 1.0, 1)]
    assert len(set(found)) == 8
    factors = {"trace": ["z-figure4", "w-figure1"], "procs": ["10", "20"], "policy": ["easy", "fcfs"]}
    plan = SweepPlan.of(factors, [["trace", "procs"]])
    assert len(plan) == 4
    assert {(setting["trace"], setting["procs"]) for setting in plan.settings()} == {
        ("z-figure4", "10"),
        ("w-figure1", "20"),
    }
    plan = SweepPlan.of({"trace": ["z-figure4"], "policy": ["easy", "easy:depth=1", "bf"], "load": ["{1,1.0}"]})
    assert len({run.parameters for run in plan.runs()}) == len(list(plan.runs())) == 2


def keys(**factors: str) -> list[str]:
    given = {"trace": "z-figure4"} | factors
    return [run.key for run in SweepPlan.of({name: [text] for name, text in given.items()}).runs()]


def test_everything_that_determines_a_run_is_in_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [
        {}, {"trace": "w-figure1"}, {"policy": "fcfs"}, {"policy": "easy:depth=2"}, {"seed": "1"}, {"load": "2"},
        {"estimates": "factor:2"}, {"procs": "20"}, {"overrun": "grow"}, {"offline": "yes"}, {"count": "nodes"},
    ]  # fmt: skip
    assert len({keys(**factors)[0] for factors in changed}) == len(changed)
    assert keys() != [run.key for run in SweepPlan.of({"trace": ["z-figure4"]}, cut="10%").runs()]
    before = keys()
    monkeypatch.setattr("sim.lab.plan.version", lambda: "another")
    assert keys() != before


def test_keys_depend_on_content_only(tmp_path: Path) -> None:
    for name, text in {"a": FAIR, "b": FAIR, "c": FAIR + "\n"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    one, same, other = (keys(policy=str(tmp_path / f"{name}.py")) for name in "abc")
    assert one == same != other
    text = "from sim.policies.orders import Order\nclass Late(Order):\n    def key(self, job, now): return -now\n"
    for name, written in {"a": text, "b": text, "c": text.replace("-now", "now")}.items():
        (tmp_path / f"{name}.py").write_text(written)
    one, same, other = (keys(policy=f"easy:order={tmp_path / name}.py:Late") for name in "abc")
    assert one == same != other


def test_a_copy_of_a_trace_makes_the_same_runs(tmp_path: Path) -> None:
    from sim.workload.samples import sample_path

    (tmp_path / "other.swf").write_bytes(sample_path("z-figure4").read_bytes())
    assert keys(trace=str(tmp_path / "other.swf")) == keys()


@pytest.mark.parametrize(
    ("factors", "together", "said"),
    [
        ({"laod": ["1"], "trace": ["z-figure4"]}, [], "did you mean 'load'"),
        ({"policy": ["easy"]}, [], "needs a trace"),
        ({"trace": ["z-figure4"], "load": ["{1..9999}"], "jobs": ["{1..9999}"]}, [], "a plan of 99,980,001 runs"),
        (
            {"trace": ["z-figure4"], "load": ["{1,2}"], "jobs": ["{1..3}"]},
            [["load", "jobs"]],
            "load has 2 and jobs has 3",
        ),
        ({"trace": ["z-figure4"]}, [["trace", "load"]], "'load' has no values"),
        ({"trace": ["z-figure4"], "load": ["{1,2"]}, [], "load: "),
    ],
)
def test_an_impossible_plan_is_refused(factors: dict[str, list[str]], together: list[list[str]], said: str) -> None:
    with pytest.raises(ParameterError) as error:
        SweepPlan.of(factors, together)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "factors",
    [{"load": "x"}, {"load": "0"}, {"policy": "eazy"}, {"trace": "nothing"}, {"high": "0.5", "priority_from": "queue"}],
)
def test_values_that_do_not_exist_are_refused_before_anything_runs(factors: dict[str, str]) -> None:
    with pytest.raises(SchedscopeError):
        keys(**factors)


def test_plan_knows_whether_seeds_count() -> None:
    assert not SweepPlan.of({"trace": ["z-figure4"], "reserve": ["0"]}).draws
    for name, text in {"estimates": "{exact,random:2}", "high": "0.5", "reserve": "{0,0.1}"}.items():
        assert SweepPlan.of({"trace": ["z-figure4"], name: [text]}).draws
    assert SweepPlan.of({"trace": ["lublin-128"], "resample": ["{none,weeks}"]}).draws
    assert not SweepPlan.of({"trace": ["lublin-128"], "resample": ["none"]}).draws
    assert not SweepPlan.of({"trace": ["lublin-128"], "placement": ["together"]}).draws


def test_placement_and_switches_are_factors_and_defaults_change_no_key() -> None:
    base = {"trace": ["lublin-128"], "jobs": ["50"]}
    (plain,) = SweepPlan.of(base).runs()
    given = SweepPlan.of(
        {**base, "placement": ["lowest", "together"], "switch": ["none", "{1h,2h}=fcfs", "#9=fcfs;1d=bf"]}
    )
    runs = list(given.runs())
    assert len({run.key for run in runs}) == 8
    assert runs[0].key == plain.key
    assert [run.switch for run in runs[:4]] == [
        "none", "3600=fcfs", "7200=fcfs", "#9=fcfs;86400=conservative:compress=queue"
    ]  # fmt: skip
    (same,) = SweepPlan.of({**base, "switch": ["3600=fcfs"]}).runs()
    assert same.key == runs[1].key
    with pytest.raises(ParameterError, match="expected T=SPEC"):
        list(SweepPlan.of({**base, "switch": ["fcfs"]}).runs())
    with pytest.raises(ParameterError, match="lowest or together"):
        list(SweepPlan.of({**base, "placement": ["near"]}).runs())
