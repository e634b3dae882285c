from pathlib import Path

import pytest

from sim.engine.engine import Engine
from sim.support.errors import ParameterError
from sim.workload.models.generated import generate
from sim.workload.models.node_requests import as_json, cores_of, parse_nodes
from sim.workload.replay import read

NODES = "6x16c,64g,2gpu 10x8c,32g"


def test_generated_jobs_fit_the_machine_and_lose_cores_to_memory(tmp_path: Path) -> None:
    nodes = parse_nodes(NODES)
    text = as_json(generate("lublin", 300, cores_of(nodes), 1, load=0.9), nodes, 1)
    (path := tmp_path / "made.json").write_text(text, encoding="utf-8")
    workload = read(path)
    assert (len(workload), workload.procs) == (300, 176)
    engine = Engine(workload, "easy", curious=False)
    engine.run()
    assert engine.schedule().lost[1].max() > 8  # cores stood idle while jobs waited for memory


def test_every_generated_job_can_start_on_the_empty_machine(tmp_path: Path) -> None:
    nodes = parse_nodes("10x8c,32g,2gpu 4x16c,128g")
    for seed in (3, 4):
        (path := tmp_path / "made.json").write_text(as_json(generate("lublin", 200, 144, seed), nodes, seed), "utf-8")
        assert len(read(path)) == 200


def test_same_seed_gives_the_same_requests() -> None:
    nodes, trace = parse_nodes(NODES), generate("sud", 50, 176, 2)
    assert as_json(trace, nodes, 5) == as_json(trace, nodes, 5) != as_json(trace, nodes, 6)


@pytest.mark.parametrize(
    "text", ["", "64c", "0x4c", "2x0c", "2x4c,", "2x4c,x", "999999x999999c", "2x4c,1.5g", "2x4c,1t"]
)
def test_wrong_nodes_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="like 100x64c,256g,4gpu"):
        parse_nodes(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [("2x4c,3count", "'count' must be the name of a resource"), ("2x4c,9cpu", "'cpu' must be"), ("2x4c,1g,2g", "once"),
     ("2x4c,1gpu,2gpus", "'gpu' must .* once"), ("70000x1c", "at most 65,536 nodes, got 70,000")],
)  # fmt: skip
def test_nodes_that_no_reader_takes_are_refused(text: str, error: str) -> None:
    with pytest.raises(ParameterError, match=error):
        parse_nodes(text)
