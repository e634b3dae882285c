"""Lessons written into files, for tests."""

from pathlib import Path

from sim.classroom.lessons.lesson_file import read_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.walk import Walk

HEAD = 'title = "Passing"\ntrace = "z-figure4"\npolicy = "easy"\n'


def file(folder: Path, *scenes: str, head: str = HEAD) -> Path:
    path = folder / "passing.toml"
    path.write_text(head + "".join(f"[[scene]]\n{scene}\n" for scene in scenes), encoding="utf-8")
    return path


def performance(folder: Path, *scenes: str, head: str = HEAD) -> Performance:
    return Performance(read_lesson(file(folder, *scenes, head=head)))


def walk(folder: Path, *scenes: str, head: str = HEAD) -> Walk:
    return Walk.of(performance(folder, *scenes, head=head))
