"""From the command to the first full frame, in a real terminal: a pseudo-terminal that is read until a panel is drawn.

    python -m tests.benchmarks.startup TRACE [--runs N]

Only the ratio to `python -c "import textual.app"` means something; the runs of both are interleaved.
"""

import argparse
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
from statistics import median
from time import perf_counter

DRAWN = b"Whole run"
"""Title of a panel; once it appears in the output, the first full frame has been drawn."""
SIZE = struct.pack("HHHH", 36, 120, 0, 0)


def first_frame(trace: str) -> float:
    """Return the seconds from the start of the program to the frame in which the panels are drawn."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"SCHEDSCOPE_CONFIG": folder, "SCHEDSCOPE_STATE": folder}
        env = {**os.environ, **kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, SIZE)
        begun = perf_counter()
        program = subprocess.Popen(
            [sys.executable, "-m", "tui.cli.main", trace], stdin=theirs, stdout=theirs, stderr=theirs, env=env
        )
        os.close(theirs)
        seen = b""
        while DRAWN not in seen:
            seen += os.read(ours, 65536)
        took = perf_counter() - begun
        program.send_signal(signal.SIGKILL)
        program.wait()
        os.close(ours)
    return took


def importing() -> float:
    """Return the seconds that Python takes to import `textual.app`, which every Textual app needs."""
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", "import textual.app"], check=True)
    return perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    frames, imports = [], []
    for _ in range(given.runs):
        imports.append(importing())
        frames.append(first_frame(given.trace))
    print(f"import textual.app     {median(imports):.2f} s (median of {given.runs})")
    print(f"first full frame       {median(frames):.2f} s, {median(frames) / median(imports):.1f} times that")


if __name__ == "__main__":
    main()
