"""A million jobs and more: the first frame, keys while all is computed, memory. Run by hand:

    python -m tests.benchmarks.million [--jobs N | TRACE]

Without a trace the jobs are made here, on a machine that is busy by three quarters. A key is pressed four times a
second; what counts is how long it is until something is drawn.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from tests.benchmarks.fast_input import Output
from tests.benchmarks.replay import cpu_of, idle, memory_of, program

KEYS = 40
JUMPS = {"End": b"\x1b[F", "left": b"\x1b[D", "left again": b"\x1b[D", "right": b"\x1b[C", "Home": b"\x1b[H"}
"""Keys that are pressed when all is computed, each after the one before it has been answered"""
DRAWN = b"Whole run"
"""Title of a panel; once it appears in the output, the first full frame has been drawn."""


class Screen(Output):
    """Recorder of the times at which something was drawn, and of the latest output, in which the test searches for
    `DRAWN`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen = b""

    def note(self, data: bytes) -> None:
        super().note(data)
        self.seen = (self.seen + data)[-(1 << 17) :]


def written(jobs: int, path: Path) -> None:
    lot = np.random.default_rng(7)
    submit = np.cumsum(lot.exponential(120.0, jobs)).astype(int)
    width = 2 ** lot.integers(0, 7, jobs)
    run = np.clip(lot.lognormal(6.2, 1.7, jobs).astype(int), 1, 86400)
    estimate = (run * lot.uniform(1, 4, jobs)).astype(int) + 60
    procs = int((run * width).sum() / submit[-1] / 0.75)
    rows = zip(submit.tolist(), run.tolist(), width.tolist(), estimate.tolist(), strict=True)
    lines = [f"{at} {s} -1 {r} {w} -1 -1 {w} {e} -1 1 1 1 -1 1 1 -1 -1" for at, (s, r, w, e) in enumerate(rows, 1)]
    path.write_text("\n".join([f"; MaxProcs: {procs}", *lines, ""]))


def pressed(key: bytes, keyboard: int, screen: Screen) -> float:
    """Press the key; return the seconds until something is drawn, at most about ten. `keyboard` is the file descriptor
    for keys.
    """
    drawn, begun = len(screen.times), time.perf_counter()
    os.write(keyboard, key)
    while len(screen.times) == drawn and time.perf_counter() - begun < 10:
        time.sleep(0.002)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description="a million jobs on the screen")
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace, screen = given.trace or Path(folder) / "made.swf", Screen()
        if given.trace is None:
            written(given.jobs, trace)
        begun = time.perf_counter()
        with program(str(trace), 0, screen.note) as (process, keyboard):
            while DRAWN not in screen.seen:
                time.sleep(0.01)
            print(f"first frame after {time.perf_counter() - begun:.1f} s, {cpu_of(process):.1f} s of them worked")
            took = []
            for at in range(KEYS):
                time.sleep(0.25)
                took.append(1000 * pressed(b"\x1b[C" if at % 2 else b"w", keyboard, screen))
            print(f"a key: {median(took):.0f} ms median, {quantiles(took, n=10)[-1]:.0f} ms at the 90th percentile")
            idle(process)
            print(f"computed: {memory_of(process):,.0f} MB of memory at its peak, {cpu_of(process):.0f} s worked")
            for name, key in JUMPS.items():
                print(f"{name}: {1000 * pressed(key, keyboard, screen):.0f} ms", flush=True)
                idle(process)


if __name__ == "__main__":
    main()
