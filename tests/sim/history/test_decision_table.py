from sim import Timeline, read
from sim.history.decision_table import DECISIONS, decision_rows, decision_table


def test_table_has_the_decisions_before_a_step() -> None:
    timeline = Timeline(read("z-figure4"), "easy")
    timeline.seek(1000)
    past = timeline.history
    rows = [*decision_rows(past)]
    for steps in range(past.steps + 1):
        table = decision_table(past, steps)
        assert tuple(table.columns) == DECISIONS
        assert list(zip(*(column.tolist() for column in table.columns.values()), strict=True)) == [
            row for row in rows if row[0] < steps
        ]


def test_table_of_no_decisions_is_empty() -> None:
    assert len(decision_table(Timeline(read("z-figure4"), "easy").history, 0)) == 0
