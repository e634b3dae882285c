"""The numbers of a schedule: of all jobs (`aggregates`), of groups (`by_...`), over time (`over_time`).

A `Schedule` goes in, plain Python numbers come out; `METRICS` and `GROUPS` say what each is called and means.
"""

from sim.metrics.aggregates import Value, aggregates, ratio, statistics
from sim.metrics.catalogue import METRICS, Metric, metric
from sim.metrics.groups import (
    Row,
    by_batch,
    by_category,
    by_class,
    by_coarse_category,
    by_estimate_quality,
    by_month,
    by_priority,
    by_queue,
    by_width_class,
    well_estimated,
)
from sim.metrics.measure import GROUPS, Group, Metrics, measure
from sim.metrics.outcome import Outcome
from sim.metrics.over_time import OverTime, over_time
from sim.metrics.tails import guarantee_ratios, reservation_delays, share_above
from sim.workload.categories import CATEGORIES, COARSE, Category, category, coarse_category

__all__ = [
    "CATEGORIES",
    "COARSE",
    "GROUPS",
    "METRICS",
    "Category",
    "Group",
    "Metric",
    "Metrics",
    "Outcome",
    "OverTime",
    "Row",
    "Value",
    "aggregates",
    "by_batch",
    "by_category",
    "by_class",
    "by_coarse_category",
    "by_estimate_quality",
    "by_month",
    "by_priority",
    "by_queue",
    "by_width_class",
    "category",
    "coarse_category",
    "guarantee_ratios",
    "measure",
    "metric",
    "over_time",
    "ratio",
    "reservation_delays",
    "share_above",
    "statistics",
    "well_estimated",
]
