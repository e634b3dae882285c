"""Copying of a queue order that depends on the clock into the fast loop of `sim.kernel`."""

from __future__ import annotations

import numpy as np

from sim.engine.express.columns import numbers, times
from sim.kernel.calls import Keys
from sim.kernel.ordering import OrderedLoop
from sim.policies.orders import Drawn, Order
from sim.workload.model import Workload


def enter(loop: OrderedLoop, order: Order, keys: Keys, workload: Workload) -> None:
    """Copy the order, whose compiled form is `keys`, into the loop. From then on the loop itself sorts its queue by
    this order.
    """
    loop.in_order_of_arrival, loop.order = False, keys
    loop.rank_at, loop.width = numbers(np.arange(len(workload), dtype=np.int32)), numbers(workload.width.copy())
    loop.length, loop.queue_number = times(workload.estimate.copy()), numbers(workload.queue.copy())
    if isinstance(order, Drawn):
        loop.is_drawn, loop.seed = True, order.seed
