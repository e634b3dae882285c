"""The form in which the parameters of a policy are filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.policies import POLICIES, parse_policy, written_policy
from sim.policies.parameters import parameters_of
from sim.support.errors import ParameterError
from tui.authoring.cli.new import texts
from tui.screens.dialogs.policy_form import Field, Form, entries

pytestmark = pytest.mark.usefixtures("own_program")


def field(form: Form, name: str) -> Field:
    return next(each for each in form.fields if each.parameter.name == name)


@pytest.mark.parametrize("spec", [*POLICIES.names, "easy:order=delay,weight=0.5,depth=3", "tunable:memory=yes"])
def test_a_spec_comes_back_as_it_is_written_shortest(spec: str) -> None:
    assert Form.of_spec(spec).spec == written_policy(parse_policy(spec))
    assert Form.of_spec(spec).error is None


def test_form_follows_what_is_typed() -> None:
    form = Form("easy")
    assert not field(form.with_text("depth", " 1 "), "depth").changed
    assert field(form.with_text("depth", "2"), "depth").changed
    form = Form("easy").with_text("depth", "many")
    assert field(form, "depth").error == form.error == "expected whole number >= 1"
    assert field(form, "order").error is None
    assert form.spec == "easy:depth=many"
    form = Form("multiqueue").with_text("classes", "9/3")
    assert (field(form, "classes").error or "").startswith("expected seconds > 0 in ascending order")
    with pytest.raises(ParameterError, match="did you mean 'depth'"):
        Form.of_spec("easy:dept=2")


def test_the_parameters_of_the_order_come_and_go_with_it() -> None:
    form = Form("easy").with_text("order", "delay").with_text("weight", "2")
    assert [each.parameter.name for each in form.fields] == [*parameters_of(POLICIES["easy"]), "order", "weight"]
    assert form.spec == "easy:order=delay,weight=2"
    assert form.with_text("order", "sjf").spec == "easy:order=sjf"


def test_a_policy_is_found_by_name_by_short_name_and_by_what_it_does() -> None:
    assert [entry.title for entry in entries("ss")] == ["ss", "tss", "selective"]
    assert [entry.title for entry in entries("starve")] == ["firstfit"]
    assert len(entries("")) == len(POLICIES)
    assert entries("eazy") == []


def test_a_policy_of_a_file_with_an_order_of_its_own_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "fair.py"
    path.write_text(texts(path, "fair-share")[0])
    form = Form.of_spec(f"{path}:halflife=3")
    assert [field.parameter.name for field in form.fields] == ["order", "halflife"]
    assert form.spec == f"{path}:halflife=3"
    assert form.error is None
    assert "fewest processor-hours" in form.fields[0].meaning
    other = Form.of_spec(f"easy:order={path}:LeastUsed,halflife=3")
    assert (other.spec, other.error) == (f"easy:order={path}:LeastUsed,halflife=3", None)
    assert other.with_text("order", "nobody.py:X").error
