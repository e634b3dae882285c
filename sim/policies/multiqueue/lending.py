"""Rule by which partitions lend idle processors; the file is also a part of the compiled loop."""

from __future__ import annotations

from sim.machine.columns import Numbers


def lender(idle: Numbers, partitions: int, to: int) -> int:
    """Return the number of the partition that lends first: the one with the most idle processors, other than `to`; of
    equals the first. `idle` has the number of idle processors of each of the `partitions` partitions.
    """
    found = -1
    for partition in range(partitions):
        if partition != to and (found < 0 or idle[partition] > idle[found]):
            found = partition
    return found
