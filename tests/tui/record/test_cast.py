"""Also tests tui.record.moving."""

import json
from io import BytesIO

import pytest
from rich.segment import Segment
from rich.style import Style

from sim.support.errors import SchedscopeError
from tests.tui.record.films import SIZE, film_of, text_of, watched
from tui.look.palette import LOOKS
from tui.record.cast import Cast, Version
from tui.record.film import Picture


def cast_of(film: list[Picture], version: Version = 3, title: str = "a run", size: tuple[int, int] = SIZE) -> list[str]:
    cast = Cast(size, title, LOOKS["dark"], version)
    return [cast.header(), *(line for picture in film for line in cast.lines(picture)), cast.end()]


def a_film(*texts: str, marks: tuple[str, ...] = ()) -> list[Picture]:
    bold = Style(bold=True)
    return [Picture(at * 0.5, ((Segment(text, bold),),), marks if at == 1 else ()) for at, text in enumerate(texts)]


async def test_who_watches_it_sees_what_the_screen_showed() -> None:
    _, film = await film_of()
    lines = cast_of(film)
    assert watched(lines) == text_of(film[-1])
    header = json.loads(lines[0])
    assert (header["version"], header["term"]["cols"], header["term"]["rows"]) == (3, *SIZE)


def test_only_what_changed_is_sent() -> None:
    lines = cast_of(a_film("J1 runs", "J2 runs", "J2 runs"), size=(7, 1))
    events = [json.loads(line) for line in lines[1:]]
    assert [round(event[0], 1) for event in events] == [0.0, 0.5, 0.5]
    assert "2 runs" in events[1][2] or events[1][2].count("J") <= 1
    assert len(events) == 3  # the last one gives the terminal back


def test_casts_have_times_and_harmless_marks() -> None:
    film = a_film("a", "b", "c")
    assert [json.loads(line)[0] for line in cast_of(film)[1:-1]] == [0.0, 0.5, 0.5]
    assert [json.loads(line)[0] for line in cast_of(film, 2)[1:-1]] == [0.0, 0.5, 1.0]
    lines = cast_of(a_film("a", "b", marks=("\x1b]0;evil\x07\n",)), title="\x1b[2Jx")
    assert json.loads(lines[0])["title"] == "?[2Jx"
    (mark,) = [event for event in map(json.loads, lines[1:]) if event[1] == "m"]
    assert mark[2].isprintable()


@pytest.mark.parametrize("form", [".gif", ".webp"])
def test_a_film_of_pictures_shows_each_as_long(form: str) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("resvg_py")
    from tui.record.moving import animated

    film = a_film("████", "██  ", "    ", "    ")
    made = image.open(BytesIO(animated(film, 4, LOOKS["dark"], 16, form)))
    assert (made.n_frames, made.size) == (3, (40, 20))
    made.seek(2)
    made.load()
    assert made.info["duration"] == 500
    assert made.convert("RGB").getpixel((2, 10)) == (0x1A, 0x1B, 0x1E)


def test_a_gif_that_would_take_all_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL.Image")
    pytest.importorskip("resvg_py")
    from tui.record import moving

    monkeypatch.setattr(moving, "MOST_PIXELS", 2400)
    film = a_film("████", "██  ", "    ", "    ")
    assert moving.animated(film[:3], 4, LOOKS["dark"], 16, ".gif")
    with pytest.raises(SchedscopeError, match="a GIF of 4 pictures of 800 points is too large: fewer --seconds"):
        moving.animated(film, 4, LOOKS["dark"], 16, ".gif")
