"""Also tests tui.classroom.web.scene_pictures."""

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.play.game import Game, afternoon
from sim.workload.source import Source
from tests.tui.classroom.web.test_roster import NEXT
from tui.classroom.opening import lesson_opening
from tui.classroom.web.plain_pages import GamePage, LessonPage
from tui.classroom.web.visitor import ServerResources

EVIL = "<script>alert(1)</script>"


def lesson(name: str = "backfilling", scene: int = NEXT) -> LessonPage:
    begin = ServerResources.of((lesson_opening(found_lesson(name), scene),)).plain()
    assert begin is not None
    page = begin()
    assert isinstance(page, LessonPage)
    return page


def game(jobs: int = 4) -> GamePage:
    return GamePage(Game(afternoon(Source("lublin-128").read()[1], 1, jobs)))


def buttons(view: dict[str, Any]) -> list[tuple[str, bool, bool | None]]:
    return [(choice["label"], choice["chosen"], choice.get("right")) for choice in view["choices"]]


def shown(svg: str) -> str:
    return " ".join(fromstring(svg).itertext())


def test_answer_marks_the_button_and_tells_the_whole_verdict() -> None:
    page = lesson()
    view = page.view([])
    assert buttons(view) == [(label, False, None) for label in ("J3", "J4", "J5", "J6")]
    assert view["moves"] == [("previous", "Back"), ("next", "Show me")]
    answered = page.moved("answer", view["choices"][2]["key"])
    view = answered.view([])
    assert buttons(view) == [("J3", False, False), ("J4", False, True), ("J5", True, False), ("J6", False, False)]
    assert (view["told"], view["right"]) == (answered.walk.verdict and answered.walk.verdict.told, False)
    assert answered.report == {"type": "stands", "scene": NEXT, "open": False, "given": "J5", "right": False}
    assert answered.moved("move", "next").view([])["title"] == "The second way"
    assert page.moved("move", "next").view([])["right"] is None  # shown, not answered


def test_picture_of_an_open_question_does_not_show_its_answer() -> None:
    page = lesson()
    (before,), (after,) = page.view([])["pictures"], page.moved("move", "next").view([])["pictures"]
    assert "J4" not in shown(before)
    assert "J4" in shown(after)
    assert 'width="400"' in before
    page = lesson("k-promise")
    (asked,) = (each for each in page.walk.scenes if each.question is not None and each.question.kind == "policy")
    assert "· ? ·" in shown(page.pictures.of(asked, False)[0])
    assert "· ? ·" not in shown(page.pictures.of(asked, True)[0])


def test_pictures_are_drawn_once_and_of_both_runs_and_the_matrix() -> None:
    page = lesson("z-turns", 1)
    assert page.view([])["pictures"] is page.view([])["pictures"]
    assert len(page.view([])["pictures"]) == 2
    staged = page.walk.staged
    assert len(page.pictures.of(replace(staged, panels=()), False)) == 1
    both = replace(staged, panels=(), moment=staged.moment._replace(beside="gang:mpl=3"))
    assert len(page.pictures.of(both, False)) == 2


@pytest.mark.parametrize("typed", [EVIL, "", "J99", "x" * 5000, "\x1b[2J"])
def test_text_that_is_no_answer_leaves_the_question_open(typed: str) -> None:
    walk = lesson("read-this-chart").walk
    (first, *_) = (index for index, staged in enumerate(walk.scenes) if staged.question is not None)
    for page in (lesson(), lesson("read-this-chart", first)):
        view = page.moved("answer", typed).view([])
        assert view["open"]
        assert len(view["told"]) < 300
        assert "\x1b" not in view["told"]


@pytest.mark.parametrize("move", ["", "nonsense", "again", EVIL])
def test_move_that_does_not_exist_changes_nothing(move: str) -> None:
    for page in (lesson(), game()):
        assert page.moved("move", move).view([]) == page.view([])
        assert page.moved("other", move).view([]) == page.view([])


def test_game_is_played_to_its_score_without_a_key() -> None:
    page = game()
    assert page.report == {}
    while not page.game.is_over:
        view = page.view([])
        assert view["moves"][1] == ("wait", "Let the clock go on")
        fitting = [choice["key"] for choice in view["choices"] if choice["fits"]]
        page = page.moved("answer", fitting[0]) if fitting else page.moved("move", "wait")
        page = page.settled()
    assert page.report["type"] == "score"
    view = page.view([{"name": EVIL, "mean": 60.0, "worst": 120.0}])
    told = " ".join("".join(text for text, _ in spans) for _, spans in view["text"])
    assert "The decisions that cost most" in told
    assert f"{EVIL}: mean wait 1m00, worst 2m00" in told  # text, which the script sets as text
    assert page.moved("move", "again").game.moves == ()
    assert page.moved("move", "wait") is page


def test_game_warns_once_before_the_clock_goes_on_over_an_idle_machine() -> None:
    page = game()
    warned = page.moved("move", "wait")
    assert "Nothing runs" in warned.told
    assert warned.game is page.game
    assert warned.moved("move", "wait").game.now > 0
    assert "cannot go back" in page.moved("move", "undo").told
    started = page.moved("answer", page.view([])["choices"][0]["key"])
    assert started.moved("move", "undo").game == page.game
