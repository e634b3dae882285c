from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.comparison.differences import SIZES, Comparison, compare, moves
from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.timeline.scenario import run
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.replay import read as read_workload
from sim.workload.samples import sample_path


def schedule(sample: str, spec: str, until: float = float("inf")) -> Schedule:
    engine = Engine(Workload.of(read(sample_path(sample))).with_overruns(), parse_policy(spec), curious=False)
    engine.run(until)
    return engine.schedule()


@pytest.fixture(scope="module")
def realistic() -> Comparison:
    return compare(schedule("lublin-128", "easy"), schedule("lublin-128", "selective"))


def test_who_starts_in_both_and_ends_in_one_moves_no_start_and_no_wait() -> None:
    """Job 5 waits for 1760 s in the first run and never ends in the second, so its wait counts in no total."""
    first, second = schedule("z-figure4", "fcfs"), schedule("z-figure4", "easy")
    gone = np.array([second.workload.ids.index("5")])
    end = second.end.copy()
    end[gone] = np.nan
    found = compare(first, replace(second, end=end))
    assert (found.jobs, found.starts.earlier.jobs, found.starts.same) == (4, 0, 4)
    assert (found.waits.saved, found.waits.added) == (0, 0)
    assert found.waits.first == found.waits.second == float(np.delete(first.wait, gone).sum())
    assert found.is_alike


def test_changes_are_seen_from_both_sides(realistic: Comparison) -> None:
    assert realistic.ends != realistic.starts
    assert not realistic.is_alike
    assert [len(realistic.gained), len(realistic.lost)] == [5, 5]
    gains, losses = ([change.later for change in changes] for changes in (realistic.gained, realistic.lost))
    assert gains == sorted(gains)
    assert losses == sorted(losses, reverse=True)
    assert -gains[0] == realistic.ends.earlier.most
    assert losses[0] == realistic.ends.later.most
    easy, conservative = schedule("lublin-128", "easy"), schedule("lublin-128", "conservative")
    there, back = compare(easy, conservative), compare(conservative, easy)
    assert there.starts.earlier == back.starts.later
    assert [change.job for change in there.gained] == [change.job for change in back.lost]
    assert [ratio.r for ratio in there.categories] == [None if r.r is None else -r.r for r in back.categories]


def test_jobs_that_move_alike_only_in_sum_are_not_taken_for_such() -> None:
    first = schedule("z-figure4", "fcfs")
    by = np.array([0, 10, 20, 30, 40])
    swapped, same = (
        compare(first, replace(first, start=first.start + by, end=first.end + to)) for to in (by[::-1], by)
    )
    assert swapped.starts == swapped.ends
    assert (swapped.is_alike, same.is_alike) == (False, True)


def test_schedules_of_equal_jobs_are_compared() -> None:
    whole, part = schedule("z-figure4", "fcfs"), schedule("z-figure4", "fcfs", until=700)
    found = compare(part, whole)
    assert found.jobs == 1
    assert (found.starts.same, found.gained, found.lost) == (1, (), ())
    with pytest.raises(ParameterError, match="same jobs"):
        compare(schedule("z-figure4", "fcfs"), schedule("z-figure7", "fcfs"))


@given(st.lists(st.floats(-1e7, 1e7) | st.sampled_from([0.0, 60.0, -60.0, 86400.0, float("nan")])))
def test_every_move_has_one_size(later: list[float]) -> None:
    found = moves(np.array(later))
    known = [value for value in later if value == value]
    assert found.earlier.jobs + found.same + found.later.jobs == len(known)
    assert sum(size.earlier for size in found.sizes) == found.earlier.jobs
    assert sum(size.later for size in found.sizes) == found.later.jobs
    assert [size.most for size in found.sizes] == list(SIZES[1:])


def test_jobs_that_only_one_run_has_do_not_count() -> None:
    """Of J1 to J4, J2 is withdrawn and J5 added in the second run: J3 and J4 start earlier."""
    line = "10 procs; 10x10m@0; 10x10m@1m; 10x10m@2m; 10x10m@3m"
    first, second = (
        run(read_workload(line, **changes), "fcfs") for changes in ({}, {"without": "J2", "add": "10x1h@4m"})
    )
    found = compare(first, second)
    mean = {each.metric.name: (each.first, each.second) for each in found.metrics}["mean_wait"]
    assert (found.jobs, found.starts.same, found.starts.earlier.total, found.starts.later.jobs) == (3, 1, 1200, 0)
    assert mean == ((0 + 1080 + 1620) / 3, (0 + 480 + 1020) / 3)
    assert [(each.job.id, each.starts, each.waits) for each in found.gained] == [
        ("3", (1200, 600), (1080, 480)), ("4", (1800, 1200), (1620, 1020))
    ]  # fmt: skip
    turned = compare(second, first)
    assert (turned.jobs, turned.starts.later.total, turned.lost[0].job.id) == (3, 1200, "3")
