"""Files of results from strangers are refused in one line or shown harmlessly, by the commands and in the app."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sim.lab.results import Results
from tests.sim.lab.test_results import outcome
from tests.tui.cli.program import schedscope
from tests.tui.replays import Replay
from tui.app import Schedscope
from tui.lab.results.screen import ResultsScreen

VALUES = (b"\xff\xfe\x00", "[red]x[/red]", -1, 1e308, float("inf"), None, "\x1b[31mred\x1b]0;pwn\x07", "x" * 5000)
COLUMNS = ("mean_wait", "placement", "trace", "policy", "load", "seed", "error", "std_slowdown", "kept", "key")
IN_APP = ("mean_wait", "policy")
KEYS = (
    "r", "enter", "escape", "v", "escape", "w", "escape", "c", "escape", "p", "down", "up", "right", "left", "enter",
)  # fmt: skip
COMMANDS = (
    ["results", "r.sqlite"],
    ["results", "r.sqlite", "--rows", "policy", "--value", "mean_wait"],
    ["results", "r.sqlite", "--rows", "trace", "--columns", "seed", "--format", "json"],
    ["plot", "r.sqlite", "-x", "load"],
    ["plot", "r.sqlite", "-x", "load", "-y", "mean_wait", "--by", "policy"],
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Results(Path("r.sqlite"), write=True) as results:
        results.add([outcome(seed) for seed in range(4)])


def columns() -> list[str]:
    with closing(sqlite3.connect("r.sqlite")) as db:
        return [row[1] for row in db.execute("PRAGMA table_info(runs)")]


def commands_bear_it() -> None:
    for command in COMMANDS:
        done = schedscope(*command)
        assert done.returncode in (0, 1)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr, done.stderr
        assert done.stderr.count("\n") <= 1
        assert "\x1b" not in done.stdout + done.stderr
        assert max(map(len, [*done.stderr.splitlines(), ""])) < 500


async def app_bears_it() -> None:
    app = Schedscope(None, results="r.sqlite")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        run = Replay(app, pilot)
        await run.wait_for(lambda: bool(run.told) or getattr(app.screen, "found", None) is not None)
        for key in KEYS:
            if isinstance(app.screen, ResultsScreen):
                await pilot.press(key)
        await pilot.pause()
        assert app._exception is None
        app.exit()


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:12])
async def test_no_value_in_any_column_brings_anything_down(value: object) -> None:
    for column in columns():
        shutil.copy("r.sqlite", "next.sqlite")  # the app that has just ended may still read the other
        with closing(sqlite3.connect("next.sqlite")) as db, db:
            db.execute(f'UPDATE OR IGNORE runs SET "{column}" = ? WHERE rowid % 2 = 1', (value,))
        os.replace("next.sqlite", "r.sqlite")
        if column in COLUMNS:
            commands_bear_it()
        if column in IN_APP:
            await app_bears_it()
    commands_bear_it()
    await app_bears_it()


@pytest.mark.parametrize("damage", ["names", "table", "rows", "bytes", "views", "end"])
async def test_no_damage_of_the_file_brings_anything_down(damage: str) -> None:
    path = Path("r.sqlite")
    if damage in ("names", "bytes", "end"):
        data = path.read_bytes()
        new = {"names": data.replace(b"mean_wait", b"mean_\xff\xfeit"), "bytes": data[:4096] + b"\xff" * 4096}
        path.write_bytes(new.get(damage, data[: len(data) // 2]))
    else:
        with closing(sqlite3.connect(path)) as db, db:
            match damage:
                case "table":
                    db.execute("DROP TABLE runs")
                case "rows":
                    db.execute("DELETE FROM runs")
                case "views":
                    db.execute("ALTER TABLE runs RENAME TO others")
                    db.execute("CREATE VIEW runs AS SELECT * FROM others, others AS o, others AS p, others AS q")
    commands_bear_it()
    await app_bears_it()
