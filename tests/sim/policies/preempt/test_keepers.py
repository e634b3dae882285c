"""Keepers: the running jobs that block each idle job."""

from __future__ import annotations

from sim.policies.preempt.keepers import Keepers


def test_who_waits_is_found_by_the_keeper() -> None:
    keepers = Keepers()
    keepers.keep(1, 9)
    keepers.keep(2, 9)
    keepers.keep(3, 8)
    assert sorted(keepers.release([9, 7])) == [1, 2]


def test_a_job_waits_for_one_at_a_time_and_may_wait_for_nobody() -> None:
    keepers = Keepers()
    keepers.keep(1, 9)
    keepers.keep(1, 8)
    assert (keepers.release([9]), keepers.release([8])) == ([], [1])
    keepers.keep(1, 8)
    keepers.forget(1)
    assert keepers.release([8]) == []


def test_a_copy_goes_its_own_way() -> None:
    keepers = Keepers()
    keepers.keep(1, 9)
    twin = keepers.copy()
    keepers.keep(2, 9)
    keepers.forget(1)
    assert (keepers.release([9]), twin.release([9])) == ([2], [1])
