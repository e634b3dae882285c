from tui.classroom.web.access import AT_ONCE, Budget, Door, origins_of


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
