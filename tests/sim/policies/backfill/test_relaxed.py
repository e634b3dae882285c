import pytest

from sim.decisions.decisions import Backfill
from sim.decisions.reasons import InWindow, WhenFree
from sim.decisions.reasons_to_wait import TooFewFree, WindowCloses
from tests.sim.conftest import Lab

# Four processors. Job 1 holds three until 10, job 2 needs all four for 10 s; at 2 it has 8 s to wait.
HEAD = ("1 0 3 10 10", "2 1 4 10 10")


@pytest.mark.parametrize(
    ("omega", "estimate", "passes"),
    [
        ("0", 1, False),
        ("1", 8, True),  # the window closes at 2 + 8
        ("1", 9, False),
        ("2", 16, True),  # at 2 + 2 * 8
        ("2", 17, False),
        ("inf", 1000, True),
    ],
)
def test_a_job_passes_if_it_ends_before_the_window_closes(lab: Lab, omega: str, estimate: int, passes: bool) -> None:
    starts = lab.starts(f"relaxed:omega={omega},order=fcfs", 4, *HEAD, f"3 2 1 {estimate} {estimate}")
    late = {"1": 0, "2": max(10, 2 + estimate), "3": 2}
    assert starts == (late if passes else {"1": 0, "2": 10, "3": 20})


@pytest.mark.parametrize(
    ("omega", "estimate", "passes"),
    [
        ("0", 1, False),  # 8 - 10: the window has closed before it opened
        ("1", 8, True),
        ("1.5", 13, True),  # the head may slip by half its estimate: the window is 8 + 5
        ("1.5", 14, False),
        ("inf", 1000, True),
    ],
)
def test_a_window_may_be_relative_to_the_heads_run_time(lab: Lab, omega: str, estimate: int, passes: bool) -> None:
    spec = f"relaxed:omega={omega},relative=runtime,order=fcfs"
    starts = lab.starts(spec, 4, *HEAD, f"3 2 1 {estimate} {estimate}")
    assert starts["3"] == (2 if passes else 20)


@pytest.mark.parametrize(("estimate", "passes"), [(16, True), (17, False)])
def test_a_window_may_be_relative_to_the_cpu_hours_of_the_head(lab: Lab, estimate: int, passes: bool) -> None:
    # The head wants 4 of 5 processors for 15 s: 12 s of all of them. It can start at 10: the window is 8 + 12 * 2/3.
    jobs = ("1 0 4 10 10", "2 1 4 15 15", f"3 2 1 {estimate} {estimate}")
    spec = "relaxed:omega=1.6666666666666667,relative=cpu"
    assert lab.starts(spec, 5, *jobs)["3"] == (2 if passes else 10)


def test_the_reasons_carry_the_window(lab: Lab) -> None:
    engine = lab.run("relaxed:omega=2,order=fcfs", 5, *HEAD, "3 2 1 16 16", "4 2 1 17 17", "5 2 2 1 1", until=2)
    head = engine.moment.jobs[1]
    assert lab.reservations(engine, "2") == [(10, WhenFree(free=2, then=5))]
    assert lab.start(engine, "3") == Backfill(engine.moment.jobs[2], InWindow(head, ends=18, closes=18))
    assert lab.kept(engine, "4") == WindowCloses(head, ends=19, closes=18)
    assert lab.kept(engine, "5") == TooFewFree(free=1)
