"""The text output of Slurm's commands: captured from two versions, and made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.workload.formats.slurm_text import MOST_HOSTS, cpus_of_nodes, fields, hosts, records


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-2,7]", ["n1", "n2", "n7"]),
        ("n[09-11]", ["n09", "n10", "n11"]),
        ("r[1-2]c[1-2]", ["r1c1", "r1c2", "r2c1", "r2c2"]),
        ("login,gpu[1]-ib,n3", ["login", "gpu1-ib", "n3"]),
        ("", []),
        ("(null)", []),
    ],
)
def test_hosts_are_spread_in_order(text: str, names: list[str]) -> None:
    assert list(hosts(text)) == names


@pytest.mark.parametrize("text", ["n[1-", "n[a-b]", "n[3-1]", "n]1[", "n[1-999999999]", "n[1-999]x[1-999]", "[[1]]"])
def test_hosts_keep_malformed_text_as_one_name(text: str) -> None:
    assert hosts(text) == (text,)


def test_hosts_are_bounded_over_all_parts() -> None:
    text = ",".join(f"{letter}[1-{MOST_HOSTS // 2}]" for letter in "abc")
    assert hosts(text) == (text,)


def test_fields_of_a_comment_replace_no_field() -> None:
    record = fields("NodeName=n1 State=IDLE CPUTot=4 Reason=a b [root@x] Comment=State=DOWN CPUTot=9")
    assert (record["State"], record["CPUTot"], record["Reason"]) == ("IDLE", "4", "a b [root@x]")


@pytest.mark.parametrize("version", ["v22.05", "v24.11"])
def test_nodes_are_the_same_on_one_line_and_on_several(shared: Path, version: str) -> None:
    captures = shared / "slurm" / "captures" / version
    series = sorted((captures / "series").glob("*.nodes"))
    expected = {f"n{number}": 4 for number in range(1, 9)}
    assert series
    assert all(cpus_of_nodes(file.read_text()) == expected for file in series)
    if (several := captures / "snap1" / "scontrol-node.txt").exists():
        assert cpus_of_nodes(several.read_text()) == expected


def test_nodes_that_do_not_exist_yet_are_left_out() -> None:
    text = "NodeName=n1 CPUTot=4 State=IDLE+CLOUD\nNodeName=n2 CPUTot=4 State=FUTURE\nNodeName=n3 CPUTot=x State=IDLE\n"
    assert cpus_of_nodes(text) == {"n1": 4}


def test_records_begin_at_their_key_only_at_the_start_of_a_line() -> None:
    text = "NodeName=n1 Reason=see NodeName=n9\n   CPUTot=2\nNodeName=n2 CPUTot=4\n"
    assert [record["NodeName"] for record in records(text, "NodeName")] == ["n1", "n2"]


def test_text_without_records_has_none() -> None:
    assert list(records("No reservations in the system", "ReservationName")) == []
