"""Room: the suspended jobs that fit on their own processors, without asking each job."""

from __future__ import annotations

import random

from sim.policies.preempt.room import Room


def asked(suspended: dict[int, int], free: int) -> list[int]:
    """Return the result that the index must give, by asking each job."""
    return [rank for rank, own in suspended.items() if not own & ~free]


def test_whoever_comes_goes_or_is_suspended_again_the_same_are_found_as_by_asking_everybody() -> None:
    lot = random.Random(3)
    for _ in range(40):
        room, suspended, free = Room(), dict[int, int](), 0
        for _ in range(60):
            rank, goes_unsaid = lot.randrange(20), lot.random() < 0.1
            if suspended.pop(rank, None) is not None and not goes_unsaid:
                room.forget(rank)
            if lot.random() < 0.7 and not goes_unsaid:
                suspended[rank] = lot.randrange(1, 1 << 8) & lot.randrange(1, 1 << 8) or 1
            free ^= lot.randrange(1 << 8) & lot.randrange(1 << 8)
            assert sorted(room.found(suspended, free)) == sorted(asked(suspended, free))


def test_a_copy_goes_its_own_way() -> None:
    room = Room()
    assert room.found({7: 0b01, 8: 0b10}, free=0) == []
    twin = room.copy()
    assert twin.found({7: 0b01, 8: 0b10}, free=0b01) == [7]
    assert room.found({7: 0b01, 8: 0b10}, free=0b10) == [8]
