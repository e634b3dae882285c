"""How far the screen lags behind fast input. Run by hand, on a real trace:

    python -m tests.benchmarks.fast_input TRACE [--seconds S]

The program runs in a pseudo-terminal of 200x60, and the run has been computed to its end. The strip is dragged at 60
and at 120 moves a second, and the right arrow key is held at 100 a second. The lag is the time from the last input to
the last output; the freeze is the longest time without output while input is sent.
"""

import argparse
import os
import time
from collections.abc import Iterator
from itertools import pairwise

from tests.benchmarks.replay import SCREEN, idle, program

STRIP_ROW = SCREEN.rows - 4
FIRST, LAST = 12, 120
"""First and last column of the strip between which the pointer is dragged to and fro."""


class Output:
    """Recorder of the times at which something was drawn."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def note(self, data: bytes) -> None:
        self.times.append(time.perf_counter())


def columns() -> Iterator[int]:
    while True:
        yield from range(FIRST, LAST)
        yield from range(LAST, FIRST, -1)


def moves() -> Iterator[bytes]:
    for column in columns():
        yield f"\x1b[<32;{column};{STRIP_ROW}M".encode()


def arrows() -> Iterator[bytes]:
    while True:
        yield b"\x1b[C"


def measured(
    what: str, terminal: tuple[int, int], output: Output, rate: int, seconds: float, inputs: Iterator[bytes]
) -> None:
    """Send `rate` inputs a second for some seconds, and print the lag and the freeze; `terminal` is (process id, file
    descriptor for keys).
    """
    process, keyboard = terminal
    first, sent = time.perf_counter(), 0
    while sent < rate * seconds:
        due = int((time.perf_counter() - first) * rate)
        while sent < min(due, rate * seconds):
            os.write(keyboard, next(inputs))
            sent += 1
        time.sleep(0.002)
    last = time.perf_counter()
    idle(process)
    drawn = [first, *(at for at in output.times if at > first)]
    if len(drawn) < 2:
        raise SystemExit(f"{what}: the program draws nothing; give it a trace that it can open")
    freeze = max(b - a for a, b in pairwise(drawn))
    lag = max(drawn[-1] - last, 0)
    print(f"{what:<34}{lag:6.2f} s of lag, {freeze:.2f} s the longest freeze", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="how far the screen lags behind fast input")
    parser.add_argument("trace")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--day", type=int, default=100)
    asked = parser.parse_args()
    output = Output()
    with program(asked.trace, asked.day, output.note) as terminal:
        process, keyboard = terminal
        time.sleep(2)
        idle(process)
        press, release = (f"\x1b[<0;{FIRST};{STRIP_ROW}{end}".encode() for end in "Mm")
        for rate in (60, 120):
            os.write(keyboard, press)
            measured(f"dragging, {rate} moves a second", terminal, output, rate, asked.seconds, moves())
            os.write(keyboard, release)
            time.sleep(1)
        measured("right arrow, 100 a second", terminal, output, 100, asked.seconds, arrows())


if __name__ == "__main__":
    main()
