import json
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from sim.support.formatting import parse_moment
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.portrait import portrait
from tests.tui.cli.program import schedscope, write
from tui.cli import inspect
from tui.look import text

HEADER = Header(max_procs=64, unix_start=843480031, time_zone="3600", computer="IBM SP2", queues={1: "low"})


def page(
    width: int = 80, unicode: bool = True, header: Header = HEADER, jobs: int = 200, estimates: bool = True
) -> str:
    """Return the portrait of a made-up trace: jobs of many widths and lengths, one every 1,000 s, of which every
    fiftieth never ran."""
    number = np.arange(jobs)
    table = np.full((jobs, len(Field)), -1.0)
    table[:, Field.SUBMIT] = 1000 * number
    table[:, Field.RUN] = np.where(number % 50 == 49, -1, 5 + 700 * number)
    table[:, Field.PROCS_ASKED] = 1 + number % 64
    table[:, Field.ESTIMATE] = 3600 * (1 + number % 30) if estimates else -1
    table[:, Field.USER] = number % 7
    table[:, Field.QUEUE] = 1
    of = Trace("little", "swf", tuple(str(i + 1) for i in number), table, header)
    return inspect.render(portrait(Workload.of(of), of), width, unicode)


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(width: int, unicode: bool) -> None:
    lines = page(width, unicode).split("\n")
    assert max(map(text.cells, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_page_names_jobs_left_out_and_days() -> None:
    drawn = page()
    assert "skipped 4: never ran (run time < 0), first job 50" in drawn
    assert "196  of the 200 in the file" in drawn
    first, last = re.findall(r"(\S+) to (\d\S+)", page().split("Width")[0])[0]
    assert (first, last) == ("1996-09-23", "1996-09-25")
    assert parse_moment(first) == datetime(1996, 9, 23)


def test_missing_data_is_said() -> None:
    drawn = page(header=Header(max_procs=64))
    assert "The file gives no date" in drawn
    drawn = page(estimates=False)
    assert "The file has no estimates" in drawn
    assert "Accuracy" not in drawn
    assert "No job of this file can be simulated." in page(jobs=0)
    assert "\x1b" not in page(header=Header(max_procs=64, computer="evil\x1b[2J", queues={1: "q\x1b]0;x"}))


@pytest.mark.parametrize("jobs", [[], ["1 0 -1 10 4 -1 -1 4 10"]], ids=["no job", "one job as wide as the machine"])
@pytest.mark.parametrize("command", ["inspect"])
def test_tiny_traces_are_no_trouble(tmp_path: Path, command: str, jobs: list[str]) -> None:
    done = schedscope(command, write(tmp_path / "tiny.swf", *jobs))
    assert (done.returncode, done.stderr) == (0, "")


def test_nodes_are_described_with_what_jobs_ask_of_them(tmp_path: Path) -> None:
    machine = "".join(f"[[node]]\nname = 'n{at}'\ncores = {at}\nmem = 1000\ngpus = {at % 2}\n" for at in range(1, 20))
    parts = "[[partition]]\nname = 'all'\nmax_time = 7200\nexclusive = true\n"
    nodes, path = tmp_path / "x.toml", tmp_path / "x.sacct"
    nodes.write_text(machine + parts)
    dump = (
        "JobID|Partition|Submit|Start|Elapsed|NCPUS|ReqTRES|AllocTRES|NodeList\n"
        "1|all|2026-11-23T10:00:00|2026-11-23T10:00:00|00:10:00|4|||n4\n"
        "2|other|2026-11-23T10:00:00|2026-11-23T10:00:00|00:10:00|1|cpu=1,gres/gpu=1,mem=10M|cpu=1,gres/gpu=1,mem=10M|n3\n"
    )
    path.write_text(dump)
    drawn = schedscope("inspect", path, "--nodes", nodes).stdout
    told = " ".join(drawn.split())
    assert "1 node with 1 core, 1,000 MB, 1 gpu 1 node with 2 cores" in told
    assert "and 7 more kinds of nodes partition all, 19 nodes, at most 2h00, whole nodes" in told
    assert "beside these for gpu (1), memory (1) and whole nodes (1). Of 2 jobs it is known where they ran" in told


def test_wait_of_a_job_that_never_started_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.sacct"
    path.write_text(
        "JobID|Submit|Start|Elapsed|NCPUS|ReqCPUS|State|Timelimit\n"
        "1|2026-11-23T10:00:00|2026-11-23T10:00:05|00:10:00|4|4|COMPLETED|01:00:00\n"
        "2|2026-11-23T10:01:00|Unknown|00:00:00|0|2|PENDING|00:30:00\n"
    )
    assert re.search(r"Waited in reality +5s +on average, at worst 5s", schedscope("inspect", path).stdout)


def test_dependencies_and_limits_are_counted(tmp_path: Path) -> None:
    path, job = tmp_path / "x.json", {"submit": 0, "run": 5, "tasks": 1, "cores": 2}
    jobs = [{"id": "1", "user": "a", **job}, {"id": "2", "dependency": "afterok:1", "user": "b", **job}]
    limits = [{"user": "a", "cores": 2}]
    path.write_text(json.dumps({"nodes": [{"cores": 4}], "jobs": jobs, "limits": limits}), encoding="utf-8")
    told = " ".join(schedscope("inspect", path).stdout.split())
    assert "1 job waits for the ends of others. Limits of users, accounts or arrays hold for 1 job." in told
