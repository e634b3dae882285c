"""The machine of nodes of a dump of sacct."""

from __future__ import annotations

from sim.workload.formats.sacct import Unmodelled, Used


def test_jobs_of_one_time_add_up_on_their_nodes() -> None:
    used = Used()
    used.add("n1", 4, 0, 10, suspended=False)
    used.add("n1", 4, 10, 20, suspended=False)
    assert (used.nodes, used.cpus) == (1, 4)
    used = Used()
    used.add("n[1-2]", 5, 0, 10, suspended=False)
    used.add("n1", 2, 0, 10, suspended=False)
    assert (used.nodes, used.cpus) == (2, 7)  # 2 each alone, and 7 in all at one moment
    used = Used()
    used.add("", 4, 0, 10, suspended=False)
    used.add("None assigned", 2, 5, 10, suspended=False)
    assert (used.nodes, used.cpus) == (0, 6)
    used = Used()
    used.add("n[1-3]", 3, 0, 10, suspended=False)
    assert used.strange_to({"n1": 4}) == 2
    unmodelled = Unmodelled()
    unmodelled.add({"jobid": "1", "reqmem": "0", "partition": "batch"})
    assert unmodelled.note() == ()
