"""EASY as a plain loop without classes, recorded reasons and history; its time is what the engine's time is compared
with.

It uses lists, a heap, and integers as processor sets. Its schedule is the same as the engine's to the second.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from heapq import heappop, heappush


def easy(
    machine: int, submit: Sequence[float], procs: Sequence[int], runtime: Sequence[float], estimate: Sequence[float]
) -> list[float]:
    """Return the start of every job under EASY on `machine` processors, in order of arrival."""
    count = len(submit)
    start: list[float] = [0] * count
    held = [0] * count
    free, idle = (1 << machine) - 1, machine
    completions: list[tuple[float, int]] = []
    ends: list[tuple[float, int]] = []
    queue: list[int] = []
    arriving = 0
    while completions or arriving < count:
        if completions and (arriving == count or completions[0][0] <= submit[arriving]):
            now = completions[0][0]
        else:
            now = submit[arriving]
        while completions and completions[0][0] == now:
            job = heappop(completions)[1]
            del ends[bisect_left(ends, (start[job] + estimate[job], job))]
            free |= held[job]
            idle += procs[job]
        while arriving < count and submit[arriving] == now:
            queue.append(arriving)
            arriving += 1
        begin = 0
        for job in queue:
            if procs[job] > idle:
                break
            idle -= procs[job]
            begin += 1
        starting = queue[:begin]
        waiting = queue[begin:]
        if begin < len(queue):
            # jobs started from the front count for the shadow time
            planned = ends.copy()
            for job in starting:
                insort(planned, (now + estimate[job], job))
            head = waiting[0]
            there, shadow = idle, now
            for end, job in planned:
                if there >= procs[head] and end != shadow:
                    break
                there += procs[job]
                if there >= procs[head]:
                    shadow = end
            extra = there - procs[head]
            still = [head]
            for job in waiting[1:]:
                wide = procs[job]
                if wide > idle:
                    still.append(job)
                elif now + estimate[job] <= shadow:
                    idle -= wide
                    starting.append(job)
                elif wide <= extra:
                    extra -= wide
                    idle -= wide
                    starting.append(job)
                else:
                    still.append(job)
            waiting = still
        queue = waiting
        for job in starting:
            low, high = procs[job], machine
            while low < high:
                middle = (low + high) // 2
                if (free & ((1 << middle) - 1)).bit_count() < procs[job]:
                    low = middle + 1
                else:
                    high = middle
            held[job] = free & ((1 << low) - 1)
            free ^= held[job]
            start[job] = now
            insort(ends, (now + estimate[job], job))
            heappush(completions, (now + runtime[job], job))
    return start
