"""Copying of a queue order that depends on the clock into the fast loop of `sim.kernel`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sim.engine.express.columns import numbers, times
from sim.kernel.known import BY_CLOCK
from sim.kernel.ordering import OrderedLoop
from sim.policies.orders import Delay, Drawn, Order, RandomDelay, Unicef, Ward
from sim.workload.model import Floats, Workload


def enter(loop: OrderedLoop, order: Order, workload: Workload) -> None:
    """Copy the order into the loop. From then on the loop itself sorts its queue by this order."""
    loop.in_order_of_arrival, loop.by, loop.order = False, BY_CLOCK[type(order)], order
    loop.rank_at, loop.width = numbers(np.arange(len(workload), dtype=np.int32)), numbers(workload.width.copy())
    loop.length = times(workload.estimate.copy())
    if isinstance(order, Delay | RandomDelay):
        loop.weight = order.weight
    if isinstance(order, Drawn):
        loop.seed = order.seed
    elif isinstance(order, Unicef):
        loop.by_length = times(_of_each(order.by_width, workload.width) * workload.estimate)
    elif isinstance(order, Ward):
        loop.alpha = order.alpha
        loop.by_length = times(_of_each(order.by_length, workload.estimate))
        loop.by_width = times(_of_each(order.by_width, workload.width))
        loop.by_queue = times(_of_each(order.by_queue, workload.queue))


def _of_each(function: Callable[[Any], float], values: Any) -> Floats:
    """Return the function's value for each of these values. The function is called once for each distinct value."""
    different, which = np.unique(values, return_inverse=True)
    return np.array([function(value) for value in different.tolist()], dtype=np.float64)[which]
