"""A random user presses keys, clicks and resizes: whatever happens, nothing breaks.

By hand: `MONKEY=2000 SEED=7 pytest tests/tui/test_monkey.py` presses 2000 keys on each run; two of them are of a real
log. `AT_ONCE=40` makes it several times faster.
"""

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from textual import events
from textual.binding import Binding
from textual.errors import NoWidget
from textual.screen import Screen

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.quiz import Quiz
from sim.policies import parse_policy
from sim.workload.source import Source
from tests.material import MATERIAL
from tests.sim.lab.test_pivot import file
from tests.tui.replays import Replay
from tui.app import Schedscope
from tui.classroom.handing_in import QuizApp
from tui.classroom.opening import lesson_opening
from tui.replay.opening import Opening
from tui.screens.replay.keys import every_key
from tui.widgets.gantt import Gantt

KEYS, SEED = int(os.environ.get("MONKEY", "12")), os.environ.get("SEED", "1")
AT_ONCE = int(os.environ.get("AT_ONCE", "0"))
"""Largest number of keys sent at once, if not 0; a long search is faster this way, because it does not wait after each
key."""
HANG = 60.0
"""Seconds after which the program counts as hanging, or its screen as blank, even on a busy machine."""
FAULT = re.compile(r"\b[A-Z]\w+(Error|Exception)\b")
SIZES = ((120, 36), (80, 24), (200, 60), (40, 12), (20, 5), (1, 1), (99, 28), (100, 27))
TYPED = (*"abcdefghijklmnoprstuvwxyz0123456789[]'/:,.;#=@~ ", "[/foo]", "J1", "12d4h", "job 1 starts", "easy", "../")
OTHERS = ("enter", "escape", "tab", "shift+tab", "backspace", "delete", "ctrl+p", "ctrl+u", "ctrl+r", "pagedown")
MOVES = ("pageup", "up", "down", "left", "right", "home", "end", "shift+left", "shift+right", "shift+up", "shift+down")
LESSON, QUIZ, RESULTS = "a lesson", "a quiz", "results"
EMPTY, ONE = "", "1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1\n"
WHERE = [
    ("z-figure4", "easy"), ("lublin-128", "conservative"), ("z-figure7", "gang-backfill"), ("ls-figure1", "multiqueue"),
    ("z-figure4", "tunable"), ("lublin-128", "slack"), (EMPTY, "easy"), (EMPTY, "gang"), (ONE, "easy"),
    (ONE, "gang-migrate"), (ONE, "multiqueue"), ("lublin-128", "selective"), (LESSON, "z-turns"), (QUIZ, "easy"),
    (RESULTS, ""),
]  # fmt: skip
LOG = MATERIAL / "traces" / "KTH-SP2-1996-2.swf.gz"
if "MONKEY" in os.environ and LOG.exists():
    WHERE += [(str(LOG), "easy"), (str(LOG), "gang-backfill")]

pytestmark = [
    # Textual's own: a screen that closes in the same write that opened it drops what it has not handled yet.
    pytest.mark.filterwarnings("ignore:coroutine 'Screen._watch_selections' was never awaited"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <coroutine object (MessagePump|Screen)\\._"),
]


def all_keys() -> list[str]:
    screen = [each for key in every_key() for each in key.keys.split(",") if key.action != "quit"]
    chart = [each for key in Gantt.BINDINGS if isinstance(key, Binding) for each in key.key.split(",")]
    return [*screen, *chart, *OTHERS, *MOVES]


def opened(trace: str, policy: str, folder: Path) -> Schedscope:
    """Return the app opened on `trace`: a trace, or the word for a lesson, a quiz or results. For a lesson, `policy` is
    its name."""
    if trace == RESULTS:
        file(folder / "results").__exit__()
        return Schedscope(None, results=str(folder / "results"))
    if trace == LESSON:
        return Schedscope(lesson_opening(found_lesson(policy)).prepare())
    if trace == QUIZ:
        return QuizApp(Quiz(7, policy=policy))
    if trace in (EMPTY, ONE):
        (folder / "tiny.swf").write_text(f"; MaxProcs: 4\n{trace}")
        trace = "tiny.swf"
    return Schedscope(Opening(Source(trace), parse_policy(policy)).prepare())


async def turn(run: Replay, random: Random, keys: list[str]) -> list[str]:
    """Press a few random keys, click, or resize the terminal; return what was done, as text."""
    chance, (width, height) = random.random(), run.app.size
    if chance < 0.04:
        columns, rows = random.choice(SIZES)
        await run.pilot.resize_terminal(columns, rows)
        return [f"{columns}x{rows}"]
    if chance < 0.12:
        at, times = (random.randrange(width), random.randrange(height)), random.choice((1, 1, 2, 3))
        with suppress(NoWidget):  # the terminal has just become smaller
            await run.pilot.click(offset=at, times=times)
        return [f"click {at}"] * times
    if chance < 0.2 or (AT_ONCE and chance > 0.4):
        done = burst(run, random, keys)
        await run.pilot.pause()
        return done
    if chance < 0.24:
        await run.pilot.press("ctrl+p", *random.choice(TYPED[-6:]))
        return ["ctrl+p"]
    in_dialog = len(run.app.screen_stack) > 2
    pressed = list(random.choice(TYPED)) if in_dialog and chance < 0.6 else random.choices(keys, k=random.randint(1, 6))
    await run.pilot.press(*pressed)
    return pressed


def burst(run: Replay, random: Random, keys: list[str]) -> list[str]:
    """Send several random keys and mouse events at once, as over a slow connection; return what was sent, as text."""
    width, height = run.app.size
    done = list[str]()
    for _ in range(random.randint(2, AT_ONCE or 8)):
        key = random.choice((*keys, "enter", "enter", "escape", "escape"))
        times, x, y = random.choice((1, 2, 2, 3)), random.randrange(width), random.randrange(height)
        kind = random.choice((events.MouseMove, events.MouseScrollDown, events.MouseScrollUp, None, None, None))
        for _ in range(times):
            if random.random() < 0.6:
                run.app.post_message(events.Key(key, key if len(key) == 1 else None))
                done.append(key)
            else:
                for event in (kind,) if kind else (events.MouseDown, events.MouseUp):
                    run.app.post_message(
                        event(None, x, y, 0, 0, random.choice((0, 1, 1, 3)), False, False, False, x, y)
                    )
                    done.append(f"{event.__name__} {x},{y}")
    return done


def is_blank(run: Replay) -> bool:
    return type(run.app.screen) is Screen or not run.text.strip()


@pytest.fixture(autouse=True)
def _everything_is_drawn(drawn: list[str]) -> Iterator[None]:
    drawn.append("as in a terminal")
    yield
    drawn.clear()


@pytest.mark.parametrize("at", range(len(WHERE)))
async def test_whatever_is_pressed_nothing_breaks(at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Schedscope, "exit", lambda *_, **__: None)  # a click on the command that leaves does not
    random, keys, done = Random(f"{SEED} {at}"), all_keys(), list[str]()
    app = opened(*WHERE[at], tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        run = Replay(app, pilot)
        while len(done) < KEYS:
            async with asyncio.timeout(HANG):
                done += await turn(run, random, keys)
                while is_blank(run) and min(run.app.size) > 1:
                    await run.pilot.pause(0.05)
            assert run.app._exception is None, done[-30:]
            assert not FAULT.search(run.told), (run.told, done[-30:])
    print(f"{WHERE[at]}, seed {SEED}: {len(done):,} keys and mouse events")
