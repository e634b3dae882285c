"""Node requests for the jobs of any trace, read from another file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.engine.engine import Engine
from sim.errors import PolicyError, SchedscopeError
from sim.workload.model import Workload
from sim.workload.source import read

SWF = """; MaxProcs: 100
1 0 -1 10 4 -1 -1 4 10 2048 1 1 1 1 0 -1 -1 -1
2 0 -1 10 9 -1 -1 9 10 -1 1 1 1 1 0 -1 -1 -1
3 0 -1 10 2 -1 -1 2 10 4096 1 1 1 1 0 -1 -1 -1
"""
TOML = "[[node]]\ncount = 2\ncores = 4\nmem = 8\n"


def on(tmp_path: Path, text: str, trace: str, name: str = "x.swf") -> Workload:
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    (tmp_path / name).write_text(trace, encoding="utf-8")
    return read(tmp_path / name, nodes=str(tmp_path / "m.toml"))


def test_processors_become_tasks_with_the_memory_of_the_trace(tmp_path: Path) -> None:
    workload = on(tmp_path, TOML, SWF)
    assert workload.procs == 8
    assert workload.ids == ("1", "3")  # nine cores are more than there are
    assert workload.shape is not None
    assert [request.each for request in workload.shape.requests] == [(1, 2), (1, 4)]


def test_equal_processors_and_nodes_of_cores_alone_agree(tmp_path: Path) -> None:
    (machine := tmp_path / "m.toml").write_text("[[node]]\ncount = 32\ncores = 4\n", encoding="utf-8")
    nodes = read("lublin-128", jobs=150, nodes=str(machine))
    plain = read("lublin-128", jobs=150)
    for spec in ("fcfs", "firstfit", "easy", "relaxed", "greedy", "easy++"):
        runs = [Engine(workload, spec, curious=False) for workload in (nodes, plain)]
        for run in runs:
            run.run()
        assert runs[0].schedule().start.tolist() == runs[1].schedule().start.tolist(), spec


def test_requests_of_the_trace_keep_their_resources(tmp_path: Path) -> None:
    own = {"nodes": [{"cores": 4, "gpus": 1}], "jobs": [{"submit": 0, "run": 1, "nodes": 1, "gpus": 1}]}
    found = on(tmp_path, "[[node]]\ncores = 8\ngpus = 2\nfpgas = 1\n", json.dumps(own), "x.json")
    assert found.shape is not None
    assert found.shape.requests[0].each == (1, 0, 0, 1)
    with pytest.raises(SchedscopeError, match="asks for gpu, which no node of --nodes has"):
        on(tmp_path, TOML, json.dumps(own), "x.json")


def test_policies_that_count_processors_refuse_nodes(tmp_path: Path) -> None:
    workload = on(tmp_path, TOML, SWF)
    for spec in ("gang", "multiqueue", "selective", "lookahead"):
        with pytest.raises(PolicyError, match="cannot run on a machine of nodes"):
            Engine(workload, spec)
    engine = Engine(workload, "easy")
    with pytest.raises(PolicyError, match="cannot run on a machine of nodes"):
        engine.switch("gang")
