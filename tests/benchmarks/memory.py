"""Memory used by a long evening of what-if. Run by hand:

    python -m tests.benchmarks.memory FOLDER_OF_TRACES [--rounds N]

CTC on its 338 processors under EASY, known to its end. Each round switches to another policy, compares that run with a
third one, watches both charts until all is known and drawn, and ends the comparison. Printed after each: what the
process has, what of it histories and checkpoints take (estimated), and how long the first whole chart took.
"""

import argparse
import gc
import time
from pathlib import Path

from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from tests.benchmarks.speed import load
from tui.chart.scale import Camera
from tui.replay.controller import ReplayController
from tui.replay.requests import Compare, CompareNoMore, GoToTime, LookAt, Order, SwitchTo, Wish
from tui.replay.stage import RunView

TRACE = "CTC-SP2-1996-3.1-cln.swf.gz"
POLICIES = ("conservative", "fcfs", "easy:order=sjf", "multiqueue", "firstfit")
PORTION = 0.05
"""Seconds for which the run is computed further between two frames."""


def resident() -> float:
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


class Evening:
    """Session of a user who tries one policy after another, as in a long evening."""

    def __init__(self, controller: ReplayController, wish: Wish) -> None:
        self._controller, self._wish = controller, wish

    def does(self, what: str, *orders: Order) -> None:
        """Apply the requests, draw, compute the run to its end and draw again; print `what` was done and what that
        took."""
        begin = time.perf_counter()
        for order in orders:
            self._controller.obey(order, self._wish, lambda: False)
        self._draw()
        drawn = time.perf_counter() - begin
        while not self._controller.is_computed:
            self._controller.compute(PORTION)
            self._controller.scenes(self._wish)
        self._draw()
        timeline = self._controller.stage.timeline
        held = sum(branch.held for branch in timeline.branches.values()) / 2**20
        parts = f"histories {held:.0f}, checkpoints {timeline.memory / 2**20:.0f}"
        print(f"{what:<32}{resident():6.0f} MB ({parts}), drawn after {1000 * drawn:6.0f} ms", flush=True)

    def _draw(self) -> None:
        while any(s and s.chart and s.chart.pending for s in self._controller.scenes(self._wish)):
            pass


def main() -> None:
    parser = argparse.ArgumentParser(description="what a long evening of what-if costs in memory")
    parser.add_argument("traces", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    workload = load(asked.traces / TRACE)
    stage = RunView(Timeline(workload, "easy"))
    evening = Evening(ReplayController(stage), Wish(Camera.on(workload, 140, 90), strip_columns=150))
    evening.does("easy")
    submit = workload.submit
    for number in range(asked.rounds):
        policy = parse_policy(POLICIES[number % len(POLICIES)])
        other = parse_policy(POLICIES[(number + 2) % len(POLICIES)])
        moment = float(submit[(number + 1) * len(submit) // (asked.rounds + 2)])
        evening.does(f"{number + 1}: {policy.name} from here on", LookAt("main"), GoToTime(moment), SwitchTo(policy))
        evening.does(f"{number + 1}: beside it {other.name}", Compare(other))
        evening.does(f"{number + 1}: alone again", CompareNoMore())


if __name__ == "__main__":
    main()
