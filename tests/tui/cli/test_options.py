from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO

import click
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sim.support.errors import SchedscopeError
from sim.workload.options import OPTIONS
from sim.workload.source import Source
from tests.examples import examples
from tui.cli import options
from tui.cli.main import commands


@click.command()
@options.of_workload
def nothing(**given: object) -> None:
    """A command with all options of a workload and nothing else."""


def test_options_are_those_of_a_workload() -> None:
    assert [param.name for param in nothing.params] == list(OPTIONS)
    told = {param.name: getattr(param, "help", "") for param in nothing.params}
    assert [name for name, of in OPTIONS.items() if of.low is not None and of.range not in told[name]] == []
    assert told["load"] == "Divide the times between arrivals by F.  [between 0.000001 and 1,000,000]"
    assert Source.of_options("a", nothing.make_context("nothing", []).params) == Source("a")


@pytest.mark.parametrize("trace", ["z-figure4", "nothere.swf"])
def test_no_job_at_all_is_wrong_usage_whatever_the_trace_says(trace: str) -> None:
    with pytest.raises(SchedscopeError, match="--jobs 0 leaves nothing to simulate") as refused:
        options.replay(Source.of_options(trace, {"jobs": 0}))
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("command", ["run", "draw", "explain", "inspect", "watch", "compare", "quiz"])
def test_who_types_a_lesson_for_a_trace_is_told_how_it_is_played(command: str) -> None:
    with pytest.raises(SchedscopeError, match="zkp-lies is a lesson, no trace: schedscope learn zkp-lies plays it"):
        commands([command, "zkp-lies"], standalone_mode=False)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (["--window", "1d,36h"], {"window": "86400,129600"}),
        (["--procs", "64", "--count", "nodes"], {"procs": 64, "count": "nodes"}),
        (["--priority-from", "queue", "--lead", "2d", "--reserve", "0.5"],
         {"priority_from": "queue", "reserve": 0.5, "lead": "172800"}),
        (["--offline", "--seed", "7", "--overrun", "grow"], {"offline": True, "seed": 7, "overrun": "grow"}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)  # fmt: skip
def test_what_is_typed_makes_the_source_and_can_be_typed_again(typed: list[str], kept: dict[str, object]) -> None:
    source = Source.of_options("a", nothing.make_context("nothing", list(typed)).params)
    assert source.options == kept
    assert Source.of_options("a", kept) == source


NUMBERS = [
    *("0", "1", "-1", "0.5", "1e-308", "1e300", "1e400", "nan", "inf", "-inf", "9" * 400, "1_0", "", " ", "x" * 300),
    *("12d4h", "d12 04:31:07", "2h05", "#2", "#99999999", "2026-11-21", "0001-01-01", "9999-12-31 23:59:59", ","),
    *("0,1d", ",,", "1,200d,", "factor:2", "factor:1e-300", "random:1e9", "phi:1", "kill", "queue", "nodes", "submit"),
]
GIVEN = [
    *OPTIONS, "policy", "switch", "by", "placement", "format", "at", "from", "to", "width", "schedule"
]  # fmt: skip


@examples(60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    command=st.sampled_from(["run", "explain", "compare", "draw", "inspect"]),
    typed=st.lists(
        st.tuples(st.sampled_from(GIVEN), st.sampled_from(NUMBERS) | st.text(max_size=8) | st.floats().map(str)),
        max_size=4,
    ),
)
def test_whatever_options_are_typed_it_is_done_or_refused_in_a_line(command: str, typed: list[tuple[str, str]]) -> None:
    fixed = {"explain": ["2"], "compare": ["--policy=fcfs", "--policy=easy"], "draw": ["-o", "/dev/null"]}
    words = [command, "z-figure4", *fixed.get(command, [])]
    for name, value in typed:
        flag = "--" + name.replace("_", "-")
        is_file = name == "schedule" and value.strip()
        told = "/dev/null" if is_file else f"{value}=fcfs" if name == "switch" else value
        words += [flag] if name == "offline" else [f"{flag}={told}"]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), suppress(click.ClickException, SchedscopeError):
        commands(words, standalone_mode=False)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--procs", "0"), "the number of processors must be between 1 and 10,000,000, got 0"),
        (("--load", "1e-308"), "the load factor must be between 0.000001 and 1,000,000, got 1e-308"),
        (("--seed", "-1"), "the seed must be between 0 and"),
        (("--lead", "soon"), "a time is seconds or like"),
    ],
)
def test_a_value_that_an_option_does_not_allow_is_wrong_usage(typed: tuple[str, str], said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        commands(["run", "z-figure4", *typed], standalone_mode=False)
