"""Forecasts for all waiting jobs of a polled cluster, with their ranges, and the score of the last day.

Also tests sim.live.forecast.expected, sim.live.forecast.words.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.live.cluster.dates import date
from sim.live.cluster.values import Cluster, ClusterJob, Limit
from sim.live.forecast.board import DAY, Board, Forecasts
from sim.live.forecast.expected import Expected, expected, why_unknown
from sim.live.forecast.past import PastJobs
from sim.live.forecast.words import forecast_lines, score_line
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, SHORT, WAITS

WIDE = replace(WAITS, cpus=8, tres="cpu=8,mem=80M,node=2", start=NOW + 500)


def cluster(*jobs: ClusterJob, at: float = NOW) -> Cluster:
    return Cluster(at, nodes=NODES_, partitions=(BATCH, SHORT), jobs=jobs)


def ended(number: int, share: float) -> ClusterJob:
    start = NOW - 9000.0 - number
    return replace(RUNS, id=f"e{number}", state="COMPLETED", start=start, end=start + share * 600)


def test_without_a_past_every_job_runs_to_its_limit() -> None:
    assert expected(cluster(RUNS, WIDE), PastJobs()) == {"2": Expected(NOW + 300, NOW + 300, NOW + 300)}


def test_span_is_between_short_jobs_and_limits() -> None:
    past = PastJobs(ended(number, share) for number, share in enumerate([0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0]))
    low, middle, high = expected(cluster(RUNS, WIDE), past)["2"]
    assert (round(low - NOW), round(high - NOW)) == (30, 300)
    assert low < middle < high


def test_each_reason_without_a_forecast_is_named() -> None:
    held = replace(WIDE, reason="JobHeldUser")
    assert why_unknown(cluster(RUNS, held), held) == "it waits for JobHeldUser, which is not modelled"
    limited = replace(WIDE, reason="AssocGrpCpuLimit")
    assert why_unknown(cluster(RUNS, limited), limited) == "it waits for AssocGrpCpuLimit, and that limit is not known"
    known = replace(cluster(RUNS, limited), limits=(Limit("account", "physics", "GrpTRES=cpu", 3, 3),))
    assert "does not fit" in why_unknown(known, limited)
    assert "hidden" in why_unknown(replace(cluster(WIDE), is_private=True), WIDE)
    assert "nodes are not known" in why_unknown(Cluster(NOW, jobs=(WIDE,)), WIDE)


def judged(*, error: float = 40.0) -> tuple[Board, Forecasts]:
    """Return a board and its last forecasts, after 25 jobs that each started `error` seconds later than forecast."""
    board, made = Board(every=60.0), Forecasts(NOW, {}, {})
    for number in range(26):
        at = NOW + 1000.0 * number
        runs = replace(RUNS, id=f"r{number}", start=at - 300, end=at + 300)
        waits = replace(WIDE, id=f"w{number}", submit=at - 60, start=at + 400)
        made = board.add(cluster(runs, waits, at=at))
        if number < 25:
            began = replace(waits, state="RUNNING", start=at + 300 + error, nodes=("n1", "n2"))
            board.keep(cluster(began, at=at + 600))
    return board, made


def test_forecasts_of_the_last_day_are_scored_beside_slurms() -> None:
    _, made = judged()
    assert made.ours is not None
    assert made.slurm is not None
    assert (made.ours.forecasts, made.ours.median, made.ours.far, made.ours.early) == (25, 40.0, 1.0, 0.0)
    assert made.slurm.median == 60.0
    assert score_line(made).startswith(
        "In the last day 100 % of our forecasts were within 10m00 of the start (0 % too early), and 100 % of Slurm's"
    )


def test_range_follows_from_earlier_errors() -> None:
    _, made = judged()
    low, high = made.ranges["w25"]
    assert low <= made.starts["w25"].middle < made.starts["w25"].middle + 40 <= high
    assert made.span("w25") == (low, high)
    assert made.inside is None, "only five starts had a range"
    text = list(forecast_lines(cluster(replace(WIDE, id="w25"), at=made.at), replace(WIDE, id="w25"), made))
    assert "for 80 % of such jobs" in text[0]


def test_forecast_of_an_end_after_the_deadline_says_so() -> None:
    due = NOW + 300 + 600.0
    soon = replace(WIDE, limit=600.0, deadline=due - 1)
    (told,) = forecast_lines(cluster(RUNS, soon), soon, Board().add(cluster(RUNS, soon)))
    assert told.endswith(f"for a range; it would then end after its deadline, {date(due - 1, NOW)}.")
    late = replace(soon, deadline=due)
    assert "deadline" not in "".join(forecast_lines(cluster(RUNS, late), late, Board().add(cluster(RUNS, late))))


def test_start_that_no_picture_shows_is_scored_once_the_job_is_learnt() -> None:
    board = Board(every=0.0)
    board.keep(cluster(RUNS, WIDE))
    ended = replace(WIDE, state="COMPLETED", start=NOW + 340, end=NOW + 400, nodes=("n1", "n2"))
    board.learn([ended])
    made = board.add(cluster(at=NOW + 1000))
    assert made.ours is not None
    assert (made.ours.forecasts, made.ours.median) == (1, 40.0)


def test_starts_of_an_earlier_day_are_forgotten() -> None:
    board, _ = judged()
    assert board.add(cluster(at=NOW + 26_000 + DAY)).ours is None


def test_job_without_a_forecast_is_told_why() -> None:
    held = replace(WIDE, reason="JobHeld\x1bUser")
    made = Board().add(cluster(RUNS, held))
    assert list(forecast_lines(cluster(RUNS, held), held, made)) == [
        "No forecast of ours: it waits for JobHeld?User, which is not modelled."
    ]
    assert made.span("2") is None


def test_past_job_counts_once_and_ids_are_remembered_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.live.forecast.past.MOST_KNOWN", 3)
    board = Board()
    board.learn(ended(number, 0.5) for number in (1, 2, 3, 3, 2))
    assert len(board.past) == 3
    board.learn(ended(number, 0.9) for number in (3, 4, 5, 6))
    assert len(board.past) == 3
    assert board.past.length(RUNS, 0.0) == 300, "all six run times are still known"
