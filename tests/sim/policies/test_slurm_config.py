import pytest

from sim.policies.slurm_config import spec_of
from sim.support.errors import ParameterError

CONFIG = """
# slurm.conf
PriorityType            = priority/multifactor
PriorityDecayHalfLife   = 00:30:00
PriorityFavorSmall      = Yes
PriorityCalcPeriod      = 1
PriorityMaxAge          = 01:00:00
PriorityWeightAge       = 500
PriorityWeightFairShare = 5000
PriorityWeightJobSize   = 700
PriorityWeightPartition = 1000
PriorityWeightQOS       = 2000
PriorityWeightTRES      = (null)
SchedulerParameters     = bf_interval=5,bf_resolution=1,bf_continue,bf_window=60,bf_max_job_test=50
"""
SPEC = (
    "slurm:age=500,fairshare=5000,size=700,maxage=3600,halflife=1800,favour=small,partition=1000,qos=2000,"
    "shares=tree,period=60,bf_interval=5,bf_window=3600,bf_resolution=1,bf_max_job_test=50"
)


def test_configuration_becomes_a_policy() -> None:
    assert spec_of(CONFIG + "PriorityWeightAssoc = 7") == (SPEC, ("associations",))
    assert spec_of("PriorityWeightQOS=9")[0] == "slurm:age=0,fairshare=0,size=0,qos=9,shares=tree"
    flags = "PriorityWeightAge=9\nPriorityFlags=NO_FAIR_TREE,SMALL_RELATIVE_TO_TIME"
    assert spec_of(flags)[0] == "slurm:age=9,fairshare=0,size=0,shares=accounts"
    basic = "PriorityType=priority/basic\nPriorityMaxAge=9\nSchedulerParameters=bf_interval=5"
    assert spec_of(basic)[0] == "slurm:order=fcfs,bf_interval=5"
    with pytest.raises(ParameterError, match="no priorities of Slurm in it"):
        spec_of("SlurmctldPort=6817")
