import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sim.live.cluster.recording import PollRecorder, Recording
from sim.live.cluster.values import Cluster
from sim.policies.policy import full_policy
from sim.policies.registry import parse_policy
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS
from tests.tui.cli.program import error, schedscope


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """Return the path of a recording in which a job of two nodes starts 10 s later than the model forecasts and 90 s
    before Slurm's date."""
    recorder = PollRecorder(tmp_path / "week.slog")
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2", start=NOW + 400)
    held = replace(WAITS, id="9", reason="Job\x1bHeldUser")
    for minute in range(3):
        recorder.add(Cluster(NOW + 60 * minute, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, wide, held)))
    started = replace(wide, state="RUNNING", start=NOW + 310, nodes=("n1", "n2"))
    recorder.add(Cluster(NOW + 330, nodes=NODES_, partitions=(BATCH,), jobs=(started,)))
    recorder.close()
    return str(tmp_path / "week.slog")


def test_scores_are_told_as_table_and_json(recording: str) -> None:
    told = schedscope("score", recording).stdout
    assert told.startswith("3 forecasts of 1 job that started, by every model, at 4 moments in 5m30\n")
    lines = [line.split() for line in told.splitlines()]
    assert ["nodes", "and", "limits", "10s", "10s", "100.0", "%", "100.0", "%", "0.0", "%"] in lines
    assert ["Slurm's", "own", "1m30", "1m30", "0.0", "%", "100.0", "%", "0.0", "%"] in lines
    assert ["forecasts", "2", "1"] in lines  # by the wait that came
    assert ["forecasts", "1", "2"] in lines  # by Slurm's date
    assert "No forecast for jobs that waited for Job?HeldUser (1)." in told
    told = json.loads(schedscope("score", recording, "--format", "json", "--every", "120").stdout)
    assert (told["common"], told["jobs"], told["moments"]) == (2, 1, 3)
    assert {row["name"]: row["median"] for row in told["rows"]} == {
        "Slurm's own": 90, "nodes and limits": 10, "and learnt run times": 10,
        "between these two": 10,
    }  # fmt: skip
    code, said = error("score", recording, "--policy", "gang")
    assert (code, said.partition(";")[0]) == (2, "gang counts processors, so it cannot replay a recording on its nodes")
    command = said.partition("schedscope ")[2].partition(" has equal")[0].split()
    assert schedscope(*command).returncode == 0


def test_starts_are_scored_where_slurm_expects_none(recording: str, tmp_path: Path) -> None:
    with closing(PollRecorder(tmp_path / "none.slog")) as recorder:
        for picture in Recording(recording).pictures():
            jobs = (replace(job, start=None) if job.is_waiting else job for job in picture.jobs)
            recorder.add(replace(picture, jobs=tuple(jobs)))
    told = schedscope("score", str(tmp_path / "none.slog")).stdout
    assert told.startswith("3 forecasts of 1 job that started, by every model, at 4 moments")
    assert "Slurm's own" not in told
    assert "\nSlurm expected no start.\n" in told


def test_a_replay_under_a_policy_is_compared_with_the_recorded_starts(recording: str) -> None:
    told = schedscope("score", recording, "--policy", "slurm").stdout
    assert told.startswith("starts under slurm, compared with the recorded starts\n")
    lines = [line.split() for line in told.splitlines()]
    assert ["all", "jobs", "2"] in [line[:3] for line in lines]
    found = json.loads(schedscope("score", recording, "--policy", "conservative", "--format", "json").stdout)
    assert found[0]["reason"] == "all jobs"
    assert found[0]["near"] + found[0]["earlier"] + found[0]["later"] == pytest.approx(1)


def test_nothing_to_score_is_one_line(tmp_path: Path) -> None:
    PollRecorder(tmp_path / "x.slog").close()
    code, line = error("score", tmp_path / "x.slog")
    assert code == 1
    assert "no forecast can be scored" in line
    assert error("score", tmp_path / "none.slog")[0] == 1


def test_figure_has_a_bar_for_each_forecast(recording: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "score.svg"
    schedscope("score", recording, "-o", str(out))
    drawn = out.read_text(encoding="utf-8")
    for words in ("Slurm's own", "nodes and limits", "by the wait that came", "too early", "median error"):
        assert words in drawn


def test_the_weights_of_a_site_are_those_of_its_configuration(recording: str, tmp_path: Path) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("PriorityWeightAge=500\nPriorityWeightQOS=7\n", encoding="utf-8")
    run = schedscope("score", recording, "--slurm-conf", str(conf))
    assert run.stdout.startswith("starts under slurm:age=500,fairshare=0,size=0,qos=7,shares=tree, compared")
    assert "weights of which a recording does not say enough: QOS and the tree of accounts" in run.stderr
    code, said = error("score", recording, "--policy", "easy", "--slurm-conf", str(conf))
    assert (code, said.partition(";")[0]) == (2, "--slurm-conf is for the policy slurm")


def test_slurm_has_the_weights_that_the_recording_holds(recording: str, tmp_path: Path) -> None:
    path = tmp_path / "told.slog"
    recorder = PollRecorder(path)
    told = "PriorityWeightAge=500\nPriorityFlags=NO_FAIR_TREE\nSchedulerParameters=bf_interval=5"
    for picture in Recording(recording).pictures():
        recorder.add(replace(picture, settings=told))
    recorder.close()
    for spec, shown in (
        ("slurm", "slurm:age=500,fairshare=0,size=0,shares=accounts,bf_interval=5"),
        ("slurm:size=7", "slurm:size=7"),
    ):
        said = schedscope("score", str(path), "--policy", spec).stdout
        assert said.startswith(f"starts under {shown}, compared with the recorded starts\n")
        run = json.loads(schedscope("run", str(path), "--policy", spec, "--format", "json").stdout)["policies"][0]
        assert (run["policy"], run["parameters"]) == (spec, full_policy(parse_policy(shown)))
        why = json.loads(schedscope("explain", str(path), "2", "--policy", spec, "--format", "json").stdout)
        assert why["policy"] == run["parameters"]


def test_a_series_of_squeue_becomes_a_recording(shared: Path, tmp_path: Path) -> None:
    captures = shared / "slurm" / "captures" / "v24.11"
    made = str(tmp_path / "made.slog")
    paths = ["--read", str(captures / "series"), "--read", str(captures / "final.sacct")]
    told = schedscope("live", *paths, "-o", made).stdout
    assert "33 polls in 8m09, at most 16s apart, 70 jobs of sacct; nothing was read from 66 files" in told
    score = json.loads(schedscope("score", made, "--format", "json").stdout)
    assert score["common"] >= 40
    assert "exists already" in error("live", *paths, "-o", made)[1]
    assert "name it with -o" in error("live", *paths)[1]
