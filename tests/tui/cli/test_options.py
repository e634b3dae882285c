"""The options of a workload on the command line."""

from __future__ import annotations

import click
import pytest

from sim.workload.options import OPTIONS
from sim.workload.source import Source
from tui.cli import options


@click.command()
@options.of_workload
def nothing(**given: object) -> None:
    """A command with the options of a workload alone."""


def test_every_option_of_a_workload_is_there_in_its_order() -> None:
    assert [param.name for param in nothing.params] == list(OPTIONS)


def test_where_nothing_is_typed_the_source_is_the_trace_as_it_is() -> None:
    assert Source.of_options("a", nothing.make_context("nothing", []).params) == Source("a")


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
