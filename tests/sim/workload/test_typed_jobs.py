import pytest

from sim.support.errors import ParameterError
from sim.workload.typed_jobs import PuzzleJob, parse_job


@pytest.mark.parametrize("text", ["5x10m@0", "2x1m30s/2m@1m", "1x1s@3d"])
def test_typed_job_is_written_as_it_was_read(text: str) -> None:
    assert parse_job(text, 5).text == text


def test_time_of_day_is_on_the_day_of_now() -> None:
    assert parse_job("1x1m@04:30", 1, now=2 * 86400.0 + 5) == PuzzleJob(1, 60, 2 * 86400 + 16200)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5x", "expected PROCESSORSxRUNTIME@SUBMIT like 5x10m@0, got '5x'"),
        ("11x1m", "needs 1 to 10 processors, got 11"),
        ("1x0", "run time and estimate must be at least 1 second"),
        ("1x1m@-d1", "'-d1' is no time from 0 to 100,000,000 seconds"),
    ],
)
def test_wrong_job_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as error:
        parse_job(text, 10)
    assert str(error.value) == said
