"""The dialog with policies under which a job would have waited less: they are tried in the background and ranked, and
one can be chosen.

Also tests tui.panels.alternative_rows.
"""

from dataclasses import dataclass, replace

from sim.comparison.alternatives import ranked
from sim.history.past import Switch
from sim.policies import parse_policy
from sim.policies.policy import Policy
from sim.timeline.branch import Course
from sim.timeline.scenario import run
from sim.workload.replay import read
from tests.tui.screens.conftest import Ask
from tui.panels.alternative_rows import in_words, rows
from tui.screens.dialogs.alternatives_dialog import AlternativesDialog

EASY = parse_policy("easy")


def dialog(job: str = "4", *tried: str, policy: Policy = EASY) -> AlternativesDialog:
    workload = read("z-figure4")
    return AlternativesDialog(workload, workload.rank_of(job), policy, tried or ("fcfs", "firstfit", "easy"))


async def test_policies_stand_by_the_jobs_wait_with_what_the_others_pay(ask: Ask) -> None:
    async with ask(dialog()) as person:
        shown = await person.wait()
        assert "What would have helped J4 (4 processors for 15m00, submitted d0 00:00:30)?" in shown
        places = [shown.index(policy) for policy in ("tried ", "firstfit ", "easy (first)", "fcfs ")]
        assert places == sorted(places)
        assert "firstfit helps most: J4 waits 20m00 less than under easy. Cost:" in " ".join(shown.split())
        assert "tried, each" not in shown


async def test_dialog_answers_with_a_policy_or_none(ask: Ask) -> None:
    async with ask(dialog()) as person:
        await person.wait()
        await person.press("enter")
        assert person.answers == [parse_policy("firstfit")]
    async with ask(dialog(), size=(80, 24)) as person:
        assert "it starts" not in await person.wait()
        await person.press("down", "down", "enter")
        assert person.answers == [parse_policy("fcfs")]
    workload = read("lublin-128")
    async with ask(AlternativesDialog(workload, 398, EASY)) as person:
        await person.press("escape")
        assert person.answers == [None]


async def test_runs_without_each_job_that_held_processors_say_what_it_changed(ask: Ask) -> None:
    async with ask(dialog("4", "fcfs")) as person:
        shown = " ".join((await person.wait()).split())
        assert "without J1, 20m00 earlier without J3, 10m00 earlier" in shown
    async with ask(dialog("3", "fcfs")) as person:
        assert "nothing would change for J3." in " ".join((await person.wait()).split())


async def test_switched_run_is_the_first_and_its_blockers_are_tried_in_it(ask: Ask) -> None:
    workload, course = read("z-figure4"), Course(EASY, switches=(Switch(0, 300, parse_policy("fcfs")),))
    tried = AlternativesDialog(workload, workload.rank_of("5"), parse_policy("fcfs"), ("easy",), course)
    async with ask(tried) as person:
        shown = " ".join((await person.wait()).split())
    assert "this run (first)" in shown
    assert {"easy", "fcfs", "without J1"} < {*tried._listed}
    assert "easy helps most: J5 waits 20m00 less than under this run" in shown


def test_words_count_the_cost() -> None:
    box, workload = dialog("4", "fcfs", "firstfit"), read("z-figure4")
    box._schedules = [run(workload, "easy")]
    assert "So far: No policy shortens" in " ".join(each.text for each in box._summary_lines(200))
    box._schedules += [run(workload, spec) for spec in ("fcfs", "firstfit")]
    assert "So far" not in " ".join(each.text for each in box._summary_lines(200))
    workload = read("z-figure4")
    found = ranked([run(workload, spec) for spec in ("fcfs", "easy")], 4)
    assert in_words(workload.jobs[4], found, "fcfs").endswith("No other job waits longer.")
    assert in_words(workload.jobs[0], ranked([run(workload, "fcfs")], 0), "fcfs").startswith(
        "No policy shortens J1's wait"
    )
    assert [len(row) for row in rows(found, "fcfs", narrow=True)] == [5, 5, 5]
    workload = replace(read("z-figure4"), ids=tuple("job of the month " + each for each in "12345"))
    found = ranked([run(workload, spec) for spec in ("fcfs", "firstfit")], 3)
    assert [row[-1] for row in rows(found, "fcfs")] == ["largest loser", "job of the mont… +8m20", ""]


@dataclass(frozen=True)
class Raises(type(EASY)):  # type: ignore[misc]
    """A policy that raises an error in its first pass."""

    def decide(self, view: object) -> object:
        raise ValueError("nothing")


async def test_what_fails_is_reported_and_the_others_are_tried(ask: Ask) -> None:
    async with ask(dialog("4", "fcfs", policy=Raises())) as person:
        shown = await person.wait()
        assert "nothing" in shown
        assert "fcfs" in shown
