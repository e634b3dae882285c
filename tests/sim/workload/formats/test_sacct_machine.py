"""The machine of nodes of a dump of sacct."""

from __future__ import annotations

from sim.workload.formats.sacct import Unmodelled, Used


def test_what_ends_makes_room_at_the_same_instant() -> None:
    used = Used()
    used.add("n1", 4, 0, 10, suspended=False)
    used.add("n1", 4, 10, 20, suspended=False)
    assert (used.nodes, used.cpus) == (1, 4)


def test_a_job_on_several_nodes_counts_once_for_all_of_them() -> None:
    used = Used()
    used.add("n[1-2]", 5, 0, 10, suspended=False)
    used.add("n1", 2, 0, 10, suspended=False)
    assert (used.nodes, used.cpus) == (2, 7)  # 2 each alone, and 7 in all at one moment


def test_jobs_without_nodes_share_one() -> None:
    used = Used()
    used.add("", 4, 0, 10, suspended=False)
    used.add("None assigned", 2, 5, 10, suspended=False)
    assert (used.nodes, used.cpus) == (0, 6)


def test_nodes_that_are_not_given_are_counted() -> None:
    used = Used()
    used.add("n[1-3]", 3, 0, 10, suspended=False)
    assert used.strange_to({"n1": 4}) == 2


def test_nothing_unmodelled_is_no_note() -> None:
    unmodelled = Unmodelled()
    unmodelled.add({"jobid": "1", "reqmem": "0", "partition": "batch"})
    assert unmodelled.note() == ()
