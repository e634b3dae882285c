from pathlib import Path

import pytest

from sim.lab.again import runs_of, session_of_run
from sim.lab.pivot import RunFilter
from sim.lab.plan import SweepPlan
from sim.lab.results import Results
from sim.lab.work import Outcome
from sim.policies.own.naming import named_code
from sim.session.session import verify_trace
from sim.session.sources import source_of
from sim.workload.samples import sample_path
from tests.sim.lab.examples import policy_file
from tests.sim.lab.test_plan import FAIR

pytestmark = pytest.mark.usefixtures("own_program")


def test_a_run_is_found_again_with_its_options_its_trace_and_its_code(tmp_path: Path) -> None:
    trace = tmp_path / "a.swf"
    trace.write_bytes(sample_path("z-figure4").read_bytes())
    own = policy_file(tmp_path, FAIR)
    factors = {"trace": [str(trace)], "policy": ["easy:order=sjf", own], "load": ["1.5"], "offline": ["yes", "no"]}
    runs = list(SweepPlan.of({**factors, "window": ["0,1d"], "seed": ["3"], "switch": ["1h=fcfs"]}).runs())
    with Results(tmp_path / "r", write=True) as results:
        results.add(Outcome(run, None) for run in runs)
        found = {record["key"]: record for record in runs_of(results, [], [RunFilter.of("load=1.5")])}
    for run in runs:
        session = session_of_run(found[run.key])
        assert source_of(session) == run.source
        assert verify_trace(session) is None
        assert [(s.time, s.spec) for s in session.branches[0].switches] == [(3600.0, "fcfs")]
        assert [ref.sha256 for ref in session.named_code] == ([run.code] if named_code(run.policy) else [])
    trace.write_text("another")
    assert verify_trace(session_of_run(found[runs[0].key])) is not None
