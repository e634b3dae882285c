"""Names of partitions."""

from __future__ import annotations

from dataclasses import replace

from tests.tui.scenes import engine_of
from tui.chart.partition_names import lane_names, named, partition_limits, partition_names


def test_classes_are_short_medium_and_long() -> None:
    shown = engine_of("ls-figure1", "multiqueue", until=8000).snapshot()
    assert partition_names(shown) == ("short", "medium", "long")
    assert lane_names(shown) == ("short < 16m40", "medium 16m40–2h47", "long ≥ 2h47")


def test_decisions_name_partitions() -> None:
    shown = engine_of("ls-figure1", "multiqueue", until=8000).snapshot()
    told = "partition 2 borrows 12 processors from partition 1 for J6"
    assert named(told, shown) == "long borrows 12 processors from medium for J6"
    assert named("partition 7 of J1", shown) == "partition 7 of J1"


def test_one_partition_has_no_class() -> None:
    shown = engine_of("ls-figure1", "multiqueue:classes=none", until=8000).snapshot()
    assert (partition_names(shown), partition_limits(shown)) == (("partition 0",), ("",))
    assert named("partition 0", shown) == "partition 0"


def test_names_of_another_policy_are_made_harmless() -> None:
    shown = engine_of("ls-figure1", "easy", until=8000).snapshot()
    shown = replace(shown, queues=("a\x1b[31mb", "x" * 500), owners=(1, 2))
    drawn = lane_names(shown)
    assert all(name.isprintable() and len(name) < 60 for name in drawn)
