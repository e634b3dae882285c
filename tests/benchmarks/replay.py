"""How little processor time the replay takes. Run by hand, on a real trace:

    python -m tests.benchmarks.replay TRACE

- playing: the share of one core that the whole program takes in a pseudo-terminal of 200x60, at several speeds, when
  the run has been computed, and the bytes that it sends;
- comparing: the time of a scene and its drawing with two charts, against that of one chart of the same height;
- scrubbing: the time from the request to the picture, for random times of the run, while the worker computes another
  part ahead.
"""

import argparse
import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from statistics import median, quantiles

from sim.policies import parse_policy
from sim.workload.source import Source
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import chart_size, paint
from tui.chart.scale import Camera
from tui.look.palette import DARK
from tui.replay.controller import ReplayController
from tui.replay.opening import Opening, Prepared
from tui.replay.requests import Compare, GoTo, GoToTime, Move, Scenes, Told, Wish
from tui.replay.scene import Scene
from tui.replay.stage import RunView
from tui.replay.worker import Player

SCREEN = Size(200, 60)
WINDOW = struct.pack("HHHH", SCREEN.rows, SCREEN.columns, 0, 0)
FRAMES = 150
SECONDS = 8.0
SPEEDS = (("1h/s", 0), ("12h/s", 2), ("4d/s", 4))
"""Pairs (speed as shown, number of presses of `faster` that lead to it from 1h/s)."""


def opened(trace: str, policy: str) -> Prepared:
    return Opening(Source(trace), parse_policy(policy)).prepare()


def middle_of(prepared: Prepared) -> float:
    submit = prepared.about.workload.submit
    return float(submit[len(submit) // 3])


# Playing
@contextmanager
def program(trace: str, day: int, heard: Callable[[bytes], object] = len) -> Iterator[tuple[int, int]]:
    """Run the program on a trace, from day `day`, in a pseudo-terminal; pass all its output to `heard`. Yield its
    process id, and the file descriptor to which keys are written."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"SCHEDSCOPE_CONFIG": folder, "SCHEDSCOPE_STATE": folder}
        env = {**os.environ, **kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, WINDOW)
        command = [sys.executable, "-m", "tui.cli.main", trace, "--at", f"d{day}"]
        running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        reader = threading.Thread(target=_read_all, args=(ours, heard), daemon=True)
        reader.start()
        try:
            yield running.pid, ours
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()


def _read_all(terminal: int, heard: Callable[[bytes], object]) -> None:
    while True:
        try:
            select.select([terminal], [], [])
            if not (data := os.read(terminal, 1 << 16)):
                return
            heard(data)
        except OSError:
            return


def cpu_of(process: int) -> float:
    """Return the seconds of a core that the process has used."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def idle(process: int) -> None:
    """Wait until all has been computed ahead and the process rests."""
    while True:
        before = cpu_of(process)
        time.sleep(1)
        if cpu_of(process) - before < 0.05:
            return


def playing(trace: str, day: int) -> None:
    for label, faster in SPEEDS:
        sent: list[int] = []
        with program(trace, day, lambda data, sent=sent: sent.append(len(data))) as (process, keys):  # type: ignore[misc]
            time.sleep(2)
            idle(process)
            os.write(keys, b"\x1b[A" * faster + b" ")
            time.sleep(1)
            before, heard = cpu_of(process), sum(sent)
            time.sleep(SECONDS)
            share = (cpu_of(process) - before) / SECONDS
            kib = (sum(sent) - heard) / 1024 / SECONDS
            most = memory_of(process)
        print(f"playing at {label:<6}{share:8.0%} of a core, {kib:6.0f} KiB/s, {most:,.0f} MB of memory at its peak")


# Comparing
def picture(scene: Scene, brush: Brush, size: Size) -> None:
    assert scene.chart is not None
    cells = paint(scene.chart, DARK, size)
    for span in cells.changed(None):
        brush.draw(cells, *span)


def frames(controller: ReplayController, size: Size) -> list[float]:
    """Return the milliseconds of each frame while the run advances by one step a frame."""
    procs = controller.stage.workload.procs
    inner = chart_size(size, procs)
    wish = Wish(Camera(900, 0, procs, inner.columns, 2 * inner.rows), strip_columns=120)
    brush, times = Brush(DARK), []
    while any(s.chart and s.chart.pending for s in controller.scenes(wish) if s):
        pass
    for _ in range(FRAMES):
        controller.obey(Move(1), wish, lambda: False)
        begin = time.perf_counter()
        for scene in controller.scenes(wish):
            if scene is not None:
                picture(scene, brush, size)
        times.append(1000 * (time.perf_counter() - begin))
    return times


def comparing(trace: str) -> None:
    prepared = opened(trace, "easy")
    wish = Wish(Camera.on(prepared.about.workload, 100, 50))
    controller = ReplayController(RunView(prepared.timeline))
    controller.obey(GoToTime(middle_of(prepared)), wish, lambda: False)
    whole, half = Size(120, 48), Size(120, 24)
    one = median(frames(controller, whole))
    controller.obey(Compare(parse_policy("conservative")), wish, lambda: False)
    two = median(frames(controller, half))
    print(f"one chart   {one:8.1f} ms a frame")
    print(f"two charts  {two:8.1f} ms, {two / one:.2f} times that")


# Scrubbing
def scrubbing(trace: str) -> None:
    """Print how long seeks take within the computed part of a slow run, while its rest is being computed."""
    prepared = opened(trace, "conservative")
    prepared.timeline.compute(60_000)
    known = prepared.timeline.computed
    inner = chart_size(SCREEN, prepared.about.workload.procs)
    camera = Camera(900, 0, prepared.about.workload.procs, inner.columns, 2 * inner.rows)
    told: SimpleQueue[Told] = SimpleQueue()
    player = Player(ReplayController(RunView(prepared.timeline)), Wish(camera, strip_columns=120), told.put)
    player.start()
    lot, brush, times = random.Random(1), Brush(DARK), []
    for _ in range(60):
        time.sleep(0.05)
        player.ask(GoTo(lot.randrange(known)))
        begin = time.perf_counter()
        while not (isinstance(shown := told.get(), Scenes) and shown.answers == player.asked):
            pass
        picture(shown.scene, brush, SCREEN)
        times.append(1000 * (time.perf_counter() - begin))
    busy = prepared.timeline.computed > known
    player.close()
    print(f"scrubbing   {median(times):8.1f} ms median, {quantiles(times, n=20)[-1]:.1f} ms p95, worker busy: {busy}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--day", type=int, default=100, help="where playing begins")
    given = parser.parse_args()
    comparing(given.trace)
    scrubbing(given.trace)
    playing(given.trace, given.day)


if __name__ == "__main__":
    main()
