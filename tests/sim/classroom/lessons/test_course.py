import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sim.classroom.lessons.lesson import ORDER, PAPERS, Lesson
from sim.classroom.lessons.lesson_file import FOLDER, course, found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.questions import Question, Verdict
from sim.classroom.lessons.recorded import check, performance_of
from sim.classroom.lessons.runs import Runs
from sim.classroom.lessons.walk import Walk
from sim.support.errors import ParameterError
from sim.support.formatting import clock, clock_near
from sim.workload.job_changes import JobChanges, parse_changes
from sim.workload.replay import read

OF_THE_RUN = re.compile(r"\{[^}]*\}|`[^`]*`|\bJ\d+\b")


@pytest.mark.parametrize("lesson", course(), ids=lambda lesson: lesson.name)
def test_a_lesson_holds(lesson: Lesson) -> None:
    assert check(lesson.path)[1] == []
    assert lesson.paper in PAPERS
    assert lesson.about
    assert lesson.exercise
    assert lesson.solution
    assert lesson.holds
    assert all(scene.notes for scene in lesson.scenes)


@pytest.mark.parametrize("lesson", course(), ids=lambda lesson: lesson.name)
def test_no_number_of_the_run_is_typed(lesson: Lesson) -> None:
    assert not re.findall(r"\d+", OF_THE_RUN.sub("", lesson.solution))
    for scene in lesson.scenes:
        for text in (scene.say, scene.ask.then if scene.ask else "", scene.notes):
            assert not re.findall(r"\d+", OF_THE_RUN.sub("", text)), scene.title


def test_every_file_is_in_the_course() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(ORDER)


def test_a_lesson_is_found_by_its_name_or_its_file() -> None:
    assert found_lesson("backfilling") == found_lesson(course()[1].path)
    with pytest.raises(ParameterError, match="no lesson 'backfiling'; did you mean 'backfilling'"):
        found_lesson("backfiling")


# Questions, answered rightly and wrongly in every way


def questions_of(lesson: Lesson) -> Iterator[tuple[Performance, Walk, Question]]:
    made = performance_of(lesson)
    walk = Walk.of(made)
    for index in range(len(walk.scenes)):
        if (asked := walk.go(index).open_question) is not None:
            yield made, walk.go(index), asked


@pytest.mark.parametrize("lesson", course(), ids=lambda lesson: lesson.name)
def test_each_answer_to_each_question_is_judged_rightly(lesson: Lesson) -> None:
    for made, walk, asked in questions_of(lesson):
        assert set(walk.panels) <= {"queue", "matrix", "partitions"}, asked.asks
        for number, choice in enumerate(asked.choices):
            verdict = walk.chosen(number).verdict
            assert verdict is not None
            assert verdict.is_right == choice.is_right
            assert verdict.told.startswith("Right. " if choice.is_right else f"Not {choice.label}. ")
            assert verdict.told.endswith(asked.told) or choice.why in verdict.told
            assert choice.is_right or choice.why or len(asked.choices) == 2, (asked.asks, choice.label)
        assert {choice.is_right for choice in asked.choices} in ({True, False}, set())
        if not lesson.recording:
            _check_by_the_schedule(made, walk, asked)


def _check_by_the_schedule(made: Performance, walk: Walk, asked: Question) -> None:
    """Compare the right answers with the schedule of the run, and type times in every way."""
    moment, ask = walk.moment, made.lesson.scenes[walk.index].ask
    assert ask is not None
    schedule, jobs = made.runs.schedule(moment.branch), made.workload.jobs
    right = [choice for choice in asked.choices if choice.is_right]
    if asked.kind == "next":
        waiting = [job.rank for job in made.runs.at(moment).queue.jobs]
        first = min(schedule.start[rank] for rank in waiting)
        assert {choice.rank for choice in right} == {rank for rank in waiting if schedule.start[rank] == first}
    elif asked.kind in ("gains", "loses"):
        shift = made.runs.schedule(made.runs.branch(ask.under)).end - schedule.end
        most = shift.min() if asked.kind == "gains" else shift.max()
        assert {choice.rank for choice in right} == {job.rank for job in jobs if shift[job.rank] == most}
    elif asked.kind == "policy":
        assert [choice.label for choice in right] == [made.runs.title(moment.branch)]
    elif asked.kind == "start":
        job = jobs[made.workload.rank_of(ask.job)]
        start = float(schedule.start[job.rank])
        for typed in (f"{start:.0f}", clock(start), clock_near(start)(start), f"{start // 60:.0f}m{start % 60:02.0f}"):
            assert judged(walk, typed).is_right, (asked.asks, typed)
        for wrong in (start - 1, start + 1, job.submit - 5, moment.clock, 0.0, start + 3600):
            if wrong >= 0 and abs(wrong - start) >= 1:
                verdict = judged(walk, f"{wrong:.0f}")
                assert not verdict.is_right, (asked.asks, wrong)
                assert f"too {'early' if wrong < start else 'late'}. " in verdict.told
                assert (f"J{job.id} is submitted at" in verdict.told) == (wrong < job.submit)
        clicked = walk.picked(None, start + 1)
        assert clicked.is_right
        assert asked.entered(dict(clicked.first)[walk.index])  # handed in, it is right, too
    elif asked.kind == "number":
        assert asked.value is not None
        for number, is_right in ((asked.value.number, True), (asked.value.number * 2 + 60, False), (-1.0, False)):
            assert asked.judge(number).is_right == is_right
        assert judged(walk, asked.written(asked.value.number)).is_right


def judged(walk: Walk, typed: str) -> Verdict:
    verdict = replace(walk, typed=typed).entered().verdict
    assert verdict is not None
    return verdict


# Solutions


def starts(line: str, policy: str) -> list[float]:
    runs = Runs(read(line), policy)
    return [float(start) for start in runs.schedule("main").start]


def test_exercise_of_backfilling_is_solved_by_firstfit() -> None:
    line = next(part for part in found_lesson("backfilling").exercise.split('"') if " procs; " in part)
    wider = line.replace("2x30m@4m", "3x30m@4m")
    late = {policy for policy in ("fcfs", "firstfit", "easy", "conservative") if starts(wider, policy)[2] > 1200}
    assert (line != wider, late) == (True, {"firstfit"})
    assert starts(wider, "easy")[5] < starts(wider, "easy")[4]


def test_exercise_of_the_puzzle_turns_at_ten_minutes() -> None:
    line = found_lesson("draw-a-puzzle").trace
    assert [starts(line.replace("5x8m20s", f"5x{run}s"), "easy")[4] for run in (500, 600, 601)] == [600, 600, 1800]


def test_shorter_limit_would_have_started_j8_beside_j7() -> None:
    """The last question of the lesson asks by how much earlier."""
    made = performance_of(found_lesson("why-not-my-job"))
    changed = made.workload.with_changes(JobChanges(change=parse_changes("J8:estimate=1h50")))
    assert Runs(changed, "slurm").schedule("main").start[7] == made.runs.schedule("main").start[6]


def test_assignment_of_the_page_can_be_solved() -> None:
    runs = Runs(read("lublin-128"), "easy")
    ours, theirs = runs.metrics("main"), runs.metrics(runs.branch("firstfit"))
    assert all((theirs[name] or 0) < (ours[name] or 0) for name in ("mean_wait", "max_wait"))


def test_page_numbers_the_lessons_as_the_course_does() -> None:
    path = (FOLDER.parent / "README.md").read_text(encoding="utf-8").partition("## A path")[2].partition("\n## ")[0]
    named = re.findall(r"\b(\d+) `([a-z0-9-]+)`", path)
    assert len(named) == 9
    assert all(ORDER[int(number) - 1] == name for number, name in named)
    assert found_lesson("5") == found_lesson(ORDER[4])
    assert [found_lesson(name).following for name in (ORDER[0], ORDER[-1])] == [ORDER[1], ""]
