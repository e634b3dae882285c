"""Text about a span of time that the user marks with the mouse in the chart."""

from __future__ import annotations

import numpy as np

from sim.metrics.aggregates import over_time
from sim.support.formatting import count, percent, span
from tui.replay.requests import Measure
from tui.replay.stage import RunView


def measured_span(stage: RunView, order: Measure) -> str:
    begin, end = order.begin, min(order.end, stage.clock)
    schedule = stage.timeline.schedule()
    starts, ends = np.asarray(schedule.start, dtype=float), np.asarray(schedule.end, dtype=float)
    if end <= begin or not len(schedule.curves.time):
        return f"{order.told}: all of it is still to come"
    started = (starts >= begin) & (starts < end)
    ran = (starts < end) & ~(ends <= begin)
    means = over_time(schedule, 1, begin, end)
    wait = f", mean wait {span(float(schedule.wait[started].mean()))}" if started.any() else ""
    until = "" if end == order.end else " until now"
    return (
        f"{order.told}{until}: {count(int(ran.sum()), 'job')}, {int(started.sum()):,} started{wait}, "
        f"{percent(means.utilization[0])} used, {percent(means.loss_of_capacity[0])} lost while jobs waited"
    )
