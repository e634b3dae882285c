"""Size of the machine behind a dump of sacct, from its jobs, and notes on requests that are not simulated."""

from __future__ import annotations

from collections import Counter, defaultdict

from sim.support.formatting import listed
from sim.workload.fidelity import UNMODELLED, Note
from sim.workload.formats.slurm_text import hosts
from sim.workload.formats.table import number
from sim.workload.shape import Shape

Row = dict[str, str]
HARMLESS = {"", "None", "(null)", "Unknown"}


class Used:
    """Nodes that ran jobs, each with the largest number of CPUs that jobs held on this node at one time."""

    def __init__(self) -> None:
        self._changes: dict[str, list[tuple[float, int]]] = defaultdict(list)
        self._alone: Counter[str] = Counter()
        self._all: list[tuple[float, int]] = []

    def add(self, nodes: str, cpus: int, start: float, end: float, suspended: bool) -> None:
        """Add a stay with equal shares of the CPUs on all nodes; `suspended`: the job was suspended in between."""
        names = hosts(nodes)
        for name in names:
            self._alone[name] = max(self._alone[name], cpus // len(names))
        if suspended or end <= start:
            return  # a suspended job gives its CPUs to others at times that are not recorded
        held = ((start, cpus), (end, -cpus))
        self._all += held
        if len(names) == 1:
            self._changes[names[0]] += held

    @property
    def nodes(self) -> int:
        return len(self._alone)

    @property
    def cpus(self) -> int:
        """Return the machine's CPUs: the sum over its nodes or, if greater, the largest number in use at one time."""
        each = sum(max(most, _peak(self._changes[name])) for name, most in self._alone.items())
        return max(each, _peak(self._all))

    def strange_to(self, known: dict[str, int]) -> int:
        return sum(name not in known for name in self._alone)


def _peak(changes: list[tuple[float, int]]) -> int:
    """Return the most CPUs held at one time, from (time, change); at equal times, releases count first."""
    held = most = 0
    for _, change in sorted(changes):
        held += change
        most = max(most, held)
    return most


class Unmodelled:
    """Counter of the requests that are not simulated, such as licenses, and limits unless `has_limits`."""

    def __init__(self, shape: Shape | None = None, has_limits: bool = False) -> None:
        self._modelled = {"limits of accounts or QOS", "qos"} if has_limits else set[str]()
        self._reservations = {each.name for each in shape.reservations} if shape is not None else set[str]()
        if shape is not None:
            self._modelled |= {"memory"} if shape.has[:, 1].any() else set()
            self._modelled |= {"GPUs"} if "gpu" in shape.kinds else set()
            self._modelled |= {"partition"} if shape.groups else set()
        self._jobs: Counter[str] = Counter()
        self._names: dict[str, set[str]] = {"partition": set(), "qos": set()}
        self._count = 0
        self._first = ""

    def add(self, row: Row) -> None:
        tres = row.get("reqtres", "") + "," + row.get("alloctres", "")
        asked = {
            "memory": (number(row.get("reqmem", "").rstrip("KMGTPcn")) or 0) > 0 or "mem=" in tres,
            "GPUs": "gres/gpu" in tres,
            "licenses": row.get("licenses", "") not in HARMLESS,
            "node features": row.get("constraints", "") not in HARMLESS,
            "reservations": row.get("reservation", "") not in {*HARMLESS, *self._reservations},
            "limits of accounts or QOS": row.get("reason", "").startswith(("Assoc", "QOS")),
        }
        for column, names in self._names.items():
            names.add(row.get(column, ""))
        missed = [what for what, is_asked in asked.items() if is_asked and what not in self._modelled]
        self._jobs.update(missed)
        if missed:
            self._count += 1
            self._first = self._first or f"job {row['jobid']}"

    def note(self) -> tuple[Note, ...]:
        parts = [f"{what} ({count:,} {'job' if count == 1 else 'jobs'})" for what, count in self._jobs.items()]
        counts = {name: len(found - {""}) for name, found in self._names.items()}
        has_parts = counts["partition"] > 1 and "partition" not in self._modelled
        parts += [f"{counts['partition']:,} partitions"] if has_parts else []
        parts += [f"{counts['qos']:,} QOS"] if counts["qos"] > 1 and "qos" not in self._modelled else []
        if not parts:
            return ()
        return (Note(f"{UNMODELLED} {listed(parts, most=9)}", max(self._count, 1), self._first),)
