import copy
import pickle

import pytest

from sim.workload.job import Job
from tests.sim.conftest import Lab


def test_job_never_changes(lab: Lab) -> None:
    job = lab.workload(4, "1 0 2 10 10").jobs[0]
    with pytest.raises(AttributeError, match="procs cannot be set"):
        job.procs = 1
    with pytest.raises(AttributeError, match="procs cannot be deleted"):
        del job.procs
    assert job == Job(0, "1", 0, 2, 10)
    assert job.replaced(submit=3).submit == 3


def test_job_survives_a_copy() -> None:
    job = Job(0, "1", 0, 2, 10, reserve=5)
    assert pickle.loads(pickle.dumps(job)) == copy.deepcopy(job) == job
