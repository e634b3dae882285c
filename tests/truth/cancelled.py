"""Sentences about jobs that are cancelled because their condition on other jobs cannot be met any more."""

from sim.decisions.decisions import Drop
from sim.workload.follows import HOPELESS
from tests.truth.panels import Sight, Standing
from tests.truth.submissions import is_hopeless
from tests.truth.words import demand, demand_equal, reads
from tests.truth.world import World


@reads(Drop, f"{{j}} is cancelled: {HOPELESS}")
def _(world: World, decision: Drop, name: str) -> None:
    demand_equal(name, world.jobs[decision.job.rank].name)
    demand(is_hopeless(world, decision.job.rank), "its condition can still be met")


@reads(Standing, f"{{j}} is cancelled: {HOPELESS}.")
def _(sight: Sight, name: str) -> None:
    demand_equal((name, sight.state), (sight.job.name, "cancelled"))
    demand(is_hopeless(sight.after.world, sight.job.rank), "its condition can still be met")
