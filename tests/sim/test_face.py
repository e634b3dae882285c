"""The library as a notebook uses it: a dozen names, policies as text, columns, and how each object is displayed.

Also tests sim.
"""

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sim
from sim import (
    Engine,
    Scenario,
    SchedscopeError,
    Timeline,
    compare,
    compiled,
    life_of,
    measure,
    parse_policy,
    read,
    run,
)
from sim.workload.model import Workload
from sim.workload.reading import read as read_trace
from sim.workload.samples import sample_path


@pytest.fixture(scope="module")
def workload() -> Workload:
    return read("z-figure4")


@pytest.mark.parametrize("name", sim.__all__)
def test_every_name_is_there_and_explained(name: str) -> None:
    assert name in dir(sim)
    assert name == "__version__" or getattr(sim, name).__doc__ or explained_in_source(getattr(sim, name))


def explained_in_source(cls: type) -> bool:
    file = compiled.ROOT / f"{cls.__module__.replace('.', '/')}.py"
    made = (node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ClassDef))
    return any(node.name == cls.__name__ and ast.get_docstring(node) for node in made)


def test_face_has_its_names() -> None:
    assert sim.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="module 'sim' has no attribute 'simulate'"):
        _ = sim.simulate
    code = "import sys, sim; sys.exit(any(m in sys.modules for m in ('numpy', 'sim.engine')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_workload_is_read_with_the_options_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.swf"
    path.write_bytes(sample_path("lublin-128").read_bytes())
    assert len(read(path, jobs=200)) == len(read("lublin-128", window="0,", jobs=200)) == 200
    with pytest.raises(SchedscopeError, match="an option 'job' that does not exist; did you mean 'jobs'"):
        read(path, job=200)


def test_a_policy_may_be_text_wherever_one_is_taken(workload: Workload) -> None:
    easy = parse_policy("easy")
    engine = Engine(workload, "fcfs")
    engine.step()
    engine.switch("easy")
    assert engine.moment.rules == easy
    assert Scenario(workload, "fcfs", [(600, "easy")]).switches == ((600, easy),)
    assert Timeline(workload, "fcfs", switches=[(600, "easy")]).switch("easy").engine.moment.rules == easy
    assert life_of(workload, "easy", 4).policy == "easy"
    with pytest.raises(SchedscopeError, match="did you mean 'easy'"):
        run(workload, "eazy")


def test_a_run_is_measured_and_compared(workload: Workload) -> None:
    fcfs, easy = run(workload, "fcfs"), run(workload, "easy", check=True)
    assert measure(easy).values["mean_wait"] == 702
    assert [change.job.id for change in compare(fcfs, easy).gained] == ["5"]
    assert run(workload, "fcfs", switches=[(600, "easy")]).start.tolist() == easy.start.tolist()


def test_where_pandas_is_there_the_columns_are_a_frame(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    assert np.array_equal(run(workload, "easy").to_pandas()["end"], run(workload, "easy").end)


def test_a_comparison_is_a_frame_of_its_metrics(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = SimpleNamespace(from_dict=lambda rows, orient, columns: (orient, columns, rows))
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=frame))
    orient, columns, rows = compare(run(workload, "fcfs"), run(workload, "easy")).to_pandas()
    assert (orient, columns) == ("index", ["first", "second"])
    assert rows["mean_wait"][1] == 702


def test_where_it_is_not_a_line_says_how_to_get_it(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SchedscopeError, match=r"^a data frame needs pandas: pip install pandas$"):
        run(workload, "easy").to_pandas()


def test_everything_is_shown_in_a_line() -> None:
    workload = read("lublin-128")
    timeline = Timeline(workload, "easy")
    timeline.seek(100)
    schedule = run(workload, "gang")
    shown = [
        read_trace(sample_path("lublin-128")), workload, schedule, measure(schedule), Engine(workload, "easy"),
        timeline, timeline.branch, timeline.history, timeline.snapshot(), Timeline(workload, "easy").snapshot(),
        compare(schedule, schedule), life_of(workload, "easy", 400),
    ]  # fmt: skip
    for each in shown:
        told = repr(each)
        assert told.startswith(f"<{type(each).__name__}")
        assert len(told.splitlines()) == 1
        assert len(told) < 120
