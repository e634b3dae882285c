"""The files of a schedule."""

from __future__ import annotations

import csv
import io

from sim.engine.engine import Engine
from sim.workload.source import read
from tui.cli.run import schedule_rows


def test_the_columns_are_what_the_command_line_writes() -> None:
    workload = read("z-figure4")
    engine = Engine(workload, "easy")
    engine.run()
    file = io.StringIO()
    csv.writer(file).writerows(schedule_rows(engine))
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    columns = engine.schedule().columns
    assert list(rows[0]) == list(columns)
    assert [float(row["start"]) for row in rows] == columns["start"].tolist()
    assert [row["job"] for row in rows] == columns["job"].tolist()
    assert {len(column) for column in columns.values()} == {len(workload)}
