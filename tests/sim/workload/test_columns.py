import pickle

import numpy as np
import pytest

from sim.workload.columns import NumberIds, chosen, compact, missing, narrow, values_of


@pytest.mark.parametrize("numbers", [[], [5], [3, 1, 2, 3], [2**40, 7]])
def test_ids_that_are_numbers_are_like_a_tuple_of_words(numbers: list[int]) -> None:
    ids, words = NumberIds(np.array(numbers, dtype=np.int64)), tuple(map(str, numbers))
    assert ids == words
    assert tuple(ids) == words
    assert len(ids) == len(words)
    assert [ids[rank] for rank in range(len(words))] == list(words)
    assert [word in ids for word in ("3", "03", "x", "-1", "", "²", 3)] == [
        word in words for word in ("3", "03", "x", "-1", "", "²", 3)
    ]
    assert hash(ids) == hash(words)
    assert pickle.loads(pickle.dumps(ids)) == ids
    for word in set(words):
        assert ids.index(word) == words.index(word)
    with pytest.raises(ValueError, match="is not in the ids"):
        ids.index("4")


def test_columns_keep_their_values() -> None:
    ids = NumberIds(np.array([3, 1, 3]))
    assert ids.index("3", 1) == 2
    with pytest.raises(ValueError, match="is not in the ids"):
        ids.index("3", 1, 2)
    for either in (NumberIds(np.array([3, 1, 2])), ("3", "1", "2")):
        assert chosen(either, np.array([2, 0])) == ("2", "3")
        assert chosen(either, np.arange(3)) == either
    same = compact(np.full(1000, -1.0))
    assert same.strides == (0,)
    assert same.tolist() == [-1.0] * 1000
    fewer = values_of(same, np.array([4, 9]))
    assert (fewer.strides, fewer.tolist()) == ((0,), [-1.0, -1.0])
    assert compact(np.array([1, 2])).tolist() == [1, 2]
    assert compact(np.array([])).tolist() == []
    assert np.isnan(missing(3)).all()
    for values in ([], [1.0, -5.0], [2.0**31 - 1, -(2.0**31)], [2.0**31], [2.0**52]):
        assert narrow(np.array(values)).tolist() == values
