from pathlib import Path

import pytest

from sim.workload.formats import table
from sim.workload.model import Field, Workload
from sim.workload.reading import read

OLD = "jobID,submission_time,requested_number_of_processors,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_processors\n"  # noqa: E501
NEW = "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources\n"  # noqa: E501


def test_both_namings_give_the_wait_that_was_recorded() -> None:
    old = table.read(OLD + "7,3,2,100,1,8,60,68,5,65,1,-1,0-1\n", "jobs", "jobs.csv", format="evalys")
    new = table.read(NEW + "7,w,3,2,100,1,8,60,68,5,65,1,-1,0-1\n", "jobs", "jobs.csv", format="evalys")
    assert old.table.tolist() == new.table.tolist()
    assert old.ids == new.ids == ("7",)
    job = dict(zip(Field, old.table[0].tolist(), strict=True))
    assert (job[Field.SUBMIT], job[Field.WAIT], job[Field.RUN]) == (3, 5, 60)
    assert (job[Field.PROCS_ASKED], job[Field.ESTIMATE], job[Field.STATUS]) == (2, 100, 1)


def test_a_rejected_job_never_ran() -> None:
    trace = table.read(OLD + "7,3,2,100,0,,,,,,,,\n", "jobs", "jobs.csv", format="evalys")
    assert trace.column(Field.RUN).tolist() == [-1]
    assert trace.column(Field.WAIT).tolist() == [-1]
    text = NEW + "7,a,3,2,100,1,8,60,68,5,65,1,-1,0-1\n7,b,3,2,100,1,8,60,68,5,65,1,-1,0-1\n"
    assert table.read(text, "jobs", "jobs.csv", format="evalys").ids == ("a!7", "b!7")


@pytest.mark.parametrize(
    ("file", "jobs", "widest"),
    [("jobs.csv", 250, 128), ("tests.easy_mediumWL_smallPF.csv", 800, 16), ("tests.oar_out_jobs.csv", 800, 32)],
)
def test_real_files(shared: Path, file: str, jobs: int, widest: int) -> None:
    trace = read(shared / "formats" / "evalys" / file)
    assert trace.format == "evalys"
    assert not trace.fidelity
    workload = Workload.of(trace)
    assert (len(workload), workload.procs) == (jobs, widest)
    assert (workload.wait >= 0).all()
