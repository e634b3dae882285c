from dataclasses import replace
from pathlib import Path

import pytest

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.walk import Walk
from sim.policies import parse_policy
from sim.session.session import Bookmark
from sim.workload.source import Source
from tests.tui.record.films import SIZE, film_of, text_of
from tests.tui.replays import replay
from tui.classroom.opening import lesson_opening
from tui.record.film import RecordingOptions, speed_of
from tui.replay.opening import Opening
from tui.sessions.session_conversion import reopened


async def test_films_go_from_here_to_there() -> None:
    camera, film = await film_of()
    assert camera.has_ended
    assert "The run is over" in "\n".join(text_of(film[-1]))
    assert "The run is over" not in "\n".join(text_of(film[0]))
    assert [picture.at for picture in film] == sorted(picture.at for picture in film)
    assert all(len(row) == SIZE[0] for picture in film for row in text_of(picture))
    opening = Opening(Source("z-figure4"), parse_policy("easy"))
    camera, film = await film_of(opening, RecordingOptions(SIZE, begin="#2", until="10m", speed=speed_of("1m"), fps=2))
    assert "d0 00:00:10" in text_of(film[0])[0]
    assert "d0 00:10:" in text_of(film[-1])[0]
    assert camera.has_ended
    one, other = [(await film_of(plan=RecordingOptions(SIZE, until="#4", fps=2)))[1] for _ in range(2)]
    assert one == other


async def test_before_the_first_step_no_sentence_names_keys() -> None:
    opening = Opening(Source("lublin-128"), parse_policy("easy"))
    _, film = await film_of(opening, RecordingOptions(SIZE, until="#1", fps=1))
    seen = "\n".join(text_of(film[0]))
    assert "on 128 processors, under easy." in seen
    assert "Press space" not in seen
    assert "ctrl+p" not in seen


async def test_who_gives_it_too_few_seconds_is_told_that_it_was_cut_off() -> None:
    opening = Opening(Source("lublin-128"), parse_policy("easy"))
    camera, film = await film_of(opening, RecordingOptions(SIZE, speed=speed_of("1h"), seconds=5, fps=1))
    assert not camera.has_ended
    assert film[-1].at <= 6


async def test_bookmarks_of_a_session_mark_where_they_stand() -> None:
    async with replay("z-figure4") as run:
        session = replace(run.session, bookmarks=(Bookmark("the hole", "main", 4), Bookmark("later", "main", 9)))
    _, film = await film_of(reopened(session), RecordingOptions(SIZE, speed=speed_of("5m"), fps=3))
    assert [picture.marks for picture in film if picture.marks] == [("the hole",), ("later",)]


async def test_a_lesson_is_filmed_scene_by_scene_and_each_is_a_mark() -> None:
    lesson = found_lesson("backfilling")
    camera, film = await film_of(lesson_opening(lesson))
    assert camera.has_ended
    assert [title for p in film for title in p.marks] == [scene.title for scene in Walk.of(Performance(lesson)).scenes]
    assert film[-1].at > 2 * len(lesson.scenes)


async def test_nothing_of_the_person_is_read_or_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SCHEDSCOPE_CONFIG", "SCHEDSCOPE_STATE"):
        monkeypatch.setenv(variable, str(tmp_path))
    await film_of(plan=RecordingOptions(SIZE, until="#1", fps=1))
    assert not list(tmp_path.iterdir())
