import gc
from pathlib import Path
from weakref import ref

import pytest

from sim.policies import parse_policy
from sim.workload.source import Source
from tests.tui.replays import replay
from tui.memory import give_back_at_once, give_back_what_went
from tui.replay.opening import Opening
from tui.sessions import session_manager

FROZEN = {"freeze": gc.freeze, "unfreeze": gc.unfreeze}
"""Functions of `gc` that all other tests replace, and that these tests call"""


def megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


@pytest.mark.skipif(not give_back_at_once(), reason="another allocator")
def test_what_is_freed_goes_back_though_something_behind_it_stays() -> None:
    bytearray(2**24)  # or glibc would learn that blocks of that size are frequent
    blocks = [bytearray(2**19) for _ in range(128)]  # some of them fill holes that earlier tests left
    stays = bytearray(2**19)
    before = megabytes()
    blocks.clear()
    assert before - megabytes() > 24
    assert len(stays) == 2**19


async def test_a_replay_that_made_way_for_another_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_manager, "AUTOSAVE", 0.05)
    for name, does in FROZEN.items():
        monkeypatch.setattr(gc, name, does)
    async with replay("z-figure4") as run:
        assert run.app.opened is not None
        was = ref(run.app.opened.timeline)
        run.app.open(lambda: Opening(Source("z-figure7"), parse_policy("gang")))
        await run.wait_for(lambda: run.screen.about.trace == "z-figure7")
        await run.settle()

        def is_given_back() -> bool:
            give_back_what_went()
            return was() is None

        await run.wait_for(is_given_back)
