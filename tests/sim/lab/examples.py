"""A small plan, and policies that fail."""

from pathlib import Path

from sim.lab.plan import SweepPlan
from tests.sim.lab.test_plan import FAIR

BREAKS = FAIR.replace("        for job", "        1 / 0\n        for job")
KILLS = FAIR.replace(
    "        for job", "        import os, signal\n        os.kill(os.getpid(), signal.SIGKILL)\n        for job"
)


def small(*policies: str, seeds: int = 3, jobs: int = 60, groups: tuple[str, ...] = ()) -> SweepPlan:
    """Return a plan whose runs are all different and take milliseconds each."""
    factors = {
        "trace": ["lublin-128"], "jobs": [str(jobs)], "estimates": ["random:2"], "load": ["{1,2}"],
        "seed": [f"{{0..{seeds - 1}}}"], "policy": list(policies or ("easy", "relaxed:omega={0,1}")),
    }  # fmt: skip
    return SweepPlan.of(factors, groups=groups)


def policy_file(folder: Path, text: str) -> str:
    path = folder / "own.py"
    path.write_text(text, encoding="utf-8")
    return str(path)
