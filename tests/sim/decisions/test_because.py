import copy
import pickle

import pytest

from sim.decisions.because import Because
from sim.decisions.reasons import Due, InOrder, WhenFree, WhenPredicted
from sim.decisions.reasons_to_wait import WouldDelay
from sim.workload.job import Job

HEAD = Job(0, "1", submit=0, procs=1, estimate=10)


def test_reasons_are_values() -> None:
    assert WhenFree(3, 9) == WhenFree(3, 9) != WhenFree(3, 8)
    assert WhenFree(3, 9) != WhenPredicted(3, 9)
    assert len({InOrder(4), InOrder(4), InOrder(5), Due()}) == 3
    assert repr(WhenFree(3, then=9)) == "WhenFree(free=3, then=9)"


@pytest.mark.parametrize("reason", [Due(), InOrder(4), WouldDelay(HEAD, 10, 20, 3)], ids=repr)
def test_reason_survives_copy_and_pickle(reason: Because) -> None:
    assert copy.copy(reason) == copy.deepcopy(reason) == pickle.loads(pickle.dumps(reason)) == reason
