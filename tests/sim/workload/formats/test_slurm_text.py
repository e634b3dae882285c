import pytest

from sim.workload.formats.slurm_text import MOST_HOSTS, fields, hosts, records


@pytest.mark.parametrize(("text", "names"), [
    ("n1", ["n1"]), ("n[1-2,7]", ["n1", "n2", "n7"]), ("n[09-11]", ["n09", "n10", "n11"]),
    ("r[1-2]c[1-2]", ["r1c1", "r1c2", "r2c1", "r2c2"]), ("login,gpu[1]-ib,n3", ["login", "gpu1-ib", "n3"]), ("", []),
    ("(null)", []),
])  # fmt: skip
def test_hosts_are_spread_in_order(text: str, names: list[str]) -> None:
    assert list(hosts(text)) == names


@pytest.mark.parametrize("text", ["n[1-", "n[a-b]", "n[3-1]", "n]1[", "n[1-999999999]", "n[1-999]x[1-999]", "[[1]]"])
def test_hosts_keep_malformed_text_as_one_name(text: str) -> None:
    assert hosts(text) == (text,)


def test_odd_texts_are_bounded() -> None:
    text = ",".join(f"{letter}[1-{MOST_HOSTS // 2}]" for letter in "abc")
    assert hosts(text) == (text,)
    assert list(records("No reservations in the system", "ReservationName")) == []


def test_fields_and_records_begin_at_their_keys() -> None:
    record = fields("NodeName=n1 State=IDLE CPUTot=4 Reason=a b [root@x] Comment=State=DOWN CPUTot=9")
    assert (record["State"], record["CPUTot"], record["Reason"]) == ("IDLE", "4", "a b [root@x]")
    text = "NodeName=n1 Reason=see NodeName=n9\n   CPUTot=2\nNodeName=n2 CPUTot=4\n"
    assert [record["NodeName"] for record in records(text, "NodeName")] == ["n1", "n2"]
