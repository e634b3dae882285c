"""The Slurm adapter with prepared answers to its commands: what it asks and when, and what it does if a command is
refused.

Also tests sim.live.cluster.slurm.commands.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sim.live.cluster.slurm.adapter import LIGHT, MOST_DETAILS, SELDOM, SlurmSource, ended
from sim.live.cluster.slurm.commands import Commands
from sim.live.cluster.values import Limit
from sim.support.errors import ClusterError

NOW = 1_795_469_000.0
ROW = (
    "{id}|{id}|{id}|{state}|None|batch|{user}|physics|normal|2|1|1000M|N/A|"
    "10:00|2026-11-23T21:33:46|N/A|2026-11-23T21:40:00|900|{nodes}||||{name}"
)


class Written(Commands):
    """Commands with prepared answers."""

    def __init__(self, jobs: str = "", private: str = "none") -> None:
        super().__init__()
        self.asked: list[str] = []
        self.jobs = jobs
        self.cost = 0.0
        self.restarts = 0
        self.history = ""
        self.answers = {
            "scontrol show config": f"ClusterName = testbed\nPrivateData = {private}\nSLURM_VERSION = 24.11.5\n",
            "id -un": "anna\n",
            "scontrol -o show node": "NodeName=n1 CPUTot=4 CPUAlloc=2 State=MIXED Partitions=batch\n",
            "scontrol -o show partition": "PartitionName=batch Nodes=n1 MaxTime=01:00:00 State=UP\n",
            "scontrol -o show res": "No reservations in the system\n",
        }

    def ask(self, *words: str) -> str:
        line = " ".join(words)
        self.asked.append(line)
        self.spent += self.cost
        if words[0] == "squeue":
            return self.jobs
        if words[0] == "sacct" and self.history:
            return self.history
        if line.startswith("scontrol -d -o show job"):
            first = f"JobId=1 Restarts={self.restarts} Nodes=n1 CPU_IDs=0-1 Mem=0\n"
            return f"{first}JobId=2 TRES=cpu=1,mem=9M,node=1 Nodes=n1 CPU_IDs=2 Mem=0\n"
        if line not in self.answers:
            raise ClusterError(f"{words[0]}: refused")
        return self.answers[line]


def row(number: int, state: str = "RUNNING", user: str = "anna", name: str = "a|b") -> str:
    return ROW.format(id=number, state=state, user=user, nodes="n1" if state == "RUNNING" else "", name=name) + "\n"


def polled(jobs: str = "") -> tuple[Written, SlurmSource]:
    commands = Written(jobs or row(1))
    slurm = SlurmSource(commands)
    slurm.snapshot()
    return commands, slurm


def test_a_poll_is_a_picture() -> None:
    cluster = SlurmSource(Written(row(1) + row(3, "PENDING"))).snapshot()
    assert (cluster.name, cluster.version, cluster.me) == ("testbed", "Slurm 24.11.5", "anna")
    assert [(job.id, job.name) for job in cluster.jobs] == [("1", "a|b"), ("3", "a|b")]
    assert cluster.jobs[0].cores[0].mask == 3
    assert cluster.node_of["n1"].cpus_taken == 2
    assert not cluster.limits


def test_details_are_asked_for_once_per_start_and_nodes_seldom() -> None:
    commands = Written(row(1))
    slurm = SlurmSource(commands)
    for _ in range(SELDOM + 1):
        slurm.snapshot()
    assert sum(line.startswith("scontrol -d -o show job") for line in commands.asked) == 1
    assert commands.asked.count("scontrol -o show node") == 2
    assert commands.asked.count("scontrol show config") == 1


@pytest.mark.parametrize(
    ("every", "cost", "expected"), [(60, LIGHT / 2, 5), (30, LIGHT / 2, 3), (10, LIGHT / 2, 1), (60, LIGHT, 1)]
)
def test_nodes_and_reservations_are_asked_for_once_a_minute_unless_that_is_slow(
    every: int, cost: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drains and reservations change every forecast, so five polls are a long time."""
    commands, clock = Written(row(1)), SimpleNamespace(now=NOW)
    commands.cost = cost
    monkeypatch.setattr("sim.live.cluster.slurm.adapter.time", SimpleNamespace(time=lambda: clock.now))
    slurm = SlurmSource(commands)
    for _ in range(SELDOM):
        slurm.snapshot()
        clock.now += every
    for what in ("node", "res"):
        assert commands.asked.count(f"scontrol -o show {what}") == expected
    assert commands.asked.count("scontrol -o show partition") == 1


def test_a_job_that_arrives_is_asked_about_once_and_again_when_it_starts() -> None:
    commands, slurm = polled()
    for state in ("PENDING", "PENDING", "RUNNING", "RUNNING"):
        commands.jobs = row(1) + row(2, state)
        last = slurm.snapshot().job_of["2"]
        assert last.tres == "cpu=1,mem=9M,node=1"
    assert last.cores[0].mask == 4
    assert [line for line in commands.asked if line.endswith("job 2")] == ["scontrol -d -o show job 2"] * 2


def test_details_of_a_requeued_job_are_asked_for_again() -> None:
    commands, slurm = polled()
    commands.jobs = row(1, "PENDING").replace("21:33:46", "21:41:00")
    commands.restarts = 1
    for _ in range(2):
        assert slurm.snapshot().job_of["1"].restarts == 1
    assert sum(line.startswith("scontrol -d -o show job") for line in commands.asked) == 2


def test_licenses_are_limits_with_their_use() -> None:
    commands = Written(row(1))
    commands.answers["scontrol -o show lic"] = "LicenseName=matlab Total=3 Used=2 Free=1 Reserved=0 Remote=no\n"
    slurm = SlurmSource(commands)
    assert slurm.snapshot().limits == (Limit("license", "matlab", "license", 3, 2),)
    commands.answers["scontrol -o show lic"] = "LicenseName=matlab Total=3 Used=0 Free=3 Reserved=0 Remote=no\n"
    assert slurm.snapshot().limits == (Limit("license", "matlab", "license", 3, 0),), "at each poll"


def test_few_of_many_arrivals_are_asked_about() -> None:
    commands, slurm = polled()
    commands.jobs = row(1) + "".join(row(number, "PENDING") for number in range(2, 100))
    before = len(commands.asked)
    slurm.snapshot()
    assert len([line for line in commands.asked[before:] if " show job " in line]) == MOST_DETAILS


def test_many_starts_are_one_question() -> None:
    commands = Written("".join(map(row, range(1, MOST_DETAILS + 5))))
    SlurmSource(commands).snapshot()
    assert [line for line in commands.asked if " show job" in line] == ["scontrol -d -o show job"]


@pytest.mark.parametrize(("private", "user", "expected"), [("jobs", "anna", True), ("jobs,usage", "bert", False)])
def test_hidden_jobs_are_noticed(private: str, user: str, expected: bool) -> None:
    assert SlurmSource(Written(row(1, user=user), private=private)).snapshot().is_private is expected


def test_a_controller_that_refuses_is_an_error_and_asked_again() -> None:
    commands = Written(row(1))
    answer = commands.answers.pop("scontrol -o show node")
    slurm = SlurmSource(commands)
    with pytest.raises(ClusterError):
        slurm.snapshot()
    commands.answers["scontrol -o show node"] = answer
    assert slurm.snapshot().jobs


HTML = "<html>\n<body>502 Bad Gateway</body>\n</html>\n"


@pytest.mark.parametrize("bad", [HTML, "<html>502</html>\n", "\ufffd\x00\n" * 9, row(1)[:30] + "\n", HTML + row(1)])
def test_answer_that_is_none_fails_the_poll(bad: str) -> None:
    commands, slurm = polled()
    commands.jobs = bad
    with pytest.raises(ClusterError, match=r"squeue: \d of \d+ lines? of its answer cannot be read, first '"):
        slurm.snapshot()


@pytest.mark.parametrize(
    ("what", "bad"), [*((each, HTML) for each in ("config", "node", "partition", "res")), ("node", "")]
)
def test_answer_about_the_machine_that_is_none_fails_the_poll(what: str, bad: str) -> None:
    commands = Written(row(1))
    (line,) = [line for line in commands.answers if line.endswith(what)]
    commands.answers[line] = bad
    with pytest.raises(ClusterError, match="scontrol: "):
        SlurmSource(commands).snapshot()


def test_few_unreadable_lines_are_counted() -> None:
    broken = "99|99|99|RUN\n" + row(98).replace("RUNNING", "<b>")
    cluster = SlurmSource(Written("".join(map(row, range(1, 20))) + broken)).snapshot()
    assert (len(cluster.jobs), cluster.unread) == (19, 2)


def test_names_that_imitate_records_are_no_unreadable_lines() -> None:
    names = ("two\nlines", "x\n1|1|1|RUNNING|", "\n" * 99)
    cluster = SlurmSource(Written(row(1) + "".join(row(2 + at, name=name) for at, name in enumerate(names)))).snapshot()
    assert (len(cluster.jobs), cluster.unread) == (4, 0)


def test_many_imitated_records_in_one_name_count_once() -> None:
    cluster = SlurmSource(Written("".join(map(row, range(1, 20))) + row(20, name="x\n" + "99|\n" * 200))).snapshot()
    assert (len(cluster.jobs), cluster.unread) == (20, 1)


def test_text_that_is_too_long_for_a_name_is_counted() -> None:
    cluster = SlurmSource(Written("".join(map(row, range(1, 20))) + "<p>no</p>\n" * 900)).snapshot()
    assert (len(cluster.jobs), cluster.unread) == (19, 1)


def test_everything_is_requested_anew_after_an_outage() -> None:
    commands, slurm = polled()
    commands.jobs = HTML
    with pytest.raises(ClusterError):
        slurm.snapshot()
    commands.jobs = row(1)
    commands.answers["scontrol -o show node"] = "NodeName=n1 CPUTot=4 State=DOWN Partitions=batch\n"
    assert slurm.snapshot().node_of["n1"].is_gone


def test_no_accounting_is_no_history() -> None:
    assert SlurmSource(Written()).history(0) == ()


def test_a_line_of_accounting() -> None:
    line = "6_1|7|mail|biology|batch|normal|CANCELLED by 0|2026-11-23T21:37:47|2026-11-23T21:37:47|2026-11-23T21:37:48"
    job = ended(line + "|2026-11-23T21:38:48|00:01:00|2|1|n3|146|cpu=2,mem=2G|cpu=2,mem=3G,node=1|a|b")
    assert job is not None
    assert (job.id, job.state, job.nodes, job.name, job.limit) == ("6_1", "CANCELLED", ("n3",), "a|b", 60)
    assert job.tres == "cpu=2,mem=3G,node=1"
    assert job.end is not None
    assert job.start is not None
    assert job.end - job.start == 60
    assert ended(line + "|Unknown|00:01:00|2|1|n3|146|||a") is None
    assert ended("6_1|7") is None


# Commands


def test_a_command_that_is_missing_fails_or_hangs_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError, match="false: "):
        Commands().ask("false")
    with pytest.raises(ClusterError):
        Commands().ask("no-such-command-here")
    monkeypatch.setattr("sim.live.cluster.slurm.commands.PATIENCE", 0.05)
    with pytest.raises(ClusterError, match="no answer within"):
        Commands().ask("sleep", "5")


@pytest.mark.parametrize(
    ("script", "limit", "value", "told"),
    [
        ("printf 'half a line'", "PATIENCE", 60.0, "the end of its answer is missing"),
        ("while :; do echo endless; done", "MOST_BYTES", 10_000, "more than 10,000 bytes"),
        ("while :; do echo endless >&2; done", "MOST_BYTES", 10_000, "more than 10,000 bytes"),
        ("while :; do echo slow; sleep 0.01; done", "PATIENCE", 0.2, "no answer within"),
        ("exec >&- 2>&-; sleep 600", "PATIENCE", 0.2, "no answer within"),
        ("sleep 600 & echo $! >child; wait", "PATIENCE", 0.2, "no answer within"),
    ],
    ids=["cut", "endless", "errors", "slow", "silent", "child"],
)
def test_command_without_a_whole_answer_is_killed(
    script: str, limit: str, value: float, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\ncd {tmp_path}\necho $$ >own\n{script}\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(f"sim.live.cluster.slurm.commands.{limit}", value)
    with pytest.raises(ClusterError, match=told):
        Commands().ask("squeue")
    for process in (int(path.read_text()) for path in tmp_path.iterdir() if path.name in ("own", "child")):
        wait_for_end(process)


def is_alive(process: int) -> bool:
    """Return True if the process runs, False if it was killed, even if its parent has not collected it yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def wait_for_end(process: int) -> None:
    end = time.monotonic() + 30
    while is_alive(process):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_commands_see_one_time_zone_and_their_cost_is_counted() -> None:
    commands = Commands()
    assert commands.ask("printenv", "TZ") == "UTC\n"
    assert commands.spent > 0


@pytest.mark.parametrize("host", ["-oProxyCommand=touch", "a b", "x\x1b[m", "a\nb"])
def test_a_host_cannot_be_an_option(host: str) -> None:
    with pytest.raises(ClusterError, match="no name of a host"):
        Commands(host)


def test_ssh_gets_one_quoted_line_in_batch_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    commands = Commands("anna@login")
    said = commands.ask("squeue", "-o", "%i|%j").splitlines()
    commands.close()
    assert "-oBatchMode=yes" in said
    assert said[-3:-1] == ["--", "anna@login"]
    assert said[-1].endswith("squeue -o '%i|%j'")


def test_a_job_that_slurm_forgot_ends_as_the_accounting_says() -> None:
    commands, slurm = polled(row(1) + row(2) + row(3, "PENDING"))
    assert not any(line.startswith("sacct") for line in commands.asked)
    times = "2026-11-23T21:33:46|2026-11-23T21:33:46|2026-11-23T21:40:00|2026-11-23T21:45:00"
    commands.jobs = row(3, "PENDING")
    commands.history = "".join(
        f"{job}|{job}|anna|physics|batch|normal|{state}|{times}|00:10:00|2|1|n1|900|||a|b\n"
        for job, state in ((1, "TIMEOUT"), (9, "COMPLETED"))
    )
    cluster = slurm.snapshot()
    assert [(job.id, job.state) for job in cluster.jobs] == [("3", "PENDING"), ("1", "TIMEOUT")]
    assert [job.id for job in slurm.snapshot().jobs] == ["3"]
    assert sum(line.startswith("sacct") for line in commands.asked) == 1
