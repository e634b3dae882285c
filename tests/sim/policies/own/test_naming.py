import os
from pathlib import Path

import pytest

from sim.policies.own.naming import code_in, full_spec, named_code
from sim.support.errors import ParameterError


def test_named_code_tells_the_parts_of_a_spec() -> None:
    named = named_code("./a/fair.py@HEAD~1:Fair:halflife=2,x=y")
    assert named is not None
    assert named[:5] == ("./a/fair.py", "HEAD~1", True, "Fair", "halflife=2,x=y")


@pytest.mark.parametrize(("spec", "sources"), [
    ("easy:order=sjf,depth=2", []), ("easy:order=evil:Foo", ["evil"]), ("easy:depth=2,order=evil:Foo:by=3", ["evil"]),
    ("easy:order=evil.py@=x", ["evil.py"]), ("relaxed:order=./evil.py", ["./evil.py"]),
    ("adaptive:below=./evil.py", ["./evil.py"]), ("adaptive:above=easy:order=evil:Foo+depth=2", ["evil"]),
    ("adaptive:below=adaptive:below=a.b", ["a.b"]), ("./fair.py:order=evil:Foo", ["./fair.py", "evil"]),
    ("./fair.py:Fair:order=evil:Foo", ["./fair.py", "evil"]),
])  # fmt: skip
def test_code_is_found_in_every_parameter(spec: str, sources: list[str]) -> None:
    assert [named.source for named in code_in(spec)] == sources


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        ("./a.py:order=./b.py:C", "{}/a.py:order={}/b.py:C"),
        ("adaptive:below=./x.py,above=fcfs", "adaptive:below={}/x.py,above=fcfs"),
        (
            "adaptive:above=easy:order=x.py+depth=2,below=./y.py@HEAD",
            "adaptive:above=easy:order={}/x.py+depth=2,below={}/y.py@HEAD",
        ),
        ("easy:order=sjf,depth=2", "easy:order=sjf,depth=2"),
    ],
)
def test_whole_spec_names_every_file_by_its_whole_path(spec: str, made: str) -> None:
    assert full_spec(spec) == made.replace("{}", os.getcwd())


def test_a_spec_whose_folder_would_name_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py:x").mkdir()
    monkeypatch.chdir(tmp_path / "evil.py:x")
    with pytest.raises(ParameterError, match="cannot be named from here"):
        full_spec("./good.py")
