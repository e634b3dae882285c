from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.comparison.elsewhere import ScheduleFileError, read_schedule
from sim.timeline.scenario import run
from sim.workload.replay import read
from tests.sim.conftest import Lab

EASY = "job,start\n1,0\n2,10\n3,1200\n4,1800\n5,600\n"


def written(tmp_path: Path, text: str) -> str:
    (tmp_path / "s.csv").write_text(text)
    return str(tmp_path / "s.csv")


@pytest.mark.parametrize(
    "text",
    [
        EASY,
        EASY.replace("job", "Job ID").replace("start", "Start Time").replace(",", ";"),
        "# made elsewhere\n\n" + EASY,
        "job_id,submission_time,starting_time,finish_time\nw0!1,5000.4,5000,5600\nw0!2,5010,5010,6200\n"
        "w0!3,5020,6200,7400\nw0!4,5030,6800,6900\nw0!5,5040,5600,6800\nw0!99,1,2,3\n",
    ],
)
def test_starts_are_read_and_followed(tmp_path: Path, text: str) -> None:
    of = read("z-figure4")
    found = read_schedule(written(tmp_path, text), of)
    followed = run(found.workload, "recorded", check=True)
    assert followed.start == pytest.approx([0, 10, 1200, 1800, 600], abs=1)
    assert run(of, "easy").start.tolist() == [0, 10, 1200, 1800, 600]


def test_what_cannot_be_followed_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "job,start,end\n1,0,700\n2,10,1210\n3,700,1900\n5,600,1800\n")
    found = read_schedule(path, read("z-figure4"))
    assert np.isnan(found.start).tolist() == [False, False, False, True, False]
    assert list(found.notes(run(found.workload, "recorded"), "s.csv")) == [
        "s.csv has no start of 1 job: they start when they fit",
        "1 job of s.csv cannot start when it says, as others hold the processors: the first is J3 at d0 00:11:40",
        "4 jobs of s.csv end after another time than in this trace: J1 runs for 11m40 there, for 10m00 here",
    ]


def test_ids_that_stand_twice_are_no_error(tmp_path: Path, lab: Lab) -> None:
    of = lab.workload(2, "1 0 1 5 5", "1 3 2 5 5", "2 4 1 5 5")
    assert read_schedule(written(tmp_path, "job,start\n1,5\n2,10\n"), of).start[1:].tolist() == [5, 10]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected columns for job and start, got ''"),
        ("job,end\n1,2\n", "expected columns for job and start, got 'job,end'"),
        ("job,start\n7,0\n", "has the start of no job of z-figure4"),
        ("job,start\n1,x\n", "has the start of no job of z-figure4"),
        ("job,start\n2,0\n", ":2: job 2 starts before its submission"),
        ("job,submit,start\n1,0,0\n2,70,80\n", ":3: job 2 is submitted 1m00 later than in z-figure4"),
        ('job,start\n1,"' + "9" * 200_000 + '"\n', "is no CSV: field larger"),
        ("job,start\n1,0\0", ""),
    ],
)
def test_other_files_are_refused_in_a_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ScheduleFileError) as caught:
        read_schedule(written(tmp_path, text), read("z-figure4"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
