"""Accounts, limits and settings of priorities, as commands of three versions of Slurm write them."""

from __future__ import annotations

import pytest

from sim.live.cluster.slurm.accounts import limits, settings, shares
from sim.live.cluster.values import Limit, Share
from tests.sim.live.cluster.slurm.answers import VERSIONS, parts

TEXT = """
Association Records

ClusterName=c Account=root UserName= Partition= Priority=0 ID=1
    SharesRaw/Norm/Level/Factor=1/0.00/1/0.00
    UsageRaw/Norm/Efctv=9.50/1.00/1.00
    ParentAccount= Lft=1 DefAssoc=No
ClusterName=c Account=physics UserName= Partition= Priority=0 ID=3
    SharesRaw/Norm/Level/Factor=10/0.24/41/0.00
    UsageRaw/Norm/Efctv=8.25/1.00/1.00
    ParentAccount=root(1) Lineage=/physics/ DefAssoc=No
ClusterName=c Account=physics UserName=anna(1001) Partition= Priority=0 ID=5
    SharesRaw/Norm/Level/Factor={raw}/0.33/3/0.50
    UsageRaw/Norm/Efctv=8.25/1.00/1.00
    ParentAccount= Lineage=/physics/0-anna/ DefAssoc=Yes

QOS Records

QOS=normal(1)
    UsageRaw=18.5
"""


@pytest.mark.parametrize(("raw", "own"), [("7", 7), ("0", 0), ("2147483647", None), ("parent", None)])
def test_accounts_and_users_are_read_with_their_shares_and_usage(raw: str, own: int | None) -> None:
    assert shares(TEXT.replace("{raw}", raw)) == (
        Share("1", "root", "", "", 1, 9.5),
        Share("3", "physics", "", "root", 10, 8.25),
        Share("5", "physics", "anna", "physics", own, 8.25),
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_tells_the_whole_tree(version: str) -> None:
    found = {(each.account, each.user): each for each in shares(parts(version)["assoc_mgr"])}
    assert len(found) == 9
    assert found["biology", ""].shares == 30
    assert found["physics", "news"].parent == found["physics", ""].account
    assert 0 < found["biology", "mail"].usage < found["root", ""].usage


def test_other_text_has_no_shares() -> None:
    assert shares("") == shares("ClusterName=c Account=x UserName= ID=1") == shares("    SharesRaw=1\n" * 9) == ()
    assert shares(TEXT.replace("8.25", "much").replace("{raw}", "1")) == (Share("1", "root", "", "", 1, 9.5),)


def test_settings_are_lines_of_priorities_and_backfill() -> None:
    told = (
        "PriorityFlags = \nPriorityMaxAge= 7-0\nSlurmUser = root\nSchedulerParameters=bf_interval=5\nPriorityX=(null)"
    )
    assert settings(told) == "PriorityMaxAge=7-0\nSchedulerParameters=bf_interval=5"
    assert len(settings("PriorityFlags=" + "x" * 2000)) == 0


LIMITS = """
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
        assert limits(LIMITS.replace("{user}", user)) == expected


def test_other_text_has_no_limits() -> None:
    assert limits("") == limits("GrpJobs=4(1)\n") == limits("x=" * 1000) == ()
