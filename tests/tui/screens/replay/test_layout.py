"""Also tests tui.screens.replay.side."""

from hypothesis import given
from hypothesis import strategies as st

from tui.screens.replay.layout import LEAST, arrange
from tui.screens.replay.side import SIDE

NAMES = sorted(SIDE)
SOME = st.sets(st.sampled_from(NAMES))


@given(
    width=st.integers(1, 300),
    height=st.integers(1, 120),
    available=SOME,
    hidden=st.sets(st.sampled_from([*NAMES, "strip", "metrics"])),
    over=st.none() | st.sampled_from(NAMES),
)
def test_all_is_on_the_screen(width: int, height: int, available: set[str], hidden: set[str], over: str | None) -> None:
    found = arrange(width, height, available, hidden, over)
    room = max(height - 1 - found.sentence - found.keys - found.bottom - found.waiting, 0)
    assert found.side <= width
    assert found.metrics <= width
    assert sum(rows for _, rows in found.panels) == (room if found.panels else 0)
    assert all(rows >= LEAST for _, rows in found.panels) or found.small
    if not found.small:
        assert {name for name, _ in found.panels} <= available - hidden
        assert found.side <= width // 2


def test_room_goes_to_what_matters() -> None:
    shown = [name for name, _ in arrange(120, 28, NAMES).panels]
    assert set(shown) == set(sorted(SIDE, key=lambda name: SIDE[name].turn)[: len(shown)])
    assert 0 < len(shown) < len(NAMES)
    sizes = ((60, 18), (80, 21), (80, 24), (80, 40), (120, 36))
    assert [(found.waiting, found.bottom) for size in sizes if (found := arrange(*size, NAMES))] == [
        (1, 0), (1, 0), (1, 2), (2, 4), (0, 5),
    ]  # fmt: skip
    assert arrange(80, 24, NAMES, over="queue").waiting == 0
    found = arrange(80, 24, NAMES, hidden=["details"], over="details")
    assert [name for name, _ in found.panels] == ["details"]
    assert found.side == 40
    assert [arrange(20, height, NAMES).keys for height in (5, 7, 8, 30)] == [0, 0, 1, 2]
    assert sorted(panel.turn for panel in SIDE.values()) == [*range(len(SIDE))]


NEEDS = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 90))


@given(height=st.integers(28, 100), available=SOME, needs=NEEDS)
def test_nobody_has_more_than_needed_while_others_lack(height: int, available: set[str], needs: dict[str, int]) -> None:
    found = arrange(120, height, available, needs=needs)
    rows = dict(found.panels)
    assert sum(rows.values()) == (max(height - 1 - found.sentence - found.keys - found.bottom, 0) if rows else 0)
    lacks = [name for name in rows if rows[name] < needs.get(name, 0)]
    spares = [name for name in rows if rows[name] > needs.get(name, rows[name])]
    assert not (lacks and spares)
    assert all(rows[name] >= LEAST for name in lacks)


def test_panels_keep_their_sizes_while_they_fit() -> None:
    names = ["queue", "decisions"]
    first = arrange(120, 36, names, needs={"queue": 6, "decisions": 6}).panels
    again = arrange(120, 36, names, needs={"queue": 12, "decisions": 3}, was=first).panels
    assert again == first
    later = arrange(120, 36, names, needs={"queue": 22, "decisions": 3}, was=first).panels
    assert dict(later)["queue"] >= 22


def test_a_comparison_has_half_of_the_side() -> None:
    rows = dict(arrange(120, 36, ["versus", "queue", "decisions"]).panels)
    assert rows["versus"] >= rows["queue"] + rows["decisions"]
