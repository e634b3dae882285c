import numpy as np
import pytest

from sim.lab.cut import Cut
from sim.support.errors import ParameterError

SUBMIT = np.array([0.0, 10, 20, 30, 40, 50, 60, 70, 80, 90])


@pytest.mark.parametrize(("text", "kept"), [
    ("", range(10)), ("20%", range(2, 10)), ("20%,10%", range(2, 9)), (",30%", range(7)), ("15s,25s", range(2, 7)),
    ("10%,1h", range(0)),
])  # fmt: skip
def test_jobs_at_the_ends_are_left_out(text: str, kept: range) -> None:
    cut = Cut.of(text)
    assert np.flatnonzero(cut.keeps(SUBMIT)).tolist() == list(kept)
    assert Cut.of(cut.written) == cut


def test_of_no_jobs_none_is_left_out() -> None:
    assert not len(Cut.of("10%,1h").keeps(np.array([])))


@pytest.mark.parametrize("text", ["60%,40%", "-1%", "100%", "nan%", "x%", "soon"])
def test_what_leaves_nothing_over_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        Cut.of(text)
