import json
from functools import cache
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.life.life import Life, life_of
from sim.policies import parse_policy
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload
from sim.workload.outages import Outage
from sim.workload.reading import read
from tests.sim.conftest import Lab
from tests.tui.cli.program import schedscope
from tui.cli import explain
from tui.look import text

SAMPLES = Path(__file__).resolve().parents[3] / "sample_traces"


@cache
def lived(sample: str, policy: str, job: str) -> Life:
    of = Workload.of(read(SAMPLES / sample)).with_overruns()
    return life_of(of, parse_policy(policy), of.rank_of(job))


def story(sample: str, policy: str, job: str, width: int = 100, unicode: bool = True) -> str:
    return explain.render(lived(sample, policy, job), width, unicode)


def flat(page: str) -> str:
    return " ".join(page.split())


def test_the_whole_story_of_a_job_that_waited_for_three_reasons() -> None:
    """Zhang's figure 4; the explanation also says why job 4 may not start at 600."""
    assert story("z-figure4.swf", "easy", "4") == (
        "J4 under easy\n"
        "═════════════\n"
        "4 of 10 processors · estimate 15m00 · ran 15m00 · submitted d0 00:00:30\n"
        "\n"
        "J4 waited 29m30: 19m30 because fewer than its 4 processors were free and 10m00 because starting it\n"
        "would have delayed J3. 1 job passed it: J5 (5 processors for up to 8m20). It held processors it\n"
        "needed: without the jobs that passed it, 4 would have been free at d0 00:10:00.\n"
        "\n"
        "d0 00:00:30  Submitted: 1 job ahead of it, wanting 8, 0 processors free after this step.\n"
        "             For 9m30 (2 steps) fewer than its 4 processors were free: 0; J3 ahead of it. It lacked\n"
        "             4 processors, due from J1 (6, until 00:10:00).\n"
        "d0 00:10:00  For 10m00 (2 steps) starting it would have delayed J3: it needs 4, 2 extra; 1 job ahead\n"
        "             of it. J5 passed it.\n"
        "d0 00:20:00  Promised to start at 00:30:00: needs 4 > 2 free now; 10 free then.\n"
        "             For 10m00 (1 step) it was first in the queue and fewer than its 4 processors were free:\n"
        "             2. It lacked 2 more processors, due from J3 (8, until 00:30:00).\n"
        "d0 00:30:00  Started after 29m30: next in the queue and fits: needs 4, 10 free. At that moment J3\n"
        "             (8) ended as expected.\n"
        "d0 00:45:00  Ended after 15m00, exactly its estimate; 44m30 after its submission, a slowdown of 3.0.\n"
        "\n"
        "First planned start d0 00:30:00; it started at d0 00:30:00, as first planned."
    )


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(width: int, unicode: bool) -> None:
    page = story("lublin-128.swf", "easy", "650", width, unicode)
    lines = page.split("\n")
    assert max(map(text.cells, lines)) <= min(width, explain.WIDEST)
    assert all(line == line.rstrip() for line in lines)
    assert unicode or page.isascii()
    assert unicode or "?" not in page


@pytest.mark.parametrize("policy", ["easy:order=sjf", "slack", "gang-migrate", "selective", "multiqueue"])
def test_long_waits_are_told_shortly(policy: str) -> None:
    of = Workload.of(read(SAMPLES / "lublin-128.swf")).with_overruns()
    engine = Engine(of, parse_policy(policy), curious=False)
    engine.run()
    worst = int(np.argmax(engine.schedule().start - of.submit))
    life = life_of(of, parse_policy(policy), worst)
    assert all(len(explain.render(life, width).split("\n")) <= explain.MOST_LINES for width in (80, 100))


def test_the_greatest_moves_of_many_are_told_and_all_are_drawn(shared: Path) -> None:
    """J4034 of KTH was promised a start three days ahead; this planned start moved eight times."""
    of = Workload.of(read(shared / "traces" / "KTH-SP2-1996-2.swf.gz")).with_overruns()
    page = explain.render(life_of(of, parse_policy("conservative"), of.rank_of("4034")), 100)
    assert page.count("Planned start moved from") == 5
    assert "moved 8 times (always earlier), largest moves above" in flat(page)
    assert "  ██▇▇▇▅▂▁▁▁  d62 21:33:05 to d62 22:45:11" in page


@pytest.mark.parametrize(
    ("sample", "policy", "job"),
    [("z-figure4", "easy", "4"), ("ls-figure1", "multiqueue", "3"), ("lublin-128", "slack", "470")],
)
def test_the_story_is_the_same_at_every_width(sample: str, policy: str, job: str) -> None:
    of = Workload.of(read(SAMPLES / f"{sample}.swf")).with_overruns()
    life = life_of(of, parse_policy(policy), of.rank_of(job))
    pages = [explain.render(life, width) for width in (60, 61, 79, 80, 100, 120, 200)]
    words = [[line for line in page.splitlines() if not set(line) & set("═▁▂▃▄▅▆▇█")] for page in pages]
    assert len({flat(" ".join(lines)) for lines in words}) == 1
    assert all(len(line) <= w for w, page in zip((60, 61, 79, 80), pages, strict=False) for line in page.splitlines())


def test_a_job_is_explained_across_a_switch() -> None:
    told = schedscope("explain", "z-figure4", "5", "--policy", "fcfs", "--switch", "50=easy").stdout
    assert "easy" in told
    assert told != schedscope("explain", "z-figure4", "5", "--policy", "fcfs").stdout


def test_answers_go_to_programs() -> None:
    found = json.loads(schedscope("explain", "z-figure4", "2", "--format", "json").stdout)
    assert found["job"] == "2"
    assert found["summary"]
    assert found["story"]
    assert found["sha256"]
    done = schedscope("explain", "z-figure4", "4", "--policy", "easy", "--policy", "firstfit", "--format", "json")
    found = json.loads(done.stdout)
    assert [(tried["policy"], tried["wait"], tried["price"]["worst"]) for tried in found["tried"]] == [
        ("firstfit", 570, "5"), ("easy", 1770, None),
    ]  # fmt: skip
    assert (found["first"], found["job"]) == ("easy", "4")


def trace(folder: Path, *jobs: tuple[int, ...]) -> Path:
    """Write a trace of jobs given as (id, submit, wait, run time, processors), all of user 1; four jobs on four
    processors, otherwise on six."""
    rows = (
        f"{job} {at} {wait} {run} {procs} -1 -1 {procs} {run} -1 1 1 -1 -1 -1 -1 -1 -1"
        for job, at, wait, run, procs in jobs
    )
    size = 4 if len(jobs) == 4 else 6
    (folder / "a.swf").write_text(f"; MaxProcs: {size}\n" + "\n".join(rows) + "\n")
    return folder / "a.swf"


def test_jobs_are_asked_for_one_by_one() -> None:
    done = schedscope("explain", "z-figure4", "user:1", "--policy", "easy", "--policy", "fcfs")
    assert (done.returncode, "needs one job: give its id" in done.stderr) == (2, True)
    done = schedscope("explain", "z-figure4", "J4", "--jobs", "2", "--policy", "easy", "--policy", "fcfs")
    assert done.stderr == "schedscope: error: z-figure4: job 'J4' is left out of the run by --jobs\n"
    assert "no job '9' among the 2 jobs" in schedscope("explain", "z-figure4", "9", "--jobs", "2").stderr


def test_one_that_was_given_up_may_have_started_had_nobody_come(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 2 40 40", "2 5 4 10 10", "3 6 2 45 45")
    scenario = Scenario(workload.with_outages([Outage(50, inf, 0b1)]), "firstfit")
    told = explain.had_nobody_come(life_of(scenario.workload, "firstfit", 1), scenario)
    assert told == "Without later arrivals J2 would have started at d0 00:00:40."


NODES = [{"name": name, "cores": 4, "partitions": ["p"]} for name in ("n1", "n2")]
ONE = {"submit": 1, "run": 10, "estimate": 20, "nodes": 1, "cores": 4}


@pytest.fixture
def never(tmp_path: Path) -> str:
    """Return a trace whose jobs 2 to 5 are left out, and whose jobs 6 to 8 are cancelled in the run."""
    jobs = (
        {"id": "9", "submit": 0, "fails": True}, {"id": "1", "submit": 0, "user": "bob"}, {"id": "2", "cores": 8},
        {"id": "3", "estimate": 200, "partitions": ["p"]}, {"id": "4", "nodes": 2, "user": "ann"},
        {"id": "5", "dependency": "afterok:9"}, {"id": "6", "user": "bob"}, {"id": "7", "dependency": "afterok:6"},
        {"id": "8", "dependency": "afterok:6:1"},
    )  # fmt: skip
    limits = [{"user": "ann", "cores": 4}, {"user": "bob", "submit": 1}]
    machine = {"nodes": NODES, "partitions": [{"name": "p", "max_time": 100}], "limits": limits}
    path = tmp_path / "never.json"
    path.write_text(json.dumps({**machine, "jobs": [ONE | job for job in jobs]}))
    return str(path)


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("2", "never fits the machine: no node has enough cores"),
        ("J3", "longer than its partition allows"),
        ("4", "exceeds a limit alone (AssocGrpCpuLimit)"),
        ("5", "waits for an outcome of another job that does not come"),
    ],
)
def test_a_job_that_is_left_out_is_told_why(never: str, job: str, why: str) -> None:
    done = schedscope("explain", never, job)
    assert (done.returncode, done.stderr) == (
        1, f"schedscope: error: never: job '{job}' is left out of the run: {why}\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("6", "AssocMaxSubmitJobLimit: user bob has 1 of 1 jobs submitted"),
        ("7", "waits for an outcome of another job that does not come"),
        ("8", "waits for an outcome of another job that does not come"),
    ],
)
def test_a_job_that_is_cancelled_in_the_run_is_told_why(never: str, job: str, why: str) -> None:
    told = flat(schedscope("explain", never, job).stdout)
    assert "never started" in told
    assert f"d0 00:00:01 J{job} is cancelled: {why}." in told


def test_blockers_say_what_each_alone_changed() -> None:
    told = schedscope("explain", "z-figure4", "J4", "--blockers", "--without", "J5").stdout
    assert "J4 would start 29m30 earlier without J1, 20m00 earlier without J3" in told
    assert "helps most" not in told
    both = schedscope("explain", "z-figure4", "J4", "--policy", "easy", "--policy", "firstfit", "--blockers").stdout
    assert "firstfit helps most" in both
    assert [line.split("  ")[0] for line in both.splitlines()[2:9]] == [
        "tried", "firstfit", "easy (first)", "without J1", "without J3", "without J2", "without J5"
    ]  # fmt: skip
