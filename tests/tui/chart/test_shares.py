import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.chart import raster
from tui.chart.raster import Shares


@given(st.lists(st.integers(1, 2**23 - 1), min_size=1, max_size=8), st.integers(1, 23))
def test_it_is_what_counting_gives(sets: list[int], bands: int) -> None:
    edges = tuple((bands - b) * 23 // bands for b in range(bands + 1))
    counted = [
        (index, band, (one >> edges[band + 1] & ((1 << size) - 1)).bit_count() / size)
        for index, one in enumerate(sets)
        for band in range(bands)
        if (size := edges[band] - edges[band + 1])
    ]
    owner, band, share = Shares(edges).of(sets)
    found = list(zip(owner.tolist(), band.tolist(), share.tolist(), strict=True))
    assert found == [(o, b, pytest.approx(s)) for o, b, s in counted if s]


def test_what_is_remembered_is_what_was_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "_MOST_KNOWN", 3)
    few = Shares((4, 2, 0))
    for sets in ([1, 2, 3], [3, 4], [1, 5, 1], [9, 8, 7, 6]):
        assert [part.tolist() for part in few.of(sets)] == [part.tolist() for part in Shares((4, 2, 0)).of(sets)]


def test_many_and_large_sets_are_taken_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [1 << i for i in range(40)]
    whole = Shares((40, 30, 0)).of(sets)
    monkeypatch.setattr(raster, "_MOST_BITS", 100)
    monkeypatch.setattr(raster, "_MOST_KNOWN", 10)
    assert [part.tolist() for part in Shares((40, 30, 0)).of(sets)] == [part.tolist() for part in whole]
