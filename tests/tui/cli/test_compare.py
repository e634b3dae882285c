"""Also tests sim.comparison.comparison_sentences."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sim.comparison import comparison_sentences as parted
from sim.support.errors import ParameterError
from sim.workload.source import Source
from sim.workload.transforms import Transforms
from tests.tui.cli.program import schedscope
from tui.cli.compare import Form, Pair, Wanted, as_json, render, run_pair, wanted_pair
from tui.look import text


def page(
    sample: str, first: str, second: str, at: float | None = None, width: int = 80, unicode: bool = True,
    form: Form = "table",
) -> str:  # fmt: skip
    pair = wanted_pair(Source(sample), (first, second), at, "lowest", False, Wanted())
    return as_json(Source(sample), pair, "lowest") if form == "json" else render(pair, width, unicode)


def found(sample: str, first: str, second: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(page(sample, first, second, form="json"))
    return read


@cache
def pair_of(sample: str, first: str, second: str, at: float | None = None) -> Pair:
    return run_pair(Source(sample).read()[1], (first, second), at, "lowest", False)


def headline(sample: str, first: str, second: str, at: float | None = None) -> str:
    pair = pair_of(sample, first, second, at)
    assert pair.parting is not None
    return parted.headline(pair.parting, pair.names, pair.accounts)


def test_the_whole_page_of_a_small_figure() -> None:
    """Zhang's figure 4: EASY lets job 5 pass."""
    assert page("z-figure4", "fcfs", "easy") == (
        "z-figure4 · 5 jobs · 10 processors\n"
        "fcfs against easy\n"
        "══════════════════════════════════\n"
        "\n"
        "First difference at d0 00:10:00 (step 6): J5\n"
        "  fcfs  J5 waits: needs 5, 6 free, and the policy stopped at J3\n"
        "  easy  J5 is backfilled on 5 processors: ends at 00:18:20, before J3's start at\n"
        "        00:20:00\n"
        "\n"
        "                          fcfs      easy     change\n"
        "mean wait                15m42     11m42 *  -25.5 %\n"
        "worst wait               29m30     29m30\n"
        "mean turnaround          28m20     24m20 *  -14.1 %\n"
        "mean slowdown             2.49      2.01 *  -19.3 %\n"
        "mean bounded slowdown     2.49      2.01 *  -19.3 %\n"
        "worst bounded slowdown    4.52      2.97 *  -34.4 %\n"
        "utilization             71.3 %    71.3 %\n"
        "loss of capacity        17.8 %     8.5 % *  -52.1 %\n"
        "makespan                 45m00     45m00\n"
        "backfilled (jobs)            0         1\n"
        "\n"
        "R = (s1 - s2) / min(s1, s2) of mean slowdowns: above 0 easy is better\n"
        "  by estimate: all +0.24   short +0.27   medium +0.00\n"
        "  bounded, by run time   1 proc     2-8   9-32   > 32\n"
        "    0-10 min                  –   +0.39      –      –\n"
        "    10 min-1 h                –   +0.00      –      –\n"
        "\n"
        "With easy jobs                          median    most   in all\n"
        "  start earlier            1   20.0 %    20m00   20m00    20m00\n"
        "  start later              0    0.0 %\n"
        "  start at the same time   4   80.0 %\n"
        "Waits: 1h18 - 20m00 saved + 0s added = 58m30\n"
        "\n"
        "  starts by                          earlier   later\n"
        "  10m to 1h       ████████████████████████ 1 │ 0\n"
        "\n"
        "Waits of the jobs that gain and lose most with easy\n"
        "      procs  estimate   fcfs  easy   ends\n"
        "  J5      5      8m20  29m20  9m20  20m00  earlier"
    )


def test_odd_comparisons_are_refused_or_short() -> None:
    assert page("z-figure4", "easy", "easy:order=sjf").endswith(
        "Both schedules are the same: every job starts and ends at the same time."
    )
    with pytest.raises(ParameterError, match="no switch at d0 01:00:00: the run ends at d0 00:45:00"):
        page("z-figure4", "fcfs", "easy", at=3600)
    with pytest.raises(ParameterError, match="did you mean 'easy'"):
        page("no such trace", "fcfs", "eazy")
    few = Source("z-figure4", transforms=Transforms(jobs=1))
    assert "the same" in render(wanted_pair(few, ("fcfs", "easy"), None, "lowest", True, Wanted()), 80)


def test_a_switch_says_when_the_second_takes_over() -> None:
    """At 600 EASY takes over from FCFS and lets job 5 pass; a minute later it is too late for any advantage."""
    late = page("z-figure4", "fcfs", "easy", at=660)
    assert "fcfs against easy, which takes over at d0 00:11:00" in late
    assert "First difference at d0 00:11:00 (steps 6 and 7): J5" in late
    assert "fcfs  J5 waits: needs 5, 6 free, and the policy stopped at J3" in late


PAIRS = [
    ("lublin-128", "easy", "conservative", None),
    ("lublin-128", "gang:slice=60", "gang-migrate", None),
    ("lublin-128", "selective:sf=3", "tunable", 400_000.0),
    ("lublin-128", "recorded", "multiqueue", None),
]


@pytest.mark.parametrize(("sample", "first", "second", "at"), PAIRS)
@pytest.mark.parametrize("unicode", [True, False])
def test_lines_have_at_most_80_columns(sample: str, first: str, second: str, at: float | None, unicode: bool) -> None:
    drawn = render(pair_of(sample, first, second, at), 80, unicode)
    lines = drawn.split("\n")
    assert max(map(text.cells, lines)) <= 80
    assert len(lines) <= 62
    assert all(line == line.rstrip() for line in lines)
    assert unicode or drawn.isascii()
    assert unicode or "?" not in drawn


def test_names_that_would_move_the_cursor_are_made_harmless(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    jobs = ("a,0,3,60,60", "b,1,4,60,60", "c\x1b[2J,2,1,30,30")
    path.write_text("\n".join(["job,submit,procs,estimate,runtime", *jobs]), encoding="utf-8")
    drawn = page(str(path), "fcfs", "easy")
    assert "c?[2J is backfilled" in drawn
    assert "\x1b" not in drawn + headline(str(path), "fcfs", "easy")


def test_where_no_end_moves_there_is_no_table_of_how_far(tmp_path: Path) -> None:
    """EASY lets J3 pass, but its processors go down. It starts again when it would under FCFS, because J1 is cancelled
    then."""
    path = tmp_path / "shrinks.csv"
    jobs = ("1,0,6,100,100", "2,5,8,100,100", "3,10,4,50,50")
    path.write_text("\n".join(["job,submit,procs,estimate,runtime", *jobs]), encoding="utf-8")
    both = ("--policy", "fcfs", "--policy", "easy")
    told = schedscope("compare", str(path), "--procs", "10", "--machine", "20=5", *both).stdout
    assert told.endswith("Waits: 10s - 10s saved + 0s added = 0s\n")
    assert " ends by " not in told


def test_how_many_never_end_stands_above_the_means_of_the_others(tmp_path: Path) -> None:
    """J2 and J3 need more than the 5 processors that are left from 50 on; under EASY, J3 has ended before."""
    path = tmp_path / "shrinks.csv"
    jobs = ("1,0,3,20,20", "2,5,8,100,100", "3,10,7,5,5")
    path.write_text("\n".join(["job,submit,procs,estimate,runtime", *jobs]), encoding="utf-8")
    both = ("--policy", "fcfs", "--policy", "easy")
    told = schedscope("compare", str(path), "--procs", "10", "--machine", "50=5", *both).stdout.split("\n")
    above = next(place for place, line in enumerate(told) if line.startswith("unfinished (jobs)"))
    assert told[above].split() == ["unfinished", "(jobs)", "2", "1", "-50.0", "%"]
    assert told[above + 1].startswith("mean turnaround")


def test_two_policies_are_compared_with_where_they_part() -> None:
    done = schedscope("compare", "z-figure4", "--policy", "fcfs", "--policy", "easy")
    assert (done.returncode, done.stderr) == (0, "")
    assert "J5" in done.stdout
    late = schedscope("compare", "z-figure4", "--policy", "fcfs", "--policy", "easy", "--at", "40m")
    assert "J5" not in late.stdout


# Two versions of a file
def test_all_differences_are_listed_and_fewest_jobs_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schedscope("new", "fair.py")
    schedscope("new", "fair_old.py")
    new = Path("fair.py").read_text()
    Path("fair.py").write_text(new.replace("elif job.procs <= extra:", "elif job.procs < extra:"))
    both = ("--policy", "./fair_old.py", "--policy", "./fair.py")
    page = schedscope("compare", "lublin-128", "--jobs", "150", *both, "--decisions", "--smallest").stdout
    assert re.search(r"^First difference at d0 12:41:52 \(step 76\): J23 and J37$", page, re.M)
    assert re.search(r"^They decide differently about \d+ jobs$", page, re.M)
    assert page.count("J23 is backfilled on 16 processors") == 2  # at the first difference, and in the list
    assert "The fewest jobs found on which they differ: " in page
    assert "  schedscope compare differ.swf --policy ./fair_old.py --policy ./fair.py\n" in page
    again = json.loads(schedscope("compare", "differ.swf", *both, "--format", "json").stdout)
    assert again["jobs"] <= 4
    assert again["different"][0]["first"]["told"].startswith("J")


def test_without_a_difference_none_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    same = ("--policy", "easy", "--policy", "easy:depth=1", "--smallest")
    page = schedscope("compare", "z-figure4", *same).stdout
    assert "No difference found on 200 random small workloads." in page
    assert list(tmp_path.iterdir()) == []


def test_one_policy_is_compared_with_its_run_of_changed_jobs() -> None:
    told = schedscope("compare", "z-figure4", "--policy", "easy", "--without", "J3", "--add", "5x10m@0").stdout
    assert "main        easy\nwithout J3  easy; without J3; with 5x10m@0\n" in told
    assert "Only main has J3; only without J3 has J6. Waits and slowdowns are of jobs" in told
    assert "\nWithout J3 jobs " in told
    found = json.loads(
        schedscope("compare", "z-figure4", "--policy", "easy", "--without", "3", "--format", "json").stdout
    )
    assert found["changes"] == {"without": "3"}
    assert [each["job"] for each in found["parted"]["second"]["only"]] == ["4"]
    assert {each["job"]: each["waits"] for each in found["gained"] + found["lost"]} == {
        "4": [1770.0, 570.0], "5": [560.0, 1160.0]
    }  # fmt: skip


def test_schedules_made_elsewhere_are_compared(tmp_path: Path) -> None:
    schedscope("run", "z-figure4", "--policy", "easy", "--schedule", tmp_path / "easy.csv")
    schedscope("run", "z-figure4", "--policy", "fcfs", "--schedule", tmp_path / "fcfs.csv")
    files: list[str | Path] = ["--recorded", tmp_path / "easy.csv", "--recorded", tmp_path / "fcfs.csv"]
    done = schedscope("compare", "z-figure4", "--policy", "easy", *files[:2], "--exit-code")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0, "Both schedules are the same: every job starts and ends at the same time.",
    )  # fmt: skip
    done = schedscope("compare", "z-figure4", *files, "--exit-code")
    assert done.returncode == 3
    assert "easy.csv against fcfs.csv" in done.stdout
    assert "  fcfs.csv  J5 waits: its recorded start is 00:30:00" in done.stdout
    told = json.loads(schedscope("compare", "z-figure4", "--policy", "easy", *files[2:], "--format", "json").stdout)
    assert told["policies"] == ["easy", "recorded"]
    done = schedscope("compare", "z-figure4", *files, "--at", "600")
    assert (done.returncode, "--recorded goes without --at" in done.stderr) == (2, True)
