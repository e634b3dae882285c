from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.history.stretch import Stretch
from tui.chart.raster import FREE, GANG, SPECULATIVE, WAS_KILLED, WAS_SUSPENDED, Frame, Raster, rasterise

FOUR = (4, 3, 2, 1, 0)


def run(rank: int, start: float, end: float | None, processors: int, kind: str = "run") -> Stretch:
    return Stretch(rank, start, end, kind, processors)


def gang(rank: int, start: float, end: float | None, processors: int, *rows: int) -> Stretch:
    return Stretch(rank, start, end, "gang", processors, rows)


def draw(
    *stretches: Stretch, now: float = 1000, columns: int = 4, edges: tuple[int, ...] = FOUR, first: int = 0
) -> Raster:
    return rasterise(stretches, Frame(10, first, columns, edges), now)


def test_shared_pixel_shows_the_largest_share() -> None:
    raster = draw(
        run(0, 0, 10, 0b011), run(1, 0, 3, 0b100), run(1, 3, 10, 0b100), run(2, 0, 10, 0b1000), columns=1, edges=(4, 0)
    )
    assert raster.rank[0, 0] == 0
    raster = draw(run(0, 0, 4, 1), run(1, 4, 7, 1), run(1, 7, 10, 1), columns=1, edges=(1, 0))
    assert raster.rank[0, 0] == 1
    assert draw(run(5, 5, 10, 1), run(3, 0, 5, 1), columns=1, edges=(1, 0)).rank[0, 0] == 3
    raster = draw(run(0, 0, 7, 1, "speculative"), run(1, 7, 10, 1), columns=1, edges=(1, 0))
    assert raster.kind[0, 0] == SPECULATIVE


def test_ending_sign_stands_once_in_the_largest_piece() -> None:
    killed = run(0, 0, 20, 0b1011)
    for ended_by, ending in (("killed", WAS_KILLED), ("suspended", WAS_SUSPENDED)):
        ended = killed._replace(ended_by=ended_by)
        raster = rasterise([ended], Frame(10, 0, 4, FOUR), 1000, ended=[ended])
        assert [(int(row), int(column)) for row, column in zip(*raster.ending.nonzero(), strict=True)] == [(3, 1)]
        assert raster.ending[3, 1] == ending


def test_rows_of_a_matrix_share_pixels() -> None:
    raster = draw(gang(0, 0, 40, 0b1111, 3), gang(1, 0, 40, 0b1111, 8), edges=(4, 3, 2, 1, 0))
    assert raster.rank.tolist() == [[1] * 4, [0] * 4, [1] * 4, [0] * 4]
    assert set(raster.kind.flat) == {GANG}
    jobs = [gang(rank, 0, 1000, 0b111111, rank) for rank in range(3)]
    wide = draw(*jobs, columns=20, edges=(6, 5, 4, 3, 2, 1, 0)).rank
    for first in range(1, 7):
        assert np.array_equal(draw(*jobs, columns=8, edges=(5, 4, 3), first=first).rank, wide[1:3, first : first + 8])
    raster = draw(gang(0, 0, 20, 1, 1, 2), gang(1, 0, 20, 2, 2), gang(2, 20, 40, 2, 2), edges=(2, 1, 0))
    assert raster.rank.tolist() == [[1, 1, 2, 2], [0, 0, -1, -1]]
    assert raster.used[1, :2].tolist() == [255, 255]
    assert (draw().rank == FREE).all()
    upper, lower = draw(run(0, 0, 20, 1), edges=(1, 0)), draw(run(1, 10, 40, 1), edges=(1, 0))
    assert upper.above(lower).rank.tolist() == [[0, 0, 1, 1]]


_SPANS = st.tuples(st.integers(0, 60), st.integers(1, 30), st.integers(1, 2**6 - 1))


@given(st.lists(_SPANS, max_size=12), st.integers(1, 6), st.integers(-2, 3))
def test_it_is_what_counting_each_second_gives(spans: list[tuple[int, int, int]], bands: int, first: int) -> None:
    held: dict[tuple[int, int], int] = {}
    stretches = []
    for rank, (start, length, processors) in enumerate(spans):
        if not any((p, t) in held for p in range(6) if processors >> p & 1 for t in range(start, start + length)):
            stretches.append(run(rank, start, start + length, processors))
            held |= {(p, t): rank for p in range(6) if processors >> p & 1 for t in range(start, start + length)}
    edges = tuple((bands - b) * 6 // bands for b in range(bands + 1))
    raster = draw(*stretches, now=75, columns=6, edges=edges, first=first)
    for band in range(bands):
        for column in range(6):
            cells = [
                held[p, t]
                for p in range(edges[band + 1], edges[band])
                for t in range(10 * (first + column), 10 * (first + column) + 10)
                if (p, t) in held and t < 75
            ]
            if not cells:
                assert raster.rank[band, column] == FREE
                continue
            most = Counter(cells).most_common(1)[0][1]
            assert cells.count(raster.rank[band, column]) == most
            assert raster.purity[band, column] / 255 == pytest.approx(most / len(cells), abs=0.01)
            whole = 10 * (edges[band] - edges[band + 1])
            assert raster.used[band, column] / 255 == pytest.approx(len(cells) / whole, abs=0.01)
