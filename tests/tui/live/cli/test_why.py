"""`why`, `when` and `live` on the command line: with recordings, with prepared answers in place of Slurm's, and
refused.

Also tests tui.live.cli.when, tui.live.cli.live, tui.live.cli.observed.
"""

import json
import signal
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sim.live.cluster.recording import FRAME, PollRecorder, Recording
from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS
from tests.tui.cli.program import PROGRAM, error, schedscope
from tui.live.cli.observed import forecasts_of, judged

BEGIN = 1_795_469_000.0
JOB = ClusterJob("7", "7", "PENDING", reason="Priority", user="anna", partition="batch", cpus=2, priority=10)


@pytest.fixture
def recording(tmp_path: Path) -> str:
    recorder = PollRecorder(tmp_path / "week.slog")
    for poll, date in enumerate((BEGIN + 900, BEGIN + 1200, BEGIN + 1200)):
        first = replace(JOB, id="5", number="5", reason="Resources", priority=30)
        jobs = (replace(JOB, start=date), first)
        nodes, batch = (Node("n1", 4),), (Partition("batch", ("n1",)),)
        recorder.add(Cluster(BEGIN + 60 * poll, "c", nodes=nodes, partitions=batch, jobs=jobs, me="anna"))
    recorder.close()
    return str(tmp_path / "week.slog")


def test_why_and_when_answer_from_recordings(recording: str) -> None:
    done = schedscope("why", "7", "--from", recording)
    assert done.stdout == "J7 waits behind 1 job for nodes of batch: J5 has priority 30 > 10\n"
    assert schedscope("why", "J7", "--from", recording, "--long").stdout.count("\n") > 2
    told = json.loads(schedscope("why", "7", "--from", recording, "--format", "json").stdout)
    assert (told["job"], told["reason"], told["ahead"], told["is_plan"]) == ("7", "Priority", ["5"], True)
    assert told["expected_start"] == BEGIN + 1200
    text = schedscope("when", "7", "--from", recording).stdout
    assert "The date moved 1 time, 5m00 later in all.\n" in text
    said = json.loads(schedscope("when", "7", "--from", recording, "--format", "json").stdout)["said"]
    assert [each["start"] for each in said] == [BEGIN + 900, BEGIN + 1200]
    first = json.loads(schedscope("when", "7", "--from", recording, "--at", "#1", "--format", "json").stdout)
    assert first["expected_start"] == BEGIN + 900


def test_jobs_that_ended_between_the_scored_polls_are_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.live.cli.observed.MOST_JUDGED", 2)
    recorder = PollRecorder(tmp_path / "x.slog")
    for poll in range(12):
        at = NOW + 60.0 * poll
        ended = replace(RUNS, id=f"e{poll}", state="COMPLETED", start=at - 200, end=at - 30)
        recorder.add(Cluster(at, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, WAITS, ended)))
    recorder.close()
    kept = Recording(tmp_path / "x.slog")
    board, _ = forecasts_of(kept.at(NOW + 660), "", kept)
    assert len(board.past) == 12


def test_few_polls_are_scored_of_a_long_day_those_that_are_read_fast(tmp_path: Path) -> None:
    recorder = PollRecorder(tmp_path / "day.slog")
    for poll in range(3 * FRAME + 1):
        recorder.add(Cluster(NOW + 60.0 * poll))
    recorder.close()
    kept = Recording(tmp_path / "day.slog")
    now, whole = NOW + 180.0 * FRAME, [NOW, NOW + 60.0 * FRAME, NOW + 120.0 * FRAME]
    assert judged(kept, now, 3) == whole
    assert judged(kept, now, 2) == [whole[0], whole[2]]
    assert judged(kept, now, 6) == [NOW + 60.0 * poll for poll in range(0, 3 * FRAME, FRAME // 2)]
    assert judged(kept, now - 3600.0, 1000) == list(kept.times()[: 3 * FRAME - 60])


def test_when_reads_only_pictures_that_are_forecast_whole(recording: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A week has 10,080 pictures of thousands of jobs."""
    monkeypatch.setattr(Recording, "pictures", None)
    assert "The date moved 1 time, 5m00 later in all." in schedscope("when", "7", "--from", recording).stdout


def test_when_answers_what_if(tmp_path: Path) -> None:
    recorder = PollRecorder(tmp_path / "if.slog")
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2", nodes_wanted=2)
    held = replace(WAITS, id="9", reason="JobHeldUser")
    recorder.add(Cluster(NOW, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, wide, held)))
    recorder.close()
    asked = ("when", "2", "--from", str(tmp_path / "if.slog"), "--if", "cpus=4 nodes=1")
    text = schedscope(*asked).stdout
    assert "With 4 cores, 1 node it would start now instead of " in text
    told = json.loads(schedscope(*asked, "--format", "json").stdout)
    assert told["forecast"] == {"low": NOW + 300, "middle": NOW + 300, "high": NOW + 300, "share": None}
    assert told["if"]["after"]["high"] == NOW
    assert told["if"]["later"] == []
    assert "as in 'time=30m cpus=8'" in error("when", "2", "--from", str(tmp_path / "if.slog"), "--if", "core=4")[1]
    unknown = schedscope("when", "9", "--from", str(tmp_path / "if.slog")).stdout
    assert "No forecast of ours: it waits for JobHeldUser, which is not modelled." in unknown
    assert "does not wait" in error("when", "1", "--from", str(tmp_path / "if.slog"), "--if", "cpus=4")[1]


def test_when_answers_about_a_job_that_does_not_exist(recording: str) -> None:
    told = json.loads(schedscope("when", "--new", "time=9m", "--from", recording, "--format", "json").stdout)
    assert told["after"]["middle"] > told["at"] + 86000, "two jobs without a limit have the node first"
    text = schedscope("when", "--new", "cpus=4 time=30m", "--from", recording).stdout
    assert text.startswith("A job of 1 node with 4 cores for 30m00 in batch would start at ")
    assert schedscope("when", "--new", "--from", recording).stdout.splitlines()[1:] == ["batch: nothing"]
    assert json.loads(schedscope("when", "--from", recording, "--format", "json", "--new").stdout)["fits"] == []


def test_what_if_has_the_forecast_as_the_time_before(tmp_path: Path) -> None:
    """Ends are rounded by the limits of all waiting jobs, so that jobs far behind also move the forecast."""
    recorder = PollRecorder(tmp_path / "if.slog")
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2", nodes_wanted=2)
    behind = [replace(WAITS, id=f"{n}", priority=1, limit=3600.0 if n > 130 else 600.0) for n in range(100, 180)]
    recorder.add(Cluster(NOW, nodes=NODES_, partitions=(BATCH,), jobs=(replace(RUNS, end=NOW + 301), wide, *behind)))
    recorder.close()
    text = schedscope("when", "2", "--from", str(tmp_path / "if.slog"), "--if", "cpus=4 nodes=1").stdout
    forecast = text.partition("Our forecast: ")[2].partition(";")[0]
    assert f"would start now instead of about {forecast}." in text


@pytest.mark.parametrize("at", ["30", f"{BEGIN + 59:.0f}", "#1"])
def test_a_moment_in_a_recording(recording: str, at: str) -> None:
    told = json.loads(schedscope("why", "7", "--from", recording, "--at", at, "--format", "json").stdout)
    assert told["at"] == BEGIN


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["why", "99", "--from", "RECORDING"], 1, "no job '99' at that moment; yours are 7, 5"),
        (["why", "7", "--at", "5"], 2, "--at is a moment in a recording"),
        (["why", "7", "--from", "nothing.slog"], 1, "nothing.slog: no such file"),
        (["why", "7", "--ssh", "-oProxyCommand=x"], 1, "is no name of a host"),
        (["live", "--headless"], 2, "name the recording with -o"),
        (["live", "--anonymise"], 2, "name it with -o"),
        (["live"], 1, "needs a terminal"),
        (["when"], 2, "name a JOB, or a new one with --new"),
        (["when", "7", "--new", "time=1h"], 2, "name a JOB, or a new one with --new"),
        (["when", "--new", "time=1h", "--if", "time=1h"], 2, "write the request into --new"),
        (["when", "--new", "lanes=2", "--from", "RECORDING"], 2, "got 'lanes=2'"),
    ],
)
def test_refusals(recording: str, arguments: list[str], code: int, said: str) -> None:
    got, line = error(*(recording if word == "RECORDING" else word for word in arguments))
    assert (got, said in line) == (code, True), line


SCONTROL = """#!/bin/sh
case "$*" in
*config*) printf 'ClusterName = testbed\\nSLURM_VERSION = 24.11.5\\nPrivateData = none\\n' ;;
*node*) echo "NodeName=n1 CPUTot=4 State=IDLE" ;;
*partition*) echo "PartitionName=batch Nodes=n1 State=UP" ;;
esac
"""
SQUEUE = """#!/bin/sh
echo "7|7|7|PENDING|JobHeldUser|batch|anna|physics|normal|2|1|1M|N/A|1:00|2026-11-23T21:33:46|N/A|N/A|9|||||secret"
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("scontrol", SCONTROL), ("squeue", SQUEUE), ("sprio", "#!/bin/sh\n"), ("sacct", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SCHEDSCOPE_STATE", str(tmp_path / "state"))
    return tmp_path


def test_a_live_cluster_is_asked(slurm: Path) -> None:
    assert schedscope("why", "7").stdout == "J7 waits: its user holds it (scontrol release JOB lets it go)\n"


def test_partition_that_there_is_not_is_refused(slurm: Path) -> None:
    assert error("live", "--partition", "nope") == (2, "no partition 'nope'; there are batch")


def test_when_prints_one_range_with_its_share(slurm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node with a job after another: the accounting lists jobs of five minutes, each of which waited for ten."""

    def stamp(seconds_ago: float) -> str:
        return datetime.fromtimestamp(now - seconds_ago, UTC).strftime("%Y-%m-%dT%H:%M:%S")

    monkeypatch.setattr("tui.live.cli.observed.MOST_JUDGED", 72)
    now = time.time()
    row = "{0}|{0}|anna|a|batch|normal|COMPLETED|{1}|{1}|{2}|{3}|00:10:00|4|1|n1|9|cpu=4|cpu=4,node=1|x"
    past = [
        (number, stamp(300 * number + 600), stamp(300 * number), stamp(300 * number - 300)) for number in range(2, 30)
    ]
    (slurm / "sacct").write_text("#!/bin/sh\ncat <<E\n" + "\n".join(row.format(*each) for each in past) + "\nE\n")
    queue = "{0}|{0}|{0}|{1}|{2}|batch|anna|a|normal|4|1|1M|N/A|10:00|{3}|{4}|{5}|9|{6}||||x"
    runs = queue.format(1, "RUNNING", "None", stamp(900), stamp(-300), stamp(300), "n1")
    waits = queue.format(7, "PENDING", "Resources", stamp(60), "N/A", "N/A", "")
    (slurm / "squeue").write_text(f"#!/bin/sh\ncat <<E\n{runs}\n{waits}\nE\n")
    told = json.loads(schedscope("when", "7", "--format", "json").stdout)["forecast"]
    assert told["share"] == 0.8
    assert told["low"] <= told["middle"] <= told["high"]
    text = schedscope("when", "7").stdout
    assert "for 80 % of such jobs" in text
    assert text.count("Our forecast") == 1
    assert "In the last day" not in text, "these forecasts were not made"
    (slurm / "sacct").write_text("#!/bin/sh\nexit 1\n")
    assert json.loads(schedscope("when", "7", "--format", "json").stdout)["forecast"]["share"] is None
    assert "too few starts are known for a range" in schedscope("when", "7").stdout


def test_ended_jobs_are_found(tmp_path: Path, slurm: Path) -> None:
    recorder = PollRecorder(tmp_path / "x.slog")
    recorder.add(Cluster(NOW, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, WAITS)))
    recorder.add(Cluster(NOW + 60, nodes=NODES_, partitions=(BATCH,), jobs=(WAITS,)))
    recorder.close()
    assert schedscope("why", RUNS.id, "--from", str(tmp_path / "x.slog")).stdout.startswith(f"J{RUNS.id} ended at ")
    told = "5|5|anna|physics|batch|normal|COMPLETED|2026-11-23T21:33:46|2026-11-23T21:33:46|2026-11-23T21:40:00"
    told += "|2026-11-23T21:45:00|00:10:00|2|1|n1|900|||fold"
    (slurm / "sacct").write_text(f'#!/bin/sh\ncase "$*" in *"-j 5 "*) echo "{told}" ;; esac\n')
    assert schedscope("why", "J5").stdout.endswith(": completed\n")
    assert schedscope("when", "5").stdout.startswith("J5 ended at ")
    assert "no job '6': Slurm never had it, or has forgotten it" in error("why", "6")[1]


def test_a_recording_without_a_screen(slurm: Path) -> None:
    for name, more in (("a.slog", []), ("b.slog", ["--anonymise"])):
        done = schedscope("live", "--headless", "-o", str(slurm / name), "--polls", "1", *more)
        assert done.returncode == 0, done.stderr
        assert "0 run, 1 wait" in done.stdout
    (plain,), (hidden,) = (Recording(slurm / name).at(0).jobs for name in ("a.slog", "b.slog"))
    assert (plain.user, plain.name) == ("anna", "secret")
    assert hidden.user.startswith("user-")
    assert "secret" not in hidden.name
    assert (slurm / "state" / "pseudonyms.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_recording_without_a_screen_is_whole_after_a_signal(slurm: Path, number: signal.Signals) -> None:
    path = slurm / "a.slog"
    command = [*PROGRAM, "live", "--headless", "-o", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert "1 wait" in program.stdout.readline()
        program.send_signal(number)
        _, told = program.communicate(timeout=60)
    assert program.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert told == ""
    copy = slurm / "copy.slog"
    copy.write_bytes(path.read_bytes())
    assert len(Recording(copy).times()) == 1


def test_answer_that_is_none_is_not_recorded(slurm: Path) -> None:
    (slurm / "squeue").write_text("#!/bin/sh\necho '<html>'\necho '</html>'\n")
    done = schedscope("live", "--headless", "-o", str(slurm / "a.slog"), "--polls", "1")
    assert "no answer: squeue: 2 of 2 lines of its answer cannot be read" in done.stdout
    assert not Recording(slurm / "a.slog").times()


def test_lines_that_cannot_be_read_are_counted_without_a_screen(slurm: Path) -> None:
    row = SQUEUE.partition('"')[2].rpartition('"')[0]
    lines = "".join(f'echo "{number}{row[1:]}"\n' for number in range(1, 9))
    (slurm / "squeue").write_text(f"#!/bin/sh\necho welcome\n{lines}")
    done = schedscope("live", "--headless", "-o", str(slurm / "a.slog"), "--polls", "1")
    assert "8 wait, 0 events, 1 line unreadable; answered in" in done.stdout


def test_a_controller_that_does_not_answer_is_said_and_recording_goes_on(slurm: Path) -> None:
    (slurm / "squeue").write_text("#!/bin/sh\necho slurm_load_jobs error: Unable to contact >&2\nexit 1\n")
    done = schedscope("live", "--headless", "-o", str(slurm / "a.slog"), "--polls", "1")
    assert done.returncode == 0
    assert "no answer: squeue: slurm_load_jobs error: Unable to contact; trying again" in done.stdout
