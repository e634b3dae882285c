import re

from tui.classroom.web.access import AT_ONCE, Budget, Door, origins_of
from tui.classroom.web.limits import TRIES


def test_floods_wait_and_end() -> None:
    time = 0.0
    budget = Budget(lambda: time)
    assert budget.wait_for(AT_ONCE) == 0
    assert budget.wait_for(8000) == 1.0
    time = 1.0
    assert budget.wait_for(10) > 0
    time = 100.0
    assert budget.wait_for(AT_ONCE) == 0
    assert not budget.is_flood
    time = 0.0
    budget = Budget(lambda: time)
    sent = 0
    while not budget.is_flood:
        time += budget.wait_for(6000)
        sent += 1
    assert 10 < sent < 50
    time += 60
    assert budget.wait_for(10) == 0
    assert not budget.is_flood


def test_doors_open_to_their_names_and_words() -> None:
    door = Door(origins_of("127.0.0.1", 8000))
    assert door.knows_host({"Host": "LOCALHOST:8000"})
    for name in ("localhost", "localhost:80", "127.0.0.1:8000.evil.test", "evil.test", ""):
        assert not door.knows_host({"Host": name})
    for origin in ("https://localhost:8000", "http://localhost:8000/", "http://localhost:8000.evil", "null", ""):
        assert not door.knows_origin({"Origin": origin})
    assert not door.knows_origin({})
    door = Door(frozenset())
    assert door.opens(door.token)
    assert door.opens(door.teacher)
    assert not door.opens("")
    assert door.leads(door.teacher)
    assert not door.leads(door.token)
    assert Door(frozenset()).token != door.token


def test_a_code_opens_until_its_address_has_to_wait() -> None:
    door = Door(frozenset(), code="maple-river-42")
    for _ in range(20):
        assert door.refusal("", "here") == "Type the code of your class."
    assert door.refusal("Maple River 42", "here") == ""
    for _ in range(TRIES):
        assert "not the code" in door.refusal("maple-river-43", "here")
    for word in ("maple-river-42", "maple-river-43"):
        assert re.fullmatch(
            r"Too many wrong codes .* Wait \d+ seconds, then type the code again\.", door.refusal(word, "here")
        )
    assert door.refusal(door.token, "here") == ""
    assert door.refusal(door.teacher, "here") == ""
    assert door.refusal("maple-river-42", "there") == ""
