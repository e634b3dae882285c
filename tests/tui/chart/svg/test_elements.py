from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.chart.svg.elements import Rect, element, number, outline, text, write_in


@given(words=st.text())
def test_any_name_makes_a_document_that_can_be_read(words: str) -> None:
    read = ElementTree.fromstring(element("text", text(words), id=words))
    assert len(read.text or "") == len(words)


def test_what_can_be_printed_is_kept() -> None:
    read = ElementTree.fromstring(element("text", text('<&"日本'), aria_label='<&"'))
    assert (read.text, read.get("aria-label")) == ('<&"日本', '<&"')


@given(value=st.floats(-1e6, 1e6))
def test_a_coordinate_is_true_to_the_hundredth(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, abs=0.005001)


def test_rectangles_make_one_path() -> None:
    assert outline([Rect(0, 0, 10, 2), Rect(5.5, 2, 1, 1)]) == "M0 0h10v2h-10zM5.5 2h1v1h-1z"


def test_a_name_stands_in_the_middle_of_its_block() -> None:
    written = write_in(Rect(100, 20, 60, 30), "J17", "#fff")
    assert 'x="130"' in written
    assert ">J17</text>" in written
    assert "rotate" not in written


def test_on_a_tall_block_it_is_turned() -> None:
    assert "rotate(-90" in write_in(Rect(0, 0, 12, 90), "J14022", "#fff")


def test_where_it_does_not_fit_there_is_none() -> None:
    assert write_in(Rect(0, 0, 12, 12), "J14022", "#fff") == ""
