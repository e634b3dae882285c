import pytest

from sim.support.errors import ParameterError, SchedscopeError
from tui.chart.svg import drawing
from tui.chart.svg.drawing import Options, form_of


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"begin": 10.0, "until": 10.0}, "--from must be before --to, got d0 00:00:10 and d0 00:00:10"),
        ({"theme": "drak"}, "no theme 'drak'; did you mean 'dark'"),
        ({"colour": "users"}, "no colour 'users'; did you mean 'user'"),
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Options(**wrong)  # type: ignore[arg-type]


def test_a_kind_of_file_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"chart.pdf: a picture is written as .svg or .png"):
        form_of("chart.pdf")


def test_without_the_library_a_png_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    with pytest.raises(SchedscopeError, match=r"a PNG needs resvg_py: pip install 'schedscope\[png\]'"):
        form_of("chart.png")
