"""Size of the recording of a whole week of a busy cluster: 10,080 polls of 2,000 waiting jobs, written to a file.

    python -m tests.benchmarks.week [POLLS]
    python -m tests.benchmarks.week --screen [POLLS]

Prints the size on disk after each day, the processor time of a poll, and how long one moment takes to be read.
With `--screen`: the memory of the live screen at 80x24, which draws all pictures of a smaller cluster one after
another. About one job arrives between two pictures.
"""

import asyncio
import gc
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from sim.live.cluster.pace import Pace
from sim.live.cluster.recording import PollRecorder, Recording, Scratch
from sim.live.cluster.values import Cluster, ClusterJob
from tests.sim.live.cluster.busy import MINUTE, busy
from tui.live.program import LiveApp
from tui.live.screens.screen import LiveScreen
from tui.live.watch import Live
from tui.look.palette import DARK
from tui.memory import give_back_at_once

DAY = 24 * 60
OFTEN = 200
"""Number of polls between two printed sizes of memory."""
QUEUED = 30


def resident() -> float:
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


class Drawn:
    """A made-up scheduler that gives its next state as soon as the one before has been drawn on the screen."""

    def __init__(self, polls: int) -> None:
        # later than now, so that the newest picture is the present
        self._pictures = busy(polls, queued=QUEUED, starts=1, begin=time.time() + MINUTE)
        self._last: Cluster | None = None
        self.given = self.drawn = 0
        self.is_over = False

    def snapshot(self) -> Cluster:
        while self.drawn < self.given:
            time.sleep(0.003)
        found = next(self._pictures, None)
        if found is None:
            self.is_over = True
            time.sleep(0.1)
        else:
            self._last, self.given = found, self.given + 1
        assert self._last is not None
        return self._last

    def history(self, since: float) -> tuple[ClusterJob, ...]:
        return ()


async def watched(polls: int) -> None:
    """Draw the states of `polls` polls on the live screen, and print the memory of this process meanwhile."""
    give_back_at_once()
    source, told = Drawn(polls), 0
    with closing(Scratch()) as aside:
        live = Live(source, aside=aside)
        live._pace = Pace(0.0, 0.0)
        app = LiveApp(live, DARK)
        async with app.run_test(size=(80, 24)):
            while not source.is_over:
                await asyncio.sleep(0.003)
                if isinstance(app.screen, LiveScreen) and app.screen.scene is not None:
                    source.drawn = app.screen.scene.pictures
                if source.drawn >= told + OFTEN:
                    told += OFTEN
                    print(f"{told:6,} pictures: {resident():6.1f} MB", flush=True)


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    polls = numbers[0] if numbers else 7 * DAY
    if "--screen" in sys.argv:
        asyncio.run(watched(polls))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "week.slog")
        recorder, spent = PollRecorder(path), 0.0
        for number, cluster in enumerate(busy(polls), 1):
            begin = time.process_time()
            recorder.add(cluster)
            spent += time.process_time() - begin
            if number % DAY == 0 or number == polls:
                size = sum(file.stat().st_size for file in Path(folder).iterdir())
                queued = len(cluster.queue)
                print(
                    f"{number:6,} polls: {size / 1e6:6.1f} MB, {queued:,} waiting, {spent / number:.3f} s a poll",
                    flush=True,
                )
        recorder.close()
        print(f"closed: {path.stat().st_size / 1e6:.1f} MB")
        recording = Recording(path)
        times = recording.times()
        for share in (0.25, 0.5, 0.999):
            begin = time.perf_counter()
            found = Recording(path).at(times[int(share * (len(times) - 1))] + MINUTE / 2)
            print(f"moment {found.at:.0f}: {len(found.jobs):,} jobs, read in {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
