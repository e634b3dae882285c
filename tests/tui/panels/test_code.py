from dataclasses import replace

from sim.code.lines import PassCode
from sim.timeline.timeline import Timeline
from tests.tui.replays import replay
from tests.tui.scenes import context_of, engine_of
from tests.tui.screens.seeing import seen
from tui.look.sheets import Sheet
from tui.panels import code
from tui.panels.context import Context


def context(step: int = 4, **fields: object) -> Context:
    engine = engine_of("k-figure2.1-2.2", "easy", steps=step)
    timeline = Timeline(engine.workload, "easy")
    timeline.seek(step)
    made = context_of(engine)
    return replace(made, scene=replace(made.scene, code=timeline.code()), **fields)  # type: ignore[arg-type]


def lit(sheet: Sheet) -> str:
    assert sheet.mark is not None
    return sheet.body[sheet.mark].text


def test_code_panel_marks_lines_and_explains() -> None:
    sheet = code.draw(context(), (110, 40), 0)
    assert "▸            now.start(job, FitsExtra(" in lit(sheet)
    assert ":  3 <= 3: yes" in sheet.text
    assert "shadow, extra = now.shadow(head)  shadow = 1200" in sheet.text
    assert "easy.py · decide, line" in sheet.note
    walked, selected = (code.draw(context(**about), (110, 40), 0) for about in ({"decision": 0}, {"selected": 3}))
    assert "now.keep(job)" in lit(walked)
    assert walked == selected
    assert "did not look at the selected job" in code.draw(context(selected=0), (110, 40), 0).text
    began = context_of(engine_of("z-figure4", "easy"))
    assert "appears here" in code.draw(began, (60, 9), 0).text
    empty = context()
    no_code = replace(empty, scene=replace(empty.scene, code=PassCode()))
    assert "No line of the policy's code" in code.draw(no_code, (60, 9), 0).text


async def test_a_key_shows_the_code_and_the_session_keeps_it() -> None:
    async with replay("k-figure2.1-2.2", policy="easy", at="#4") as run:
        assert run.scene.code is None
        await run.press("8")
        await run.wait_for(lambda: "now.start(job" in seen(run, "#code"))
        assert run.session.view["code"] is True
        await run.press("comma", "comma")
        await run.wait_for(lambda: "now.keep(job)" in seen(run, "#code"))
        await run.press("8")
        await run.wait_for(lambda: run.scene.code is None)
        assert "code" not in run.session.view


async def test_small_screen_shows_the_whole_line_and_counts_no_panel_as_hidden() -> None:
    async with replay("lublin-128", policy="easy", at="#150", size=(80, 24)) as run:
        await run.press("8", "full_stop")
        await run.wait_for(lambda: "▸" in seen(run, "#code"))
        assert "now.keep(job" in seen(run, "#code")
        assert "without code" not in run.text
