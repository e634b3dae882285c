import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.workload.reserved_nodes import Admission, NodeReservation, shut
from sim.workload.shape import ComputeNode, Shape

NODES = tuple(ComputeNode(f"n{number}", 4) for number in range(3))
TIME = st.integers(0, 12).map(float)


@st.composite
def reservations(draw: st.DrawFn) -> NodeReservation:
    start, length = draw(TIME), draw(st.integers(1, 6))
    nodes = draw(st.frozensets(st.integers(0, 2), min_size=1))
    return NodeReservation("x", start, start + length, nodes, is_drain=draw(st.booleans()))


@given(st.lists(reservations(), max_size=6), st.lists(st.tuples(TIME, TIME, TIME), min_size=1), st.booleans())
def test_a_machine_is_open_as_if_each_reservation_was_asked(
    listed: list[NodeReservation], asked: list[tuple[float, float, float]], has_end: bool
) -> None:
    shape = Shape(NODES, reservations=tuple(listed))
    for now, later, length in asked:
        start = now + later
        for own in (Admission(), Admission(may_use=frozenset({0})), *([Admission(0)] if listed else [])):
            only, kept = shut(listed, own, start, start + length, now, has_end)
            expected = [node not in kept and (only is None or node in only) for node in range(3)]
            found = shape.left_open(own, shape.has, start, start + length, now, has_end)
            assert (found[:, 0] > 0).tolist() == expected
        known = [each for each in listed if not each.is_drain or each.start <= now]
        assert shape.changes_after(now) == sorted({t for r in known for t in (r.start, r.end) if t > now})
        assert shape.is_drained_at(now, 0.5) == any(r.is_drain and abs(r.start - now) <= 0.5 for r in listed)


def test_of_many_drains_only_those_that_last_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    drains = tuple(NodeReservation("x", 10.0 * at, 10.0 * at + 15, frozenset({0}), is_drain=True) for at in range(2000))
    shape, asked, keeps = Shape(NODES, reservations=drains), list[NodeReservation](), NodeReservation.keeps

    def counted(self: NodeReservation, start: float, end: float, now: float, has_end: bool) -> bool:
        asked.append(self)
        return keeps(self, start, end, now, has_end)

    monkeypatch.setattr(NodeReservation, "keeps", counted)
    for now in np.arange(5000.0, 5100.0):
        shape.left_open(Admission(), shape.has, now, now + 1e6, now)
    assert 100 <= len(asked) <= 200
