"""Limits as `scontrol show assoc_mgr` of two versions writes them."""

from __future__ import annotations

from sim.live.cluster.slurm.limits import limits
from sim.live.cluster.values import Limit

TEXT = """
User Records

UserName=games(5) DefAccount=physics DefWckey=(null) AdminLevel=None

Association Records

ClusterName=testbed Account=biology UserName= Partition= Priority=0 ID=4
    GrpJobs=N(7) GrpJobsAccrue=N(10)
    GrpTRES=cpu=24(16),mem=N(16000),gres/gpu=2(0)
    MaxJobs= MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=
ClusterName=testbed Account=biology UserName=backup(34) Partition= Priority=0 ID=8
    MaxJobs=3(1) MaxWallPJ=
QOS Records

QOS=urgent(2)
    GrpJobs=9(1) GrpWall=N(3.38)
    Account Limits
      physics
        MaxTRESPA=cpu=12(5),mem=N(5000)
    User Limits
      {user}
        MaxJobsPU=4(1) MaxSubmitJobsPU=N(1)
"""


def test_numbers_are_read_with_what_they_are_about() -> None:
    expected = (
        Limit("account", "biology", "GrpTRES=cpu", 24, 16),
        Limit("account", "biology", "GrpTRES=gres/gpu", 2, 0),
        Limit("user", "backup of biology", "MaxJobs", 3, 1),
        Limit("qos", "urgent", "GrpJobs", 9, 1),
        Limit("qos of an account", "physics in urgent", "MaxTRESPA=cpu", 12, 5),
        Limit("qos of a user", "games in urgent", "MaxJobsPU", 4, 1),
    )
    for user in ("games(5)", "5"):  # 24.11 and 22.05
        assert limits(TEXT.replace("{user}", user)) == expected


def test_other_text_has_no_limits() -> None:
    assert limits("") == limits("GrpJobs=4(1)\n") == limits("x=" * 1000) == ()
