"""Write the project's own cases: small random traces, and the schedules that the second implementations give for them.

    python -m tests.oracle.write

writes tests/sim/cases/NAME.swf, .expected (a policy and every job's start in a line) and .gang (start and end).
"""

from pathlib import Path
from random import Random

from sim.workload.model import Workload
from sim.workload.reading import read
from tests.oracle import space
from tests.oracle.gang import Gang
from tests.oracle.jobs import exact, jobs_of
from tests.oracle.preempt import Preemption, Stay

CASES = Path(__file__).resolve().parents[1] / "sim" / "cases"
MACHINES = {"crowded-8": (8, 60, 1), "bursts-24": (24, 80, 2), "wide-100": (100, 70, 3)}
"""For each random trace, by name: (processors, jobs, seed)."""
SPECS = (
    *("fcfs", "fcfs:order=sjf", "firstfit", "firstfit:order=wide", "firstfit:order=narrow"),
    *("easy", "easy:order=sjf", "easy:order=saf", "easy:order=xfactor"),
    *("conservative", "conservative:compress=none", "conservative:compress=queue"),
    *("conservative:compress=queue,order=sjf", "replan", "replan:order=sjf"),
    *("relaxed:omega=0.5", "relaxed:omega=1.25", "relaxed:omega=2,relative=runtime"),
)
GANGS = ("gang:mpl=2,slice=50", "gang:mpl=5,slice=20", "gang-backfill:mpl=2,slice=50", "gang-backfill:mpl=4,slice=30")


def parts_of(spec: str) -> tuple[str, dict[str, str]]:
    name, _, options = spec.partition(":")
    return name, dict(option.split("=") for option in options.split(",") if option)


def starts_of(workload: Workload, spec: str) -> list[float]:
    name, options = parts_of(spec)
    found = space.starts(workload.procs, jobs_of(workload), name, options.pop("order", "fcfs"), **options)
    return [float(start) for start in found]


def turns_of(workload: Workload, spec: str, parts: int = 1) -> list[tuple[float, float]]:
    """Return the first start and the end of each job, whose times are multiples of one of the `parts` of a second."""
    name, options = parts_of(spec)
    mpl, slice = int(options["mpl"]), parts * int(options["slice"])
    jobs = [
        job._replace(submit=parts * job.submit, run=parts * job.run, estimate=parts * job.estimate)
        for job in jobs_of(workload)
    ]
    found = Gang(workload.procs, jobs, mpl, slice, backfill=name == "gang-backfill").run()
    return [(start / parts, end / parts) for start, end in found]


def stays_of(workload: Workload, spec: str) -> list[Stay]:
    name, options = parts_of(spec)
    places = {key: options.pop(key) for key in ("seats", "restart") if key in options}
    numbers = {key: exact(value) for key, value in options.items()}
    return Preemption(workload.procs, jobs_of(workload), name, **numbers, **places).run()  # type: ignore[arg-type]


def trace(procs: int, count: int, seed: int) -> str:
    """Return a random trace in SWF. Some jobs are submitted in the same second; estimates are exact, too short or too
    long. Some jobs are narrow, and one is as wide as the machine."""
    random = Random(seed)
    lines, now = [f"; MaxProcs: {procs}"], 0
    for number in range(1, count + 1):
        now += random.choice([0, 0, 1, 10, 60, 200])
        width = procs if number % 20 == 0 else min(procs, 2 ** random.randrange(procs.bit_length()))
        width = max(1, width - random.choice([0, 0, 1]))
        run = random.choice([1, random.randint(5, 60), random.randint(60, 900)])
        estimate = round(run * random.choice([0.8, 1, 1, 1.5, 4, 10])) or 1
        lines.append(f"{number} {now} -1 {run} {width} -1 -1 {width} {estimate} -1 1 1 -1 -1 -1 -1 -1 -1")
    return "\n".join(lines) + "\n"


def main() -> None:
    CASES.mkdir(exist_ok=True)
    for name, size in MACHINES.items():
        path = CASES / f"{name}.swf"
        path.write_text(trace(*size))
        workload = Workload.of(read(path)).with_overruns()
        plain = [[spec, *map("{}:{:.12g}".format, workload.ids, starts_of(workload, spec))] for spec in SPECS]
        turns = [
            [spec, *(f"{id}:{a}-{b}" for id, (a, b) in zip(workload.ids, turns_of(workload, spec), strict=True))]
            for spec in GANGS
        ]
        write(path.with_suffix(".expected"), plain)
        write(path.with_suffix(".gang"), turns)


def write(path: Path, lines: list[list[str]]) -> None:
    path.write_text("".join(" ".join(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
