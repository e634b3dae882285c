import json

import pytest

from sim.classroom.lessons.lesson_file import found_lesson
from tests.tui.classroom.web.test_roster import NEXT
from tests.tui.replays import wait_until
from tui.classroom.opening import lesson_opening
from tui.classroom.play.screen import Sheet
from tui.classroom.web.visitor import ServerResources, Visit
from tui.classroom.web.wall import Answers, Wall, answers_in, bars

TOLD = {
    "asks": "Which?", "told": "J4 fits.",
    "bars": [{"label": "[b]J4\x1b[2J", "count": 3, "right": True}, {"label": "J5", "count": 1, "right": False}],
}  # fmt: skip


def test_hostile_labels_stay_text() -> None:
    found = answers_in(json.dumps(TOLD))
    assert found is not None
    assert found.bars[0] == ("[b]J4?[2J", 3, True)
    drawn = [line.text for line in bars(found, 40)]
    assert any("✓ [b]J4?[2J" in text for text in drawn)
    assert all(len(text) <= 40 for text in drawn)


def test_address_that_students_cannot_reach_says_so() -> None:
    def drawn(address: str) -> str:
        return " ".join(line.text.strip() for line in bars(Answers(address=address, here=0), 60))

    assert "No students are here. Only this machine reaches this address. Other machines need --host 0.0.0.0" in drawn(
        "http://127.0.0.1:8000/?token=x"
    )
    assert "Only this machine" not in drawn("http://10.0.0.5:8000/?token=x")


@pytest.mark.parametrize(
    ("size", "has_code"), [((60, 18), True), ((80, 24), True), ((58, 18), False), ((80, 17), False)]
)
async def test_wall_shows_the_qr_code_where_it_fits(size: tuple[int, int], has_code: bool) -> None:
    visit = Visit(ServerResources())
    async with visit.run_test(size=size) as pilot:
        visit.show_wall(json.dumps({"address": "http://192.168.1.20:8000/?token=maple-river-42", "here": 3}))
        await pilot.pause()

        def drawn() -> str:
            sheet = visit.screen.query_one("#answers", Sheet)
            return "\n".join(sheet.render_line(row).text for row in range(size[1]))

        await wait_until(lambda: "http://192.168.1.20:8000" in drawn() and "maple-river-42" in drawn())
        assert (" ▄▄▄▄▄ █" in drawn()) is has_code
        visit.show_wall(json.dumps({**TOLD, "address": "http://192.168.1.20:8000/?token=maple-river-42"}))
        await wait_until(lambda: "Which?" in drawn())
        assert " ▄▄▄▄▄ █" not in drawn()


def is_covered(visit: Visit, told: str = "J4 fits.") -> bool:
    return isinstance(visit.screen, Wall) and visit.screen._answers.told == told


async def test_wall_covers_the_lesson_until_it_is_taken_off() -> None:
    visit = Visit(ServerResources.of((lesson_opening(found_lesson("backfilling"), NEXT),)))
    async with visit.run_test(size=(60, 18)) as pilot:
        await pilot.pause()
        visit.show_wall(json.dumps(TOLD))
        await pilot.pause()
        assert is_covered(visit)
        visit.show_wall(json.dumps({**TOLD, "told": "Again."}))
        await pilot.pause()
        assert is_covered(visit, "Again.")
        visit.show_wall("")
        await pilot.pause()
        assert not is_covered(visit)
        visit.show_wall(json.dumps(TOLD))
        await pilot.pause()
        await pilot.press("space")
        await pilot.pause()
        assert not is_covered(visit)
