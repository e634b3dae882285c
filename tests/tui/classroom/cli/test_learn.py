from pathlib import Path

from sim.classroom.lessons.lesson import ORDER
from sim.classroom.lessons.lesson_file import FOLDER, found_lesson
from sim.classroom.lessons.performance import Performance
from sim.session.session import Bookmark, Session, write_session
from sim.session.trace_ref import TraceRef
from tests.tui.cli.program import error, schedscope


def test_without_a_terminal_the_lessons_are_listed() -> None:
    lines = schedscope("learn").stdout.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("  ")] == [
        [f"{number}", name] for number, name in enumerate(ORDER, 1)
    ]
    assert "Kettimuthu 2003" in lines
    assert schedscope("learn", "--list").stdout.splitlines() == lines
    assert error("learn", "backfilling", "--list")[0] == 2


def test_a_lesson_needs_a_terminal() -> None:
    code, line = error("learn", "backfilling")
    assert code == 1
    assert line.startswith("a lesson needs a terminal; without one use ")
    assert error("learn", "backfiling")[1].startswith("no lesson 'backfiling'; did you mean 'backfilling'")


def test_check_says_with_file_and_line_what_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((FOLDER / "backfilling.toml").read_text().replace("job 5 starts", "job 8 starts"))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "job 8" in text)
    done = schedscope("learn", "--check", path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{path}:{line}: before: ")
    assert schedscope("learn", "--check", FOLDER / "backfilling.toml").stdout == "7 scenes, 2 questions: no errors\n"


def test_solutions_are_printed_with_the_numbers_of_the_run() -> None:
    one = schedscope("learn", "w-slip", "--solutions").stdout
    assert one == schedscope("learn", "9", "--solutions").stdout
    assert one.startswith("w-slip: A promise slips\n\n  Press enter and P, and try relaxed with an omega between")
    assert "\n\n  From about 1.2245 on. J3 would end 20m00 after it came" in one
    notes = Performance(found_lesson("w-slip")).staged()[-1].notes
    assert notes.endswith("A solution: `schedscope learn w-slip --solutions`.")


def test_solution_that_does_not_hold_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((FOLDER / "w-slip.toml").read_text().replace("omega=1.2244 > J3", "omega=1.2244 == J3"))
    assert schedscope("learn", "--check", path).stderr.startswith(f"{path}:")
    assert "J3.start@relaxed:omega=1.2244 == J3.submit does not hold" in schedscope("learn", "--check", path).stderr


def test_new_makes_a_lesson_of_a_session(tmp_path: Path) -> None:
    session, path = tmp_path / "a.session", tmp_path / "mine.toml"
    write_session(Session(TraceRef.of("z-figure4", True), bookmarks=(Bookmark("passing", "main", 6),)), session)
    done = schedscope("learn", "--new", path, "--from", session)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "2 scenes, 0 questions: no errors"
    assert error("learn", "--new", path, "--from", session)[1].endswith(
        "expected the name of a new file that ends in .toml"
    )
    assert error("learn", "--new", path)[1].startswith("--new FILE and --from SESSION go together")
    assert error("learn", "backfilling", "--check", path)[0] == 2
