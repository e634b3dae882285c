from pathlib import Path

import pytest

from sim import read
from sim.code.recorder import UNNAMED
from sim.code.variables import variables_of
from sim.policies import POLICIES, parse_policy
from sim.timeline.timeline import Timeline

pytestmark = pytest.mark.usefixtures("own_program")


@pytest.mark.parametrize("name", [*sorted(set(POLICIES) - {"adaptive"}), "easy:order=ward"])
def test_names_hold_every_variable_that_a_run_records(name: str) -> None:
    policy = parse_policy(name)
    timeline = Timeline(read("ls-figure1"), policy)
    recorded: set[str] = set()
    for step in range(1, 13):
        timeline.seek(step)
        recorded |= {value.name for value in timeline.code().values}
    assert recorded - UNNAMED <= variables_of(policy)


def test_names_are_those_of_the_policy_alone() -> None:
    names = variables_of(parse_policy("easy"))
    assert {"shadow", "extra", "head", "job"} <= names
    assert not names & {"nosuch", "pivot", "self", "_"}
    assert not names & {"grain", "rounded"}, "local to a private class of the policy slurm"
    assert {"grain", "rounded"} <= variables_of(parse_policy("slurm"))


def test_names_of_a_users_file_hold_those_of_its_functions(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from sim.policies import Policy\n\n\n"
        "def widest(now):\n    greatest = 0\n    return greatest\n\n\n"
        "class Mine(Policy):\n    def decide(self, now):\n        limit = widest(now)\n"
    )
    assert {"greatest", "limit"} <= variables_of(parse_policy(str(file)))
