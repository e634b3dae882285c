from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.support.errors import TraceError
from sim.workload.formats import parquet
from sim.workload.model import Field
from sim.workload.reading import read

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs .[parquet]")


def written(path: Path, **columns: list[Any]) -> Path:
    import_module("pyarrow.parquet").write_table(import_module("pyarrow").table(columns), path)
    return path


def test_columns_are_read_by_the_names_of_a_csv_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "PIECE", 2)
    path = written(
        tmp_path / "log.parquet", Submit_Time=[0, 10, 20], procs=[4, 2, 1], runtime=[5.5, None, 7],
        user=["ann", "bob", "ann"], start=[0, 15, 30], end=[6, 18, 40], walltime=[10, 10, None], memo=["a", "b", "c"],
    )  # fmt: skip
    shares = list[float]()
    trace = read(path, heard=shares.append)
    assert shares == [2 / 3, 1]
    assert (trace.name, trace.format, trace.ids) == ("log", "parquet", ("1", "2", "3"))
    assert trace.column(Field.RUN).tolist() == [5.5, 3.0, 7.0]
    assert trace.column(Field.WAIT).tolist() == [0, 5, 10]
    assert trace.column(Field.ESTIMATE).tolist() == [10, 10, -1]
    assert [trace.names[Field.USER][int(number)] for number in trace.column(Field.USER)] == ["ann", "bob", "ann"]


def test_it_reads_as_the_same_table_in_csv(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = {
        "job": [str(at) for at in range(500)], "submit": rng.integers(0, 9999, 500).tolist(),
        "procs": rng.integers(1, 64, 500).tolist(), "runtime": rng.integers(1, 999, 500).tolist(),
    }  # fmt: skip
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    one, other = read(written(tmp_path / "log.parquet", **columns)), read(tmp_path / "log.csv")
    assert one.ids == other.ids
    assert np.array_equal(one.table, other.table)


def test_rows_without_numbers_are_left_out_and_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path / "p",
        submit=[0, None, 2, 3],
        procs=[1, 1, 1, 1],
        runtime=[5.0, 5.0, float("nan"), 5.0],
        job=[7, 8, 9, 10],
    )
    trace = read(path)
    assert trace.ids == ("7", "10")
    assert [(note.count, note.first) for note in trace.fidelity.skipped] == [(2, "row 2")]


def test_wrong_files_get_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TraceError, match="needs columns 'procs' and 'runtime'"):
        read(written(tmp_path / "a", submit=[1], other=[2]))
    with pytest.raises(TraceError, match="is damaged Parquet"):
        read(written(tmp_path / "b", submit=["x"], procs=[1], runtime=[1]))
    (tmp_path / "c").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TraceError, match="is damaged Parquet"):
        read(tmp_path / "c")
    monkeypatch.setattr(parquet, "MOST_JOBS", 1)
    with pytest.raises(TraceError, match="has 2 rows"):
        read(written(tmp_path / "d", submit=[1, 2], procs=[1, 1], runtime=[1, 1]))


def test_words_are_counted_by_first_appearance(tmp_path: Path) -> None:
    users, ones = ["w" * 1000, "", "ann", None, "w" * 1000, "bob"], [1] * 6
    trace = read(written(tmp_path / "p", submit=ones, procs=ones, runtime=ones, user=users, job=users))
    assert trace.column(Field.USER).tolist() == [0, -1, 1, -1, 0, 2]
    assert trace.ids == ("w" * 1000, "2", "ann", "4", "w" * 1000, "bob")


@pytest.mark.parametrize(("many", "job"), [(4_000_000, "1"), (1000, "j" * 100_000)], ids=["rows", "letters"])
def test_a_bomb_is_refused_by_what_it_says_of_itself(many: int, job: str, tmp_path: Path) -> None:
    ones = [1] * many
    path = written(tmp_path / "p", submit=ones, procs=ones, runtime=ones, job=[job] * many)
    with pytest.raises(TraceError, match="more than 100 times its size in memory"):
        read(path)


@pytest.mark.parametrize("ids", [[7, 9, 8], [7, None, 8], [0, -1, 8], ["7", "x", ""], [2**40, 2, 3], [2**62, 2, 3]])
def test_ids_are_the_words_of_the_column_whatever_its_type(tmp_path: Path, ids: list[Any]) -> None:
    path = written(tmp_path / "log.parquet", job=ids, submit=[0, 10, 20], procs=[4, 2, 1], runtime=[5, 6, 7])
    assert read(path).ids == tuple(str(at) if job in (None, "") else str(job) for at, job in enumerate(ids, 1))
