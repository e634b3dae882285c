from pathlib import Path

import pytest

from sim.lab.pivot import PivotQuery, RunFilter
from sim.support.errors import ParameterError
from tests.sim.lab.test_pivot import file, outcome, plan
from tui.lab.results.found import Found, Shown, along, drawn_plot, first_ask, found, grid_of, note, runs_in, title


@pytest.fixture
def path(tmp_path: Path) -> str:
    file(tmp_path / "r", made=lambda run: outcome(run, "full" if run.policy == "easy" else "")).__exit__()
    return str(tmp_path / "r")


def seen(of: Found) -> list[str]:
    grid = grid_of(of)
    return [" ".join(words) for words in (grid.head, *([word.text for word in row] for row in grid.rows))]


def test_means_of_what_varies_with_the_best_and_the_overloaded(path: str) -> None:
    of = found(path, Shown(PivotQuery("policy", "load", "mean_wait")))
    assert (of.runs, of.failed, of.varying) == (24, 0, {"policy": 3, "load": 2, "seed": 4})
    head, *rows = seen(of)
    assert head.split() == ["policy", "\\", "load", "1", "2"]
    assert [row.split()[0] for row in rows[:3]] == ["easy", "relaxed:omega=0", "relaxed:omega=1"]
    assert "! overloaded" in note(of).text
    assert title("r.sqlite", of, [RunFilter.of("load=1")], 80).text == " r.sqlite   24 runs   mean wait (s)   load=1"


def test_tables_have_axes_and_plots(path: str) -> None:
    assert found(path, Shown()).ask == PivotQuery("policy", "load")
    assert first_ask({"policy": 2, "seed": 30}) == PivotQuery("policy", "")
    assert first_ask({"load": 7, "estimates": 4, "jobs": 40}).columns == "load"
    ask = PivotQuery("policy", "load", "mean_wait")
    of = found(path, Shown(ask, runs_in(ask, "easy", 2.0)))
    assert of.listed is not None
    assert [record["seed"] for record in of.listed] == [0, 1, 2, 3]
    head, first, *_ = seen(of)
    assert head.split() == ["seed", "mean", "wait", "(s)"]
    assert first.split() == ["0", "20.0", "!"]
    of = found(path, Shown(PivotQuery("policy", "load", "mean_wait")))
    assert along(of.ask, of.table).rows == "load"
    assert of.plot is not None
    assert len(of.plot.lines) == 3
    turned = found(path, Shown(PivotQuery("load", "policy", "mean_wait")))
    assert along(turned.ask, turned.table).rows == "load"


def test_where_there_is_no_plot_it_is_said_why(path: str) -> None:
    of = found(path, Shown(PivotQuery("policy", "load", "killed")))
    assert "nothing to plot" in drawn_plot(of, Shown(), 60, 12, True, True)
    with pytest.raises(ParameterError):
        found(path, Shown(PivotQuery("policy", "colour")))


def test_an_empty_file_has_an_empty_table(tmp_path: Path) -> None:
    file(tmp_path / "r", plan(), outcome).__exit__()
    of = found(str(tmp_path / "r"), Shown(PivotQuery("policy", "load", "mean_wait", where=(RunFilter.of("load>9"),))))
    assert seen(of)[1:] == []
