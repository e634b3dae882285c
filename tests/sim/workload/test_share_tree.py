"""Fair Tree: the ranks of users, against the ranks that three versions of Slurm computed."""

from __future__ import annotations

import re

import pytest

from sim.live.cluster.slurm.accounts import shares
from sim.workload.shape import ShareEntry
from sim.workload.share_tree import DEEPEST, ShareTree
from tests.sim.live.cluster.slurm.answers import VERSIONS, parts


def factors(tree: ShareTree, usage: dict[str, float]) -> dict[str, float]:
    used = {at: usage.get(each.user, 0.0) for at, each in enumerate(tree.entries) if each.user}
    return {tree.entries[at].user: round(factor, 3) for at, factor in tree.factors(used).items()}


@pytest.mark.parametrize("version", VERSIONS)
def test_users_have_the_factors_that_slurm_computed(version: str) -> None:
    """The text has the usage that counted then as a part of that of the account, and the latest usage beside it."""
    text = parts(version)["assoc_mgr"]
    pattern = (
        r"Account=(\S*) UserName=(\w*).*\n\s+SharesRaw/Norm/Level/Factor=\S+/(\S+)\n\s+UsageRaw/Norm/Efctv=\S+/(\S+)"
    )
    told = {(account, user): tuple(map(float, rest)) for account, user, *rest in re.findall(pattern, text)}
    entries = [ShareEntry(e.account, e.user, "" if e.user else e.parent, e.shares) for e in shares(text)]
    tree = ShareTree(entries, [("physics", "news"), ("biology", "mail")])
    used = {
        at: told[each.account, each.user][1] * (1.0 if each.account == "root" else told[each.account, ""][1])
        for at, each in enumerate(tree.entries)
        if each.user
    }
    found = {tree.entries[at][:2]: round(factor, 2) for at, factor in tree.factors(used).items()}
    assert found == {key: factor for key, (factor, _) in told.items() if key[1]}
    assert [tree.entries[leaf].user for leaf in tree.leaf] == ["news", "mail"]


def test_odd_trees_have_factors() -> None:
    tree = ShareTree([ShareEntry("a", shares=2)], [("a", "ann"), ("b", "bob"), ("", "")])
    assert factors(tree, {"ann": 9.0, "bob": 6.0, "?": 8.0}) == {"bob": 0.667, "?": 0.333, "ann": 1.0}
    assert factors(tree, {"ann": 10.0, "bob": 2.0, "?": 8.0}) == {"bob": 1.0, "?": 0.333, "ann": 0.667}
    jobs = [("a", "ann"), ("a", "al"), ("b", "bob"), ("b", "bea")]
    assert factors(ShareTree([], jobs), {}) == dict.fromkeys(("ann", "al", "bob", "bea"), 1.0)
    # Both accounts used 4. In their own accounts al (1 of 4) and bea (2 of 4) used least.
    used = {"ann": 3.0, "al": 1.0, "bob": 2.0, "bea": 2.0}
    assert factors(ShareTree([], jobs), used) == {"al": 1.0, "bob": 0.75, "bea": 0.75, "ann": 0.25}
    entries = [ShareEntry("a", "ann", shares=0), ShareEntry("a", "al"), ShareEntry("a", "eve", shares=None)]
    tree = ShareTree(entries, [])
    assert factors(tree, {"al": 5.0, "eve": 50.0}) == {"eve": 1.0, "al": 0.667, "ann": 0.333}
    below = [ShareEntry("a", shares=None), ShareEntry("b"), ShareEntry("a", "ann"), ShareEntry("b", "bob")]
    assert factors(ShareTree(below, []), {"ann": 3.0, "bob": 1.0}) == {"bob": 1.0, "ann": 0.5}
    entries = [ShareEntry("a", usage=90.0), ShareEntry("a", "ann", usage=10.0), ShareEntry("b", "bob", usage=40.0)]
    tree = ShareTree(entries, [])
    names = {(each.account, each.user): at for at, each in enumerate(tree.entries)}
    assert tree.unowned()[names["a", ""]] == 80
    assert tree.factors(tree.unowned())[names["b", "bob"]] == 1
    circle = [ShareEntry("a", parent="b"), ShareEntry("b", parent="a"), ShareEntry("a", "ann")]
    assert factors(ShareTree(circle, []), {}) == {"ann": 1.0}
    deep = [ShareEntry(f"a{at}", parent=f"a{at + 1}") for at in range(40 * DEEPEST)]
    assert factors(ShareTree([*deep, ShareEntry("a0", "ann"), ShareEntry("a9", "bob")], []), {"bob": 1.0})["ann"] == 1
