from sim.workload.formats.puzzle import Puzzle
from sim.workload.job_changes import PuzzleJob
from tui.classroom.puzzle.board import Draft

TWO = Draft(Puzzle(10, (PuzzleJob(5, 600), PuzzleJob(4, 1200, 120, 1800))))


def test_changes_are_undone_and_bounded() -> None:
    changed = TWO.choose(1).moved(submit=-60, procs=2).removed().added(PuzzleJob(1, 60))
    again = changed
    for _ in range(3):
        again = again.undone()
    assert again.puzzle == TWO.puzzle
    assert again.undone() == again
    for _ in range(3):
        again = again.redone()
    assert again.puzzle == changed.puzzle
    first = TWO.with_job(PuzzleJob(6, 600))
    dragged = first.with_job(PuzzleJob(7, 600), again=True).with_job(PuzzleJob(8, 600), again=True)
    assert dragged.undone().puzzle == TWO.puzzle
    assert TWO.moved(procs=99).job == PuzzleJob(10, 600)
    assert TWO.moved(submit=-99, run=-9999, procs=-99).job == PuzzleJob(1, 1)
    assert TWO.choose(1).moved(asked=-9999).job == PuzzleJob(4, 1200, 120)
    assert TWO.with_procs(4).puzzle.jobs[0].procs == 4
    assert TWO.choose(9).chosen == 2
    assert TWO.choose(2).removed().puzzle == TWO.puzzle
