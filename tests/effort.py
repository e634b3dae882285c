"""Amount of work, counted in a way that does not depend on the load of the machine."""

from collections.abc import Callable
from cProfile import Profile


def calls(work: Callable[[], object]) -> int:
    profile = Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
