"""Also tests sim.workload.source."""

import os
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.session.session import from_line, one_line, verify_trace
from sim.session.sources import session_of, source_of
from sim.session.syntax import Value
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError, SchedscopeError
from sim.workload.options import OPTIONS
from sim.workload.source import Source
from sim.workload.transforms import Transforms

seconds = st.floats(0, 1e9) | st.integers(0, 10**9).map(float)
shares = st.floats(0, 1)


@st.composite
def transforms(draw: st.DrawFn) -> Transforms:
    start, end = sorted(draw(st.tuples(seconds, seconds)))
    window = st.sampled_from([None, (start, end + 1), (-inf, end + 1), (start, inf), (-inf, inf)])
    return Transforms(
        window=draw(window),
        jobs=draw(st.none() | st.integers(0, 10**6)),
        load=draw(st.floats(1e-6, 1e6)),
        stretch=draw(st.floats(1e-6, 1e6)),
        offline=draw(st.booleans()),
        estimates=draw(st.sampled_from(["recorded", "exact", "factor:2", "phi:0.2"])),
        high=draw(st.none() | shares),
        reserve=draw(shares),
        lead=draw(seconds),
        seed=draw(st.integers(0, 2**62)),
        overrun=draw(st.sampled_from(["kill", "grow"])),
    )


sources = st.builds(
    Source,
    st.just("z-figure4"),
    st.none() | st.integers(1, 10**6),
    st.sampled_from(["cpus", "nodes"]),
    transforms() | st.just(Transforms(priority_from="queue")),
    st.sampled_from(["eligible", "submit"]),
)


@given(sources)
def test_every_source_comes_back(source: Source) -> None:
    assert source_of(from_line(one_line(session_of(source, "easy")))) == source


def test_a_path_is_kept_whole_and_a_sample_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.swf").write_text("; MaxProcs: 4\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert session_of(Source("my.swf"), "easy").trace.name == str(tmp_path / "my.swf")
    sample = session_of(Source("z-figure4"), "easy")
    assert sample.trace.name == "z-figure4"
    assert verify_trace(sample) is None


def test_a_file_that_is_called_like_a_sample_does_not_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(Source("z-figure4"), "easy")
    (tmp_path / "z-figure4").write_text("; MaxProcs: 4\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert len(source_of(session).read()[1]) == 5


def test_odd_sources_are_refused() -> None:
    with pytest.raises(ParameterError, match="no such file, and no sample of that name"):
        session_of(Source("z-figure44"), "easy")
    assert Source("z-figure4").options == {}


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("laod", 1.2, "an option 'laod' that does not exist; did you mean 'load' or 'lead'?"),
        ("load", "much", "option load: expected a number, got 'much'"),
        ("load", True, "option load: expected a number, got 'True'"),
        ("load", -1.0, "the load factor must be between 0.000001 and 1,000,000, got -1.0"),
        ("jobs", 1.5, "option jobs: expected a whole number, got '1.5'"),
        ("offline", 1, "option offline: expected yes or no, got '1'"),
        ("window", "tomorrow", "a window is two times like 1d,36h, got 'tomorrow'"),
        ("count", "racks", "option count: expected cpus or nodes, got 'racks'"),
        ("priority_from", "", "option priority_from: expected queue, got ''"),
        ("estimates", "guess", "no estimates 'guess'"),
    ],
)
def test_a_wrong_option_is_refused_in_a_line(option: str, value: Value, said: str) -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), options={option: value})
    with pytest.raises(SchedscopeError) as error:
        source_of(session)
    assert said in str(error.value)


@given(st.dictionaries(st.sampled_from(sorted(OPTIONS)), st.text(max_size=5) | st.integers() | st.floats()))
def test_any_options_make_a_source_or_are_refused(options: dict[str, Value]) -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), options=options)
    with suppress(SchedscopeError):
        assert isinstance(source_of(session), Source)


def test_a_trace_that_is_gone_cannot_be_referred_to(tmp_path: Path) -> None:
    with pytest.raises(SchedscopeError, match="cannot be read: No such file or directory"):
        TraceRef.of(str(tmp_path / "gone.swf"))


@pytest.mark.parametrize("trace", ["x" * 300, "x" * 5000, "a/" * 3000])
def test_a_name_longer_than_any_file_may_have_is_refused_in_a_line(trace: str) -> None:
    with pytest.raises(SchedscopeError, match=r"no such file|cannot be read"):
        Source(trace).read()


@pytest.mark.parametrize("load", [10**400, 1e-308, 1e300, -1])
def test_a_number_that_no_option_takes_is_refused_in_a_short_line(load: float) -> None:
    with pytest.raises(ParameterError, match="the load factor must be between") as error:
        Source.of_options("z-figure4", {"load": load})
    assert len(str(error.value)) < 120


def test_window_of_dates_needs_a_trace_with_a_start_date() -> None:
    source = Source.of_options("z-figure4", {"window": "2026-11-21 04:30,2026-11-22"})
    assert source.options == {"window": "2026-11-21 04:30:00,2026-11-22 00:00:00"}
    assert Source.of_options("z-figure4", source.options) == source
    with pytest.raises(ParameterError, match="the trace does not say when it began"):
        source.read()


def test_what_came_through_a_pipe_has_no_hash_and_cannot_come_back(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.swf"
    os.mkfifo(pipe)
    session = session_of(Source(str(pipe)), "easy")
    assert from_line(one_line(session)).trace == session.trace == TraceRef(str(pipe), "", 0)
    problem = verify_trace(session)
    assert problem is not None
    assert "is no ordinary file" in problem.told
