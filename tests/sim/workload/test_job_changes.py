import pytest

from sim.support.errors import ParameterError
from sim.workload.job_changes import JobChanges, PuzzleJob, parse_job

OPTIONS = {"without": "J3990; 12", "change": "J17:procs=4,estimate=2h; w0!3:submit=2.5", "add": "5x10m@3d; 1x1s/2s@0"}


def test_changes_are_written_as_they_were_read() -> None:
    assert JobChanges.of_options(**OPTIONS).options == OPTIONS


def test_changes_in_words_follow_the_policy() -> None:
    told = "without J3990, 12; J17:procs=4,estimate=2h; w0!3:submit=2.5; with 5x10m@3d; with 1x1s/2s@0"
    assert str(JobChanges.of_options(**OPTIONS)) == told


def test_later_changes_replace_earlier_ones_of_the_same_job() -> None:
    both = JobChanges.of_options(**OPTIONS) + JobChanges.of_options("17; J12", "w0!3:submit=1,run=5", "2x1m@0")
    assert both.options == {
        "without": "J3990; J12; 17", "change": "w0!3:submit=1s,run=5s", "add": "5x10m@3d; 1x1s/2s@0; 2x1m@0"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("change", "J3", "expected JOB:FIELD=VALUE like J17:procs=4,estimate=2h, got 'J3'"),
        ("change", "J3:procs=4,x", "expected FIELD=VALUE like procs=4,estimate=2h, got 'x'"),
        ("change", "J3:width=4", "no field 'width', there are procs, estimate, run, submit"),
        ("change", "J3:estimat=4", "did you mean 'estimate'?"),
        ("change", "J3:procs=2.5", "procs is a whole number of at least 1, got '2.5'"),
        ("change", "J3:run=0", "run is at least 1 second, got '0'"),
        ("change", "J3:run=1,run=2", "run is given twice in 'run=1,run=2'"),
        ("change", "J3:submit=soon", "a time is seconds or like"),
        ("without", "J3; 3", "3 is withdrawn or changed twice: name it once"),
    ],
)
def test_wrong_changes_are_refused_in_a_line(option: str, text: str, said: str) -> None:
    with pytest.raises(ParameterError) as error:
        JobChanges.of_options(**{option: text})
    assert said in str(error.value)


def test_id_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ParameterError, match="id has a semicolon"):
        JobChanges(("a; b",))


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
