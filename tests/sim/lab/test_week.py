from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np

from sim.lab.week import HOURS, hours_of_week, week
from sim.workload.model import Header
from tests.sim.conftest import Lab


def test_hours_are_those_of_the_clock() -> None:
    zone = ZoneInfo("Europe/Stockholm")
    winter, summer = (datetime(1997, month, 7, 9, 30, tzinfo=zone) for month in (1, 7))
    hours = hours_of_week(
        Header(unix_start=0, time_zone="Europe/Stockholm"), np.array([winter.timestamp(), summer.timestamp()])
    )
    assert hours.tolist() == [24 * at.weekday() + 9 for at in (winter, summer)]
    assert [at.astimezone(UTC).hour for at in (winter, summer)] == [8, 7]
    hours = hours_of_week(Header(unix_start=0, time_zone="3600"), np.array([1e15]))
    assert hours.tolist() == [int(1e15 // 3600 + 72) % HOURS]


def test_week_averages_the_hours_in_which_the_machine_was_observed(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 2 5400 5400", "2 1800 4 5400 5400")
    found = week(engine.schedule())
    assert found["utilization"][:3].tolist() == [0.5, 0.75, 1.0]  # 2 of 4 for 1.5 h, then all
    assert found["queue"][:3].tolist() == [0.5, 0.5, 0.0]  # job 2 waits from 0:30 to 1:30
    assert np.isnan(found["utilization"][3:]).all()
