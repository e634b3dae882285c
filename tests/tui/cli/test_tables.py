from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.sim.lab.test_pivot import file
from tests.tui.cli.program import schedscope
from tui.annexes import module_of
from tui.cli.terminal import split, wrapped_table


def test_tables_are_split_and_wrapped() -> None:
    rows = [["load", "wait", "", "slowdown"], ["1", "10", "!", "2.5"]]
    assert split(rows, 12) == ["load  wait", "1       10  !", "", "load  slowdown", "1          2.5"]
    assert split(rows, None) == ["load  wait     slowdown", "1       10  !       2.5"]
    rows = [["policy", "meaning", "from"], ["easy", "jobs may pass the head of the queue", "ZKP sections 2 and 6"]]
    lines = wrapped_table(rows, 40)
    assert max(map(len, lines)) <= 40
    assert [line.split("  ")[0] for line in lines[:2]] == ["policy", "easy"]
    assert set(" ".join(rows[1][1:]).split()) <= set(" ".join(lines).split())
    assert wrapped_table(rows, None)[1] == "easy    jobs may pass the head of the queue  ZKP sections 2 and 6"
    told = schedscope("policies", "ward").stdout
    assert "W: Ward, Mahood & West 2002" in told
    assert "ZKP" not in told


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["results", "FILE"], ["mean wait (s)", "95 % of bounded slowdowns", "utilization"]),
        (
            ["results", "FILE", "--rows", "policy", "--columns", "load", "--value", "mean_wait", "--against", "easy"],
            ["95 % by bootstrap"],
        ),
        (["run", "z-figure4", *6 * ["--policy", "conservative:compress=queue"]], ["utilization", "* the best"]),
        (["policies"], ["conservative", "gang-migrate-backfill", "what it does"]),
        (["policies", "easy"], ["order of the queue"]),
        (["metrics"], ["mean_wait", "better"]),
        (["papers"], ["zkp-table-2", "what it is", "needs"]),
    ],
)
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], kept: Sequence[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file(tmp_path / "FILE").__exit__()
    for command in ("results", "run", "policies", "metrics", "papers"):
        monkeypatch.setattr(f"{module_of(command)}.seen_columns", lambda: 80)
    done = schedscope(*words)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert all(each in done.stdout for each in kept)
