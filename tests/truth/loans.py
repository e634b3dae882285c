"""Loans between partitions, found by comparing the present owners of processors with those at the division of the
machine.
"""

from collections import Counter
from collections.abc import Callable

from sim.decisions import decisions as d
from sim.decisions.sentences import say
from tests.truth.world import World


def told_decision(world: World, decision: d.Decision, at: Callable[[float], str]) -> str:
    """Return a decision in the words of the decisions panel; loans are written with the partitions by which they were
    made.
    """
    names = world.class_names()
    known = sum(world.division)
    if not isinstance(decision, d.Borrow) or not names or decision.processors & ~known:
        return world.named(say(decision, at))
    homes = Counter(
        next(home for home, first in enumerate(world.division) if first >> processor & 1)
        for processor in range(world.procs)
        if decision.processors >> processor & 1
    )
    back = homes.pop(decision.to, 0)
    acts = [f"takes back {_procs(back)}"] if back else []
    lenders = [f"{homes[home]} from {names[home]}" for home in sorted(homes)]
    if lenders:
        acts.append(f"borrows {_procs(homes.total())}")
    if len(lenders) == 1:
        acts[-1] += f" from {names[next(iter(homes))]}"
    details = f": {', '.join(lenders[:-1])} and {lenders[-1]}" if len(lenders) > 1 else ""
    return f"{names[decision.to]} {' and '.join(acts)} for J{decision.job.id}{details}"


def _procs(many: int) -> str:
    return f"{many} processor" + "s" * (many != 1)
