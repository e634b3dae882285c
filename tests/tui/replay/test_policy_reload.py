from pathlib import Path
from time import monotonic, sleep

import pytest

from sim.policies import parse_policy
from sim.support.errors import PolicyError
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from tests.tui.own import ENDLESS, FCFS, FIRSTFIT, FORGETS, RAISES, TOO_WIDE, own_file, save
from tui.chart.scale import Camera
from tui.replay import requests as o
from tui.replay import worker
from tui.replay.controller import VERSIONS, ReplayController
from tui.replay.requests import News, Told, Wish
from tui.replay.stage import RunView
from tui.replay.worker import Player

pytestmark = pytest.mark.usefixtures("own_program")


# Under first come, first served J4 waits at 600 s (step 6) in z-figure4; under first fit it starts there.
class Watched:
    """Replay of z-figure4 under the policy in ./fair.py, whose file the test can save again."""

    def __init__(self, file: Path, policy: str = "./fair.py", step: int = 8, trace: str = "z-figure4") -> None:
        self.file = file
        workload = Source(trace).read()[1]
        self.controller = ReplayController(RunView(Timeline(workload, parse_policy(policy))))
        self.wish = Wish(Camera.on(workload, 80, 40))
        self.does(o.GoTo(step))

    @property
    def timeline(self) -> Timeline:
        return self.controller.stage.timeline

    def does(self, order: o.Order) -> o.Noticed | str | None:
        return self.controller.obey(order, self.wish, lambda: False)

    def saves(self, body: str, seconds: float = 1) -> News:
        """Save the file with this body; return the message about the change, after computing in portions of
        `seconds`."""
        save(self.file, body)
        spec = self.timeline.snapshot().policy
        self.does(o.Renew("fair.py", {spec: parse_policy(spec)}))
        return self.goes_on(seconds)

    def goes_on(self, seconds: float = 1) -> News:
        """Compute in the background, in portions of `seconds`, until there is a message to the user; return the
        message."""
        while (news := self.controller.compute(seconds)) is None:
            assert not self.controller.is_computed, "there is no more news"
        return news


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(own_file(tmp_path, monkeypatch))


def test_reload_shows_the_same_time_and_the_first_difference(watched: Watched) -> None:
    moment = watched.controller.stage.clock
    assert watched.saves(FIRSTFIT) == News("fair.py: first difference at d0 00:10:00, J4 starts")
    assert watched.timeline.branch.name == "fair.py 2"
    assert watched.controller.stage.clock == moment
    assert watched.does(o.GoToParted()) == o.Noticed(3)
    assert watched.timeline.snapshot().time == 600


def test_the_old_run_stays_to_be_looked_at_and_compared_with(watched: Watched) -> None:
    watched.saves(FIRSTFIT)
    watched.does(o.LookAt("main"))
    assert watched.does(o.GoToParted()) == o.Noticed(3)
    assert [queued.job.id for queued in watched.timeline.snapshot().queue] == ["3", "4", "5"]
    watched.does(o.CompareBranch("fair.py 2"))
    scene, beside = watched.controller.scenes(watched.wish)
    assert beside is not None
    assert scene.versus is not None


def test_later_difference_is_told_once_it_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new policy lets jobs pass only from 500,000 s on; the present step is near the beginning of the run."""
    watched = Watched(own_file(tmp_path, monkeypatch), step=3, trace="lublin-128")
    body = FCFS.replace("return", "if view.now < 500_000:\n                    return\n                continue")
    assert watched.saves(body, 0).what == "fair.py: nothing differs up to here"
    assert watched.goes_on(0).what.startswith("fair.py: first difference at d6 ")
    assert isinstance(watched.does(o.GoToParted()), o.Noticed)
    assert (watched.timeline.snapshot().time or 0) >= 500_000


def test_what_differs_only_in_words_does_not_differ(watched: Watched) -> None:
    assert watched.saves(FCFS + "\n# first come, first served\n").what == "fair.py: nothing differs in the whole run"
    assert watched.saves(FCFS + "\n# first come, first served\n").what == "fair.py is as this run has it"


@pytest.mark.parametrize(
    ("body", "brief"),
    [
        (RAISES, "fair.py:18: ZeroDivisionError: division by zero: 1 / 0"),
        (TOO_WIDE, "fair.py:19: job 3 cannot start: it needs 8, 0 are free: yield Start(job, InOrder(view.free))"),
    ],
)
def test_broken_code_is_reported_with_its_line_and_the_old_run_stays(watched: Watched, body: str, brief: str) -> None:
    news = watched.saves(body)
    assert (news.what, news.is_bad) == (brief, True)
    assert news.whole.endswith("; the old run stays")
    assert watched.timeline.branch.name == "main"
    assert watched.saves(FIRSTFIT).what == "fair.py: first difference at d0 00:10:00, J4 starts"


def test_who_forgets_a_job_is_told_when_the_run_is_over(watched: Watched) -> None:
    watched.does(o.GoToEnd())
    assert "leaves 3 jobs unfinished, the first is job 3" in watched.saves(FORGETS).what


def test_what_breaks_off_only_later_is_shown_up_to_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(own_file(tmp_path, monkeypatch), step=1)
    news = watched.saves(RAISES)
    assert (news.what, news.is_bad) == ("fair.py:18: ZeroDivisionError: division by zero: 1 / 0", True)
    assert news.whole.startswith("fair.py: nothing differs up to here; then the run fails: ./fair.py failed")


def test_an_endless_loop_that_nobody_waits_for_is_stopped(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.1)
    told: list[Told] = []
    player = Player(watched.controller, watched.wish, told.append)
    player.start()
    save(watched.file, ENDLESS)
    player.ask(o.Renew("fair.py", {"./fair.py": parse_policy("./fair.py")}))
    until = monotonic() + 30
    while not (news := [each for each in told if isinstance(each, News)]):
        assert monotonic() < until, "it was not stopped"
        player.lose_patience()
        sleep(0.01)
    player.close()
    assert news[0].what.startswith("fair.py:18: stopped: no decision for ")
    assert news[0].what.endswith(": while True: pass")
    assert watched.timeline.branch.name == "main"


def test_a_policy_that_took_over_is_made_again_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(own_file(tmp_path, monkeypatch), "easy", step=4)
    watched.does(o.SwitchTo(parse_policy("./fair.py")))
    watched.does(o.GoTo(9))
    assert "first difference at d0 00:10:00" in watched.saves(FIRSTFIT).what
    branch = watched.timeline.branch
    assert (branch.name, branch.parent, branch.forked_at) == ("fair.py 2", "main", 3)


def test_of_many_versions_the_last_few_stay(watched: Watched) -> None:
    for number in range(VERSIONS + 3):
        watched.saves(FCFS + f"\n# {number}\n")
    assert len(watched.timeline.branches) == VERSIONS + 1
    assert "main" in watched.timeline.branches


HIDDEN = """        is_new, _ = view.now not in SEEN, SEEN.append(view.now)
        for job in view.queue:
            if job.procs <= view.free and (is_new or {}):
                yield Start(job, InOrder(view.free))
            elif not is_new:
                return
"""


@pytest.mark.parametrize("again", ["view.now < 600", "False"])
def test_what_no_checkpoint_copies_is_found_out(again: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy keeps state of its own. First it starts jobs that fit; when a step is computed again, it starts none
    from 600 s on, or none at all."""
    own_file(tmp_path, monkeypatch, "        SEEN: list[float] = self.seen\n" + HIDDEN.format(again))
    body = (tmp_path / "fair.py").read_text(encoding="utf-8")
    (tmp_path / "fair.py").write_text(body.replace("    def ", "    seen = []\n\n    def ", 1), encoding="utf-8")
    watched = Watched(tmp_path / "fair.py", step=0)
    watched.timeline.compute_all()
    try:
        watched.does(o.GoTo(6))
        watched.controller.scenes(watched.wish)
        told = str(watched.controller.stage.doubt)
    except PolicyError as error:
        told = str(error)
    assert "./fair.py is not reproducible: repeating step" in told


def test_what_was_broken_stays_broken_when_the_file_is_saved(watched: Watched) -> None:
    watched.does(o.GoTo(4))
    watched.does(o.Break(0b0011, 900))
    watched.does(o.GoToEnd())
    assert watched.saves(FIRSTFIT).what.startswith("fair.py: first difference")
    assert [switch.breaks for switch in watched.timeline.branch.switches if switch.breaks] == [(0b0011, 900)]
    assert watched.timeline.branch.history.there(watched.timeline.workload, [9, 500, 900]).tolist() == [10, 8, 10]
