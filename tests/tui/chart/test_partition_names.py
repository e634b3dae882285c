from dataclasses import replace

from sim.decisions.decisions import Borrow
from sim.support.formatting import clock
from tests.tui.scenes import engine_of
from tui.chart.partition_names import lane_names, partition_limits, partition_names, told_decision, with_partition_names


def test_partitions_are_named_by_their_class() -> None:
    shown = engine_of("ls-figure1", "multiqueue", until=8000).snapshot()
    assert partition_names(shown) == ("short", "medium", "long")
    assert [lane.full for lane in lane_names(shown)] == ["short < 16m40", "medium 16m40–2h47", "long ≥ 2h47"]
    shown = engine_of("ls-figure1", "multiqueue", until=8000).snapshot()
    told = "partition 2 borrows 12 processors from partition 1 for J6"
    assert with_partition_names(told, shown) == "long borrows 12 processors from medium for J6"
    assert with_partition_names("partition 7 of J1", shown) == "partition 7 of J1"
    shown = engine_of("ls-figure1", "multiqueue:classes=none", until=8000).snapshot()
    assert (partition_names(shown), partition_limits(shown)) == (("partition 0",), ("",))
    assert with_partition_names("partition 0", shown) == "partition 0"


def test_loans_are_told_by_who_owned_the_processors_first() -> None:
    engine = engine_of("ls-figure1", "multiqueue", until=8000)
    shown = engine.snapshot()
    told = [told_decision(loan, shown, clock) for loan in shown.decisions if isinstance(loan, Borrow)]
    assert told == [
        "long borrows 12 processors for J6: 9 from short and 3 from medium",
        "short borrows 3 processors from medium for J9",
    ]
    back = Borrow(engine.workload.jobs[6], 0, 2, shown.division[0] & shown.owners[2] | shown.division[2] & 1 << 29)
    assert told_decision(back, shown, clock) == "short takes back 9 processors and borrows 1 processor from long for J7"
    assert told_decision(back, replace(shown, division=()), clock).startswith("short borrows 10 processors from long")


def test_names_of_another_policy_are_made_harmless() -> None:
    shown = engine_of("ls-figure1", "easy", until=8000).snapshot()
    shown = replace(shown, queues=("a\x1b[31mb", "x" * 500), owners=(1, 2))
    drawn = lane_names(shown)
    assert all(lane.full.isprintable() and len(lane.full) < 60 for lane in drawn)
