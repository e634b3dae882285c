"""Also tests sim.classroom.lessons.lesson."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sim.classroom.lessons.lesson import COLOURS, ORDER, PANELS, PAPERS, Lesson, LessonError
from sim.classroom.lessons.lesson_file import FOLDER, MOST_BYTES, MOST_SCENES, course, found_lesson, read_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.questions import Question, Verdict
from sim.classroom.lessons.recorded import check, performance_of
from sim.classroom.lessons.runs import Runs
from sim.classroom.lessons.walk import Walk
from sim.support.errors import ParameterError
from sim.support.formatting import clock, clock_near
from sim.workload.job_changes import JobChanges, parse_changes
from sim.workload.replay import read
from sim.workload.samples import sample_path
from tests.examples import examples
from tests.sim.classroom.lessons.lessons import HEAD, file

SAY = 'say = "Look."'


def refused(path: Path) -> str:
    with pytest.raises(LessonError) as error:
        read_lesson(path)
    return str(error.value).removeprefix(f"{path}")


def test_a_lesson_is_read_whole(tmp_path: Path) -> None:
    scene = 'title = "A hole"\nat = 600\nshow = ["queue"]\nzoom = [0, "20m"]\nsay = """\nTwo\nlines."""\n'
    scene += 'holds = ["now == 600"]'
    ask = "[scene.ask]\nkind = 'start'\njob = 'J5'"
    lesson = read_lesson(file(tmp_path, scene, SAY + "\n" + ask))
    first, second = lesson.scenes
    assert (lesson.name, lesson.title, lesson.trace, lesson.policy) == ("passing", "Passing", "z-figure4", "easy")
    assert (first.title, first.at, first.show, first.zoom, first.say) == (
        "A hole", "600", ("queue",), ("0", "20m"), "Two\nlines.",
    )  # fmt: skip
    assert second.ask is not None
    assert second.ask.job == "J5"
    assert (first.line("at"), first.line("holds"), second.line("say"), second.line("ask")) == (6, 12, 14, 15)


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        (f"{SAY}\ncolor = 'job'", ":6: there is no 'color' in [scene]; did you mean 'colour'?"),
        (f"{SAY}\ncolour = 'jobs'", ":6: colour: no 'jobs'; did you mean 'job'?"),
        (f"{SAY}\nshow = ['que']", ":6: show: no 'que'; did you mean 'queue'?"),
        (f"{SAY}\npolicy = 'eazy'", ":6: policy: no policy 'eazy'; did you mean 'easy'?"),
        (f"{SAY}\npolicy = './mine.py'", ":6: policy: './mine.py' is code, and a lesson runs none"),
        (f"{SAY}\npolicy = 'easy:order=evil:Foo'", ":6: policy: 'easy:order=evil:Foo' is code, and a lesson runs none"),
        (f"{SAY}\nswitch = 'os:system'", ":6: switch: "),
        (f"{SAY}\ncompare = 'easy:order=./mine.py'", ":6: compare: 'easy:order=./mine.py' is code"),
        (f"{SAY}\nat = true", ":6: at: expected words in quotes"),
        (f"{SAY}\nzoom = [0]", ':6: zoom: expected "all", "first" or [from, to]'),
        (f"{SAY}\nwhen = 'backfill'\nbefore = 'backfill'", ":7: when and before"),
        ("title = 'x'", ":4: a scene says or asks something"),
        (f"say = '{'x' * 2001}'", ":5: say: 2,001 letters, at most 2,000 can be shown"),
        ('say = "\\u001b[2J"', ":5: say: has letters that cannot be shown"),
        (f"{SAY}\n[scene.ask]\nkind = 'when'", ":7: kind: no 'when'"),
        (f"{SAY}\n[scene.ask]\nkind = 'start'", ":6: a question of the kind start needs job"),
        (f"{SAY}\n[scene.ask]\nkind = 'gains'", ":6: a question of the kind gains needs under"),
        (f"{SAY}\npolicy = 'easy with exakt'", ":6: policy: no estimates 'exakt'"),
        (f"{SAY}\n[scene.ask]\nkind = 'policy'\namong = ['easy']", ":8: among: give it two policies or more"),
        (f"{SAY}\n= 3", ":6: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, scene: str, said: str) -> None:
    assert refused(file(tmp_path, scene)).startswith(said)


@pytest.mark.parametrize(
    "trace", ["/etc/passwd", "../passing.swf", "~/x.swf", "a/../../b", "no.swf", "x\\u0000", "C:\\\\x"]
)
def test_a_trace_lies_beside_its_lesson_or_is_a_sample(tmp_path: Path, trace: str) -> None:
    (tmp_path / "passing.swf").write_text("1 0 0 1 1\n")
    (tmp_path / "inner").mkdir()
    said = refused(file(tmp_path / "inner", SAY, head=f'title = "x"\ntrace = "{trace}"\n'))
    assert said.startswith(":2: a text holds a NUL" if "u0000" in trace else ":2: trace: ")


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "other.swf").write_bytes(sample_path("z-figure4").read_bytes())
    (inner / "linked.swf").symlink_to(tmp_path / "other.swf")
    (inner / "own.swf").write_bytes(sample_path("z-figure4").read_bytes())
    head = 'title = "x"\ntrace = "{}.swf"\n'
    assert "leads out of the folder" in refused(file(inner, SAY, head=head.format("linked")))
    assert read_lesson(file(inner, SAY, head=head.format("own"))).trace == str(inner / "own.swf")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ('trace = "z-figure4"\n', ":1: title: expected words in quotes"),
        (HEAD + "[options]\nload = 0\n", ":5: load: the load factor must be between"),
        (HEAD + "[options]\nloud = 1\n", ":5: there is no 'loud' in [options]; did you mean 'load'"),
        (HEAD + "[options]\noutage = '/etc/x.csv'\n", ":5: outage: a lesson reads no file of outages"),
        (HEAD + "[options]\noutage = '1d..2d; x.CSV '\n", ":5: outage: a lesson reads no file of outages"),
        (HEAD + "picture = 2\n", ":4: picture: expected the number of a scene, from 1 to 1"),
        (HEAD + "extra = 2\n", ":4: there is no 'extra' in a lesson"),
        (HEAD + "title = 'x'\n", ":4: this key stands twice"),
    ],
)
def test_what_is_wrong_with_all_of_it_is_said_too(tmp_path: Path, head: str, said: str) -> None:
    assert refused(file(tmp_path, SAY, head=head)).startswith(said)


def test_a_lesson_has_bounds(tmp_path: Path) -> None:
    assert "at most 200 are shown" in refused(file(tmp_path, *[SAY] * (MOST_SCENES + 1)))
    assert "a lesson needs scenes" in refused(file(tmp_path))
    path = tmp_path / "passing.toml"
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    assert "is no lesson: more than" in refused(path)
    path.write_bytes(b"title = \xff")
    assert refused(path) == ":1: is no text: write it in UTF-8"
    assert "expected a lesson" in refused(tmp_path)
    assert "No such file" in refused(tmp_path / "none.toml")


WORDS = st.sampled_from(
    [
        "=", "'", '"', "[", "]", "say", "at", "kind", "zoom", "title", "policy", "trace", "nan", "1e999", "{J5.start}",
        "easy:order=./x.py", "[[scene]]", "[scene.ask]", "[options]", '"""', "'''", "9" * 400, "\n", "\x00", "\u202e",
    ]
)  # fmt: skip


@examples(120, deadline=None)
@given(st.lists(WORDS | st.text(max_size=5), max_size=30))
def test_any_file_is_a_lesson_or_one_line_of_error(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(HEAD + " ".join(words), encoding="utf-8", errors="replace")
    told = ""
    try:
        read_lesson(path)
    except LessonError as error:
        told = str(error)
    assert not told or re.fullmatch(rf"{re.escape(str(path))}:\d+: [^\n]+", told)


COURSE = [path.read_text(encoding="utf-8").splitlines() for path in sorted(FOLDER.glob("*.toml"))]
VALUES = (
    *("0", "-1", "1.5", "1e308", "9" * 400, "inf", "nan", "true", '""', '"x"', "[]", '["a", 1]', "[" * 300, "{a = 1}"),
    *('"{J1.start}"', '"{x.y.z}"', '"{" * 9', '"J1.start"', '"1e9"', '"#99999999"', '"J1 starts"', '"easy:order=x"'),
    *('"recorded"', '"gang:slice=1"', '"/etc/passwd"', '"lublin-128"', "1979-05-27", '"9999d"', '"wait > 0 and"'),
)


@examples(20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_changed_lesson_holds_or_names_its_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    lines = list(data.draw(st.sampled_from(COURSE)))
    for _ in range(data.draw(st.sampled_from([1, 1, 2, 4]))):
        at = data.draw(st.integers(0, len(lines) - 1))
        other, _, its = data.draw(st.sampled_from(data.draw(st.sampled_from(COURSE)))).partition(" = ")
        key = data.draw(st.sampled_from([*[lines[at].partition(" = ")[0]] * 4, other]))
        lines[at] = f"{key} = {data.draw(st.sampled_from([*VALUES, its]))}"
    path = tmp_path_factory.getbasetemp() / "changed.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    for error in check(path)[1]:
        assert re.fullmatch(rf"{re.escape(str(path))}:\d+: [^\n]+", str(error))


def test_panels_and_colours_are_those_of_the_screen() -> None:
    from tui.chart.colours import MODES
    from tui.live.screens.observed_screen import PANELS as OF_CLUSTER
    from tui.replay.requests import VERSUS
    from tui.screens.replay.state import PANELS as SHOWN

    assert set(PANELS) == {*SHOWN, *OF_CLUSTER}
    assert (*MODES, VERSUS) == COLOURS


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
