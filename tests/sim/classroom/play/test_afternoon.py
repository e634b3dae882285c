import numpy as np
import pytest

from sim import run
from sim.classroom.play.afternoon import JOBS, SAMPLE, afternoon
from sim.support.errors import ParameterError
from sim.workload.replay import read


def test_hours_are_cut_from_the_trace() -> None:
    workload = read("lublin-128")
    one, again, other = (afternoon(workload, seed) for seed in (1, 1, 2))
    assert (one.ids, len(one), one.submit[0]) == (again.ids, JOBS, 0)
    assert one.ids != other.ids
    assert np.all(np.diff(one.submit) >= 0)
    assert len(afternoon(read("4 procs; 1x1m@5m; 2x1m@6m"))) == 2
    with pytest.raises(ParameterError, match="a game needs at least 2 jobs, the trace has 1"):
        afternoon(read("4 procs; 1x1m@0"))
    hours = afternoon(read(SAMPLE))
    easy, greedy = (float((run(hours, policy).start - hours.submit).mean()) for policy in ("easy", "firstfit"))
    assert greedy > easy
