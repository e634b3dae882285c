import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.history.stretch import Stretch
from tui.chart.svg.frame import Frame
from tui.chart.svg.pixels import add_up, patches, split

TEN_SECONDS_A_PIXEL = Frame(left=0, top=0, width=40, height=8, begin=0, end=400, procs=8)


def stretches(*jobs: tuple[int, float, float, int]) -> list[Stretch]:
    return [Stretch(rank, start, end, "run", held) for rank, start, end, held in jobs]


def test_a_row_of_several_processors_is_full_when_all_of_them_are_held() -> None:
    frame = Frame(left=0, top=0, width=4, height=2, begin=0, end=4, procs=6)
    pixels = add_up(stretches((1, 0, 1, 0b000111), (2, 0, 1, 0b011000)), frame)
    assert (pixels.used[:, 0] / 255).tolist() == pytest.approx([2 / 3, 1], abs=0.005)


def test_only_what_is_less_than_a_pixel_wide_or_high_is_small() -> None:
    frame = Frame(left=0, top=0, width=40, height=2, begin=0, end=400, procs=8)
    short, flat, large = (1, 0, 9, 0b1111), (2, 20, 60, 0b1), (3, 20, 60, 0b11110000)
    seen, small = split(stretches(short, flat, large), frame, 400)
    assert [stretch.rank for stretch in seen] == [3]
    assert [stretch.rank for stretch in small] == [1, 2]


RUNS = st.lists(
    st.tuples(st.integers(0, 5), st.floats(0, 390), st.floats(0.5, 60), st.integers(1, 255)), min_size=1, max_size=20
)


@given(runs=RUNS)
def test_no_time_of_a_processor_gets_lost(runs: list[tuple[int, float, float, int]]) -> None:
    alone = [(rank, start, min(start + length, 400), held) for rank, start, length, held in runs]
    for job in alone:
        pixels = add_up(stretches(job), TEN_SECONDS_A_PIXEL)
        rounded = 10 / 255 * (pixels.used > 0).sum()
        held = (job[2] - job[1]) * job[3].bit_count()
        assert held - 1e-3 <= pixels.used.sum() / 25.5 <= held + rounded


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 7), columns=st.integers(1, 9))
def test_patches_cover_every_pixel_once(seed: int, rows: int, columns: int) -> None:
    kinds = np.random.default_rng(seed).integers(-1, 3, (rows, columns))
    drawn = np.full_like(kinds, -1)
    for patch in patches(kinds):
        place = np.s_[patch.row : patch.row + patch.height, patch.column : patch.column + patch.width]
        assert (drawn[place] == -1).all()
        drawn[place] = patch.kind
    assert (drawn == kinds).all()
