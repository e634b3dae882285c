from collections.abc import Callable

from tui.chart.raster import UNKNOWN, Raster
from tui.chart.tiles import Tiles

LONG = 1e9


class Drawer:
    """Made-up painter: each column takes a second of its own clock, and column c shows the job of rank c; it records
    which columns were drawn."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.now = 0.0

    def __call__(self, first: int, columns: int) -> Raster:
        self.asked += range(first, first + columns)
        self.now += columns
        raster = Raster.blank(1, columns)
        raster.pixels["rank"] = range(first, first + columns)
        return raster

    @property
    def clock(self) -> Callable[[], float]:
        return lambda: self.now


def tiles_of(drawer: Drawer, most_bytes: int = 1 << 20) -> Tiles:
    return Tiles(most_bytes, drawer.clock)


def test_columns_are_kept_and_forgotten() -> None:
    drawer = Drawer()
    tiles = tiles_of(drawer)
    raster, pending = tiles.window("a", 1, 10, 200, drawer, LONG)
    assert raster.rank[0].tolist() == list(range(10, 200))
    assert not pending
    again, _ = tiles.window("a", 1, 5, 203, drawer, LONG)
    assert again.rank[0].tolist() == list(range(5, 203))
    assert sorted(drawer.asked) == list(range(5, 203))
    drawer = Drawer()
    tiles = tiles_of(drawer, most_bytes=1)
    for first in range(0, 6400, 64):
        tiles.window("a", 1, first, first + 64, drawer, LONG)
    drawer.asked.clear()
    tiles.window("a", 1, 6336, 6400, drawer, LONG)
    assert drawer.asked == []
    tiles.window("a", 1, 0, 64, drawer, LONG)
    assert len(drawer.asked) == 64


def test_without_time_the_columns_nearest_to_now_come_first() -> None:
    drawer = Drawer()
    tiles = tiles_of(drawer)
    raster, pending = tiles.window("a", 1, 0, 100, drawer, 10)
    assert pending
    assert raster.rank[0, 90:].tolist() == list(range(90, 100))
    assert (raster.rank[0, :90] == UNKNOWN).all()
    while pending:
        raster, pending = tiles.window("a", 1, 0, 100, drawer, 10)
    assert raster.rank[0].tolist() == list(range(100))


def test_columns_before_the_parting_are_not_made_again() -> None:
    drawer, other = Drawer(), Drawer()
    tiles = tiles_of(drawer)
    tiles.window("a", 1, 0, 100, drawer, LONG)
    raster, _ = tiles.until({"a": 70}.__getitem__).window("a", 1, 0, 100, other, LONG)
    assert raster.rank[0].tolist() == list(range(100))
    assert sorted(other.asked) == list(range(70, 100))
