"""Tests of the jobs in `sim.workload.formats.nodes`."""

from __future__ import annotations

import pytest

from sim.workload.formats.nodes import JobEntries
from sim.workload.shape import ComputeNode, NodeGroup, Shape

SHAPE = Shape((ComputeNode("n1", 4, 100, (("gpu", 2),)),), (NodeGroup("day", frozenset({0})),))


def test_requests_are_shared_and_words_read() -> None:
    entries = JobEntries(SHAPE)
    first = entries.request({"id": "1", "submit": 0, "run": 5, "tasks": 2, "gpus": 1, "partitions": ["day"]})
    second = entries.request({"id": "2", "submit": 9, "run": 7, "tasks": 2, "gpus": 1, "partitions": ["day"]})
    assert first is not None
    assert first is second
    assert (first.each, first.tasks, first.groups) == ((1, 0, 1), 2, (0,))
    entries = JobEntries(SHAPE)
    assert entries.request({"nodes": 1, "features": [["a"], {"b": 1}, "fast"]}) == entries.request(
        {"nodes": 1, "features": "fast"}
    )
    assert entries.request({"nodes": {"a": 1}}) is None
    entries = JobEntries(SHAPE)
    assert entries.unread({"id": 1, "gpu": 1, "gpus": 1, "run": 5}) == ""
    assert entries.unread({"wall": 1, "colour": "red"}) == "colour"
    assert entries.unread({"fpgas": 0}) == ""


@pytest.mark.parametrize(("one", "other"), [(True, 1), (False, 0), (True, 1.0)])
def test_values_that_only_compare_equal_are_told_apart(one: object, other: object) -> None:
    entries = JobEntries(SHAPE)
    for exclusive in (one, other, one):
        request = entries.request({"nodes": 1, "cores": 1, "exclusive": exclusive})
        assert request is not None
        assert request.is_exclusive == (exclusive is True)
    assert entries.request({"nodes": one, "cores": 1}) is None  # no number
