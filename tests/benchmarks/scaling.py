"""How time and memory of a simulation grow with jobs, processors and load. Run by hand:

    python -m tests.benchmarks.scaling [--policy SPEC ...] [--most JOBS] [-o FILE.svg]

Workloads of Lublin and Feitelson's model are made here. The measure is the time of a core per job, with decisions and
full history, compiled or not (`SCHEDSCOPE_COMPILED=off`), and the bytes of the history per job. If the time per job
does not grow, all bars of a row are equally long.
"""

import argparse
from collections.abc import Iterator, Sequence
from html import escape
from math import log10
from pathlib import Path
from typing import NamedTuple

from sim.compiled import described
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.models import lublin
from tests.benchmarks.speed import best_of

JOBS, PROCS, LOAD = 10_000, 320, 0.7
"""Jobs, processors and load; each keeps this value while another one is varied"""
GROWS = {
    "jobs": (1_000, 10_000, 100_000, 1_000_000),
    "processors": (100, 1_000, 10_000, 100_000),
    "load": (0.5, 0.7, 1.0, 1.5, 2.0),
}
BAR = 40
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
WIDE, HIGH, MARGIN = 260, 200, 46


class Point(NamedTuple):
    """A measured size of the workload (`at`), with the microseconds (`took`) and the bytes of history (`size`) per job
    at that size.
    """

    at: float
    took: float
    size: float


Lines = dict[tuple[str, str], list[Point]]
"""Mapping from (varied quantity, policy) to the measured points"""


def workload(grows: str, at: float) -> Workload:
    jobs = int(at) if grows == "jobs" else JOBS
    procs = int(at) if grows == "processors" else PROCS
    made = Workload.of(lublin.generate(jobs, procs, 5, load=at if grows == "load" else LOAD)).with_overruns()
    assert len(made.jobs) == len(made.runtimes)
    return made


def costs(jobs: Workload, spec: str) -> tuple[float, float]:
    """Return the microseconds and the bytes of history per job of a simulation."""
    policy, runs, sizes = parse_policy(spec), 3 if len(jobs) <= JOBS else 1, list[int]()

    def simulate() -> None:
        engine = Engine(jobs, policy, curious=False)
        engine.run()
        sizes.append(engine.history.size)

    return best_of(runs, simulate) / len(jobs) * 1e6, sizes[0] / len(jobs)


def measured(grows: str, points: Sequence[float], policies: Sequence[str]) -> Iterator[tuple[str, Point]]:
    """Yield (policy, point) for each policy and each value in `points` of the quantity `grows`."""
    for at in points:
        jobs = workload(grows, at)
        for spec in policies:
            yield spec, Point(at, *costs(jobs, spec))


def in_the_terminal(grows: str, spec: str, line: Sequence[Point]) -> Iterator[str]:
    """Yield lines of text: first how many times longer a job takes at the last point than at the first, then a bar for
    each point.
    """
    most = max(point.took for point in line)
    yield f"\n{spec}, as {grows} grow{'s' * (grows == 'load')}: {line[-1].took / line[0].took:.1f} times a job"
    for at, took, size in line:
        yield f"  {at:>11,.7g} {took:10,.1f} µs {size:8,.0f} B  {'█' * max(1, round(BAR * took / most))}"


def as_svg(lines: Lines) -> str:
    """Return the figure as SVG, with a panel for each varied quantity; both axes are logarithmic."""
    grown = list(dict.fromkeys(grows for grows, _ in lines))
    policies = list(dict.fromkeys(spec for _, spec in lines))
    low, high = (f(log10(point.took) for line in lines.values() for point in line) for f in (min, max))
    low, high = int(low // 1), int(-(-high // 1))
    width, height = len(grown) * (WIDE + MARGIN) + MARGIN, HIGH + 2 * MARGIN + 16 * len(policies)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="11"><rect width="{width}" height="{height}" fill="white"/>'
    ]
    for number, grows in enumerate(grown):
        x0 = MARGIN + number * (WIDE + MARGIN)
        points = [point.at for point in next(line for (name, _), line in lines.items() if name == grows)]
        first, last = log10(points[0]), max(log10(points[-1]), log10(points[0]) + 1e-9)
        across = {at: x0 + WIDE * (log10(at) - first) / (last - first) for at in points}
        parts.append(f'<text x="{x0}" y="{MARGIN - 16}" font-weight="bold">µs a job, as {grows} grow</text>')
        for power in range(low, high + 1):
            y = MARGIN + HIGH * (high - power) / max(high - low, 1)
            parts.append(f'<path d="M{x0} {y:.1f}h{WIDE}" stroke="#ddd"/>')
            parts.append(f'<text x="{x0 - 4}" y="{y + 4:.1f}" text-anchor="end">{10**power:,g}</text>')
        for at, x in across.items():
            parts.append(f'<text x="{x:.1f}" y="{MARGIN + HIGH + 16}" text-anchor="middle">{at:,.7g}</text>')
        for spec, colour in zip(policies, COLOURS * len(policies), strict=False):
            ys = [MARGIN + HIGH * (high - log10(took)) / max(high - low, 1) for _, took, _ in lines[grows, spec]]
            path = " ".join(f"{across[at]:.1f},{y:.1f}" for at, y in zip(points, ys, strict=True))
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for number, (spec, colour) in enumerate(zip(policies, COLOURS * len(policies), strict=False)):
        y = MARGIN + HIGH + 40 + 16 * number
        parts.append(f'<path d="M{MARGIN} {y - 4}h20" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{MARGIN + 26}" y="{y}">{escape(spec)}, {described()}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", action="append", help="default: easy and conservative")
    parser.add_argument("--most", type=int, default=1_000_000, help="jobs at most")
    parser.add_argument("-o", "--output", type=Path, help="draw it as SVG, too")
    chosen = parser.parse_args()
    policies, lines = chosen.policy or ["easy", "conservative"], Lines()
    print(f"{JOBS:,} jobs on {PROCS} processors at load {LOAD}, but for what grows; {described()}")
    for grows, all_points in GROWS.items():
        points = [at for at in all_points if grows != "jobs" or at <= chosen.most]
        for spec, point in measured(grows, points, policies):
            lines.setdefault((grows, spec), []).append(point)
        for spec in policies:
            print("\n".join(in_the_terminal(grows, spec, lines[grows, spec])), flush=True)
    if chosen.output:
        chosen.output.write_text(as_svg(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
