from collections.abc import Iterable
from pathlib import Path

import pytest

from sim.policies import Policy, parse_policy
from tests.tui.own import FIRSTFIT, own_file, save
from tui.replay import file_watch
from tui.replay.file_watch import FileWatch, Renewed, files_of

pytestmark = pytest.mark.usefixtures("own_program")


class Watched(FileWatch):
    """A watch on a file that looks at it only when the test says so."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Renewed]] = []
        self.failed: list[str] = []
        super().__init__(lambda title, renewed: self.found.append((title, renewed)), self.failed.append)

    def _work(self) -> None:
        pass

    def look_twice(self) -> None:
        self.look()
        self.look()


@pytest.fixture
def fair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_file(tmp_path, monkeypatch)


@pytest.fixture
def policy(fair: Path) -> Policy:
    return parse_policy("./fair.py")


def test_a_file_that_was_saved_is_found_once_it_stays(fair: Path, policy: Policy) -> None:
    watch = Watched()
    watch.follow([policy.name, "easy"])
    watch.look_twice()
    assert watch.found == []
    save(fair, FIRSTFIT)
    watch.look()
    assert watch.found == []
    watch.look_twice()
    ((title, renewed),) = watch.found
    assert (title, list(renewed)) == ("fair.py", ["./fair.py"])
    assert renewed["./fair.py"] != policy


def test_what_was_saved_before_anybody_watched_is_found(fair: Path, policy: Policy) -> None:
    save(fair, FIRSTFIT)
    watch = Watched()
    watch.follow([policy.name])
    watch.look_twice()
    assert len(watch.found) == 1


def test_error_of_a_file_is_reported_once_until_it_is_mended(fair: Path, policy: Policy) -> None:
    watch = Watched()
    watch.follow([policy.name])
    watch.look_twice()
    save(fair, "        yield (\n")
    watch.look_twice()
    watch.look_twice()
    assert watch.failed == ["./fair.py:16: SyntaxError: '(' was never closed: yield ("]
    save(fair, FIRSTFIT)
    watch.look_twice()
    assert len(watch.found) == 1


def test_a_file_is_read_again_when_somebody_asks(policy: Policy) -> None:
    watch = Watched()
    watch.follow([policy.name])
    watch.look_twice()
    watch.read_again()
    watch.look()
    assert watch.found == [("fair.py", {"./fair.py": policy})]


def test_a_file_that_is_gone_is_waited_for(fair: Path, policy: Policy) -> None:
    watch = Watched()
    watch.follow([policy.name])
    watch.look_twice()
    fair.unlink()
    watch.look_twice()
    assert (watch.found, watch.failed) == ([], [])


def test_imported_files_are_watched_also_later_ones(fair: Path, policy: Policy) -> None:
    watch = Watched()
    watch.follow([policy.name])
    watch.look_twice()
    fair.write_text("import limits\n" + fair.read_text())
    watch.look_twice()
    assert watch.failed == ["./fair.py:1: ModuleNotFoundError: No module named 'limits': import limits"]
    (fair.parent / "limits.py").write_text("")
    watch.read_again()
    watch.look_twice()
    assert set(watch.files) == {str(fair), str(fair.parent / "limits.py")}
    (fair.parent / "limits.py").write_text("DEPTH = 2\n")
    watch.look_twice()
    assert [title for title, _ in watch.found] == ["fair.py", "limits.py"]
    assert watch.found[0][1] != watch.found[1][1]


def test_only_policies_from_files_are_watched(fair: Path) -> None:
    assert files_of(["easy", "./fair.py@HEAD~1", "own.module:Fair", "gang:slice=60"]) == {}
    assert files_of(["./fair.py", "easy:order=./fair.py:Usage"]) == {
        str(fair): frozenset({"./fair.py", "easy:order=./fair.py:Usage"})
    }


def test_files_chosen_during_a_search_are_watched(fair: Path, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched_slowly(specs: Iterable[str]) -> dict[str, frozenset[str]]:
        monkeypatch.setattr(file_watch, "files_of", files_of)
        watch.follow(["./other.py"])  # what the screen does meanwhile
        return files_of(specs)

    watch, other = Watched(), fair.with_name("other.py")
    watch.follow([policy.name])
    watch.look_twice()
    save(other, FIRSTFIT)
    save(fair, FIRSTFIT)
    monkeypatch.setattr(file_watch, "files_of", searched_slowly)
    watch.look_twice()
    assert len(watch.found) == 1
    assert [Path(path).name for path in watch.files] == ["other.py"]
