import os
from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

from sim.support.errors import ParameterError, SchedscopeError, TraceError
from sim.workload import outages
from sim.workload.model import Header, Workload
from sim.workload.options import OPTIONS
from sim.workload.reading import read
from sim.workload.source import Source


def test_machine_changes_are_outages() -> None:
    grown = outages.outages_of(4, outages.parse_machine("100=6"), (), Header().seconds_at)
    assert grown == (outages.Outage(-inf, 100, 0b110000),)
    assert outages.sizes_over_time(grown, 6) == [(-inf, 4), (100, 6)]
    assert outages.outages_of(6, outages.parse_machine("50=3; 80=5"), (), Header().seconds_at) == (
        outages.Outage(50, 80, 0b111000),
        outages.Outage(80, inf, 0b100000),
    )
    assert [down.announced for down in outages.parse_outages("5..6; 5..6: 1; 5..6: all")] == [True, False, False]
    with pytest.raises(SchedscopeError, match="no processor 8 to fail: there are 8, from 0 on"):
        outages.outages_of(8, (), [outages.Down(0, 5, "8", False)], Header().seconds_at)
    both = [outages.Outage(0, 10, outages.parse_set("0-2")), outages.Outage(5, 20, outages.parse_set("2-3"))]
    assert [outages.absent(both, time) for time in (-1, 0, 5, 10, 20)] == [0, 0b111, 0b1111, 0b1100, 0]
    assert outages.capacity(both, 4, 0, 20) == 5 * 1 + 5 * 0 + 10 * 2


@pytest.mark.parametrize(
    "text", ["5d", "6..5", "5..", "5..6: x", "5..6: 9-3", "#3..#4", "soon..later", "5..6: 99999999999"]
)
def test_what_is_no_outage_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(SchedscopeError) as refused:
        outages.parse_outages(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("parse", "text", "told"),
    [
        (outages.parse_outages, "5..6: 0-99999999999", "from 0 to 9,999,999"),
        (outages.parse_machine, "5=0", "N from 1 to 10,000,000"),
    ],
)
def test_it_is_said_how_far_numbers_go(parse: Callable[[str], object], text: str, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        parse(text)


def test_what_was_typed_can_be_typed_again() -> None:
    typed = outages.parse_outages("d3 04:00..d3 06:00; 7..9: 0-3 8; 1..: 2; 2026-01-01..2026-01-02: all")
    assert outages.parse_outages(outages.written_outages(typed)) == typed


def test_a_file_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "outages.csv"
    file.write_text("from,to,processors,announced\n5d,6d,,\n10,20,0-3,no\n30,,7,\n40,50,,no\n")
    assert outages.parse_outages(str(file)) == outages.parse_outages("5d..6d; 10..20: 0-3; 30..: 7; 40..50: all")


@pytest.mark.parametrize("row", ["5,6,0-3,yes", "6,5,,", "5,6,,perhaps", "5,,,", "x,6,,"])
def test_a_wrong_row_is_reported_with_its_line(tmp_path: Path, row: str) -> None:
    file = tmp_path / "outages.csv"
    file.write_text(f"from,to,processors,announced\n{row}\n")
    with pytest.raises(SchedscopeError, match=r"outages\.csv:2: "):
        outages.parse_outages(str(file))


@pytest.mark.parametrize("name", ["machine", "outage"])
@pytest.mark.parametrize(
    ("changes", "procs", "told"), [(10_001, 64, "10,001 changes"), (101, 10**6, "at most 100 are")]
)
def test_so_many_changes_of_so_large_a_machine_are_refused(name: str, changes: int, procs: int, told: str) -> None:
    texts = {"machine": f"{{}}={procs - 1}", "outage": f"{{}}..200000: 0-{procs - 1}"}
    text = "; ".join(texts[name].format(time) for time in range(changes))
    with pytest.raises(ParameterError, match=told):
        Source.of_options("z-figure4", {"procs": procs, name: text}).read()


def test_job_wider_than_the_later_machine_is_skipped(tmp_path: Path) -> None:
    rows = ["1 0 -1 5 4", "2 200 -1 5 4", "3 200 -1 5 3"]
    trace = tmp_path / "t.swf"
    trace.write_text("; MaxProcs: 4\n" + "".join(row + " -1" * 13 + "\n" for row in rows))
    workload = Workload.of(read(trace)).with_outages([outages.Outage(100, inf, 0b1000)])
    assert workload.ids == ("1", "3")
    assert [(note.what, note.count) for note in workload.fidelity.skipped] == [
        ("wider than the machine ever is after their arrival", 1)
    ]


def test_sessions_and_plans_know_the_options() -> None:
    source = Source.of_options("z-figure4", {"machine": "100=12", "outage": "50..60; 70..80: 0-3"})
    assert source.options == {"machine": "100=12", "outage": "50..60; 70..80: 0-3"}
    assert OPTIONS["outage"].written(OPTIONS["outage"].taken_word("1h..2h")) == "3600..7200"
    workload = source.read()[1]
    assert (workload.procs, len(workload.outages)) == (12, 3)


def test_a_pipe_of_outages_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "o.csv")
    with pytest.raises(TraceError, match="no ordinary file"):
        outages.read_outages(str(tmp_path / "o.csv"))
