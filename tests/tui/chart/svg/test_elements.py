from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.chart.svg.elements import Rect, element, number, text, write_in


@given(words=st.text())
def test_any_name_makes_a_document_that_can_be_read(words: str) -> None:
    read = ElementTree.fromstring(element("text", text(words), id=words))
    assert len(read.text or "") == len(words)


def test_text_stays_text_in_its_room() -> None:
    read = ElementTree.fromstring(element("text", text('<&"日本'), aria_label='<&"'))
    assert (read.text, read.get("aria-label")) == ('<&"日本', '<&"')
    assert write_in(Rect(0, 0, 12, 12), "J14022", "#fff") == ""


@given(value=st.floats(-1e6, 1e6))
def test_a_coordinate_is_true_to_the_hundredth(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, abs=0.005001)
