"""What the scripts of findings share: a trace as a workload, a run to its end, a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.metrics.aggregates import Value
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.transforms import Transforms

TRACES = "../shared/traces"
"""Where the traces are unless told; they are not part of the project."""
KTH = "KTH-SP2-1996-2.swf.gz"
CTC = "CTC-SP2-1996-3.1-cln.swf.gz"
SDSC_SP2 = "SDSC-SP2-1998-4.2-cln.swf.gz"
SDSC_PAR = "SDSC-Par-1996-3.1-cln.swf.gz"


def load(path: Path, procs: int | None, transforms: Transforms) -> Workload:
    """What the command line makes of a trace and its options."""
    return transforms.apply(Workload.of(read(path), procs))


def simulate(workload: Workload, spec: str) -> Schedule:
    """The schedule of a policy, as it is typed."""
    engine = Engine(workload, parse_policy(spec), curious=False)
    while engine.advance(1000):
        pass
    return engine.schedule()


def show(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in Markdown: the first column is words, the others are numbers."""
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|---" + "|--:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def plain(value: Value, digits: int = 2) -> str:
    """A number, or a dash where there is none.

    >>> plain(1234.5), plain(None)
    ('1,234.50', '–')
    """
    return "–" if value is None else f"{value:,.{digits}f}"


def signed(value: Value) -> str:
    """A number that is a gain or a loss.

    >>> signed(0.066), signed(-0.001)
    ('+0.07', '-0.00')
    """
    return "–" if value is None else f"{value:+.2f}"
