"""Size of the recording of a whole week of a busy cluster: 10,080 polls of 2,000 waiting jobs, written to a file.

    python -m tests.benchmarks.week [POLLS]

Prints the size on disk after each day, the processor time of a poll, and how long one moment takes to be read.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from sim.cluster.recording import Recorder, Recording
from tests.sim.cluster.busy import MINUTE, busy

DAY = 24 * 60


def main() -> None:
    polls = int(sys.argv[1]) if len(sys.argv) > 1 else 7 * DAY
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "week.slog")
        recorder, spent = Recorder(path), 0.0
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
