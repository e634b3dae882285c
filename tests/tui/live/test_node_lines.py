from dataclasses import replace

from sim.live.cluster.values import Cores
from tests.tui.live.moments import NODES, observed_of, runs, waits
from tui.live.node_lines import node_lines


def test_node_tells_what_is_taken_and_by_which_jobs() -> None:
    job = replace(runs("1", 6, "n1", "n2"), name="md", cores=(Cores("n1", 0b11), Cores("n2", 0b1111)))
    observed = observed_of(job, runs("2", 1, "n1"), replace(waits("3", 4), memory=9000))
    assert observed.last is not None
    first, *jobs = node_lines(observed.last, "n1")
    assert first.startswith("3 of 4 cores, 8,000 of 16,000 MB taken; ")
    assert "no waiting job has room here: too few cores are free" in first
    assert jobs == [
        "J1 md of ann: 2 cores, until 00:10:00 at most.",
        "J2 of ann: some of 1 core, until 00:10:00 at most.",
    ]
    assert next(node_lines(observed.last, "n2")).startswith("4 of 4 cores, 1 of 2 GPUs, ")
    assert [*node_lines(observed.last, "n9")] == ["The picture on the screen does not list this node."]


def test_hostile_reason_is_plain_text() -> None:
    gone = replace(NODES[0], states=frozenset({"DRAIN"}), reason="\x1b[31m[red]x", cpus=4)
    observed = observed_of(nodes=(gone, NODES[1]))
    assert observed.last is not None
    lines = [*node_lines(observed.last, "n1")]
    assert "\x1b" not in lines[0]
    assert lines[-1] == "No job runs here."
