"""Plain pages for phones: what they show of a lesson or a game, as values that a script sets as text and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sim.classroom.lessons.performance import Staged
from sim.classroom.lessons.walk import Walk
from sim.classroom.play.game import Game
from sim.classroom.play.scoring import Costly, GameScore, costliest, scores
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock, count, name, processors, span
from tui.classroom.lesson_lines import blocks
from tui.classroom.play.page import happened, machine, placed, so_far, stage_of, window_of
from tui.classroom.web.roster import LONGEST_ANSWER
from tui.classroom.web.scene_pictures import ScenePictures, picture

View: TypeAlias = dict[str, Any]
Marked: TypeAlias = list[tuple[bool, list[tuple[str, str]]]]
"""Paragraphs of a text: for each True if it is an item of a list, and its pieces with the names of their styles."""
GOAL = "Keep mean and worst wait short: tap a job to start it, or let the clock go on."


# A lesson


def standing(walk: Walk) -> View:
    """Return the report of a student's place in a lesson, and of the answer to its question."""
    told: View = {"type": "stands", "scene": walk.index, "open": walk.open_question is not None}
    if walk.given and walk.verdict is not None:
        told |= {"given": walk.given, "right": walk.verdict.is_right}
    return told


def scene_view(staged: Staged, is_answered: bool, given: str, pictures: ScenePictures | None) -> View:
    """Return what a page shows of a scene, before or after its question is answered; `given` is the answer's label."""
    view = {"title": staged.title, "text": _marked(staged.text)}
    if pictures is not None:
        view["pictures"] = pictures.of(staged, is_answered)
    if (asked := staged.question) is None:
        return view
    choices = [
        {"key": choice.key, "label": choice.label, "chosen": choice.label == given}
        | ({"right": choice.is_right} if is_answered else {})
        for choice in asked.choices
    ]
    return {
        **view, "asks": asked.asks.replace("Click the place, or type a time", "Type a time"), "facts": asked.facts,
        "choices": choices, "types": not choices and not is_answered,
        "then": _marked(staged.then) if is_answered else [],
    }  # fmt: skip


def _marked(text: str) -> Marked:
    return [(is_item, [(part.text, part.style) for part in spans]) for is_item, spans in blocks(text)]


@dataclass(frozen=True)
class LessonPage:
    walk: Walk
    pictures: ScenePictures
    wrong: str = ""
    """Why the last text was no answer; "" if it was one."""

    def view(self, best: Sequence[Mapping[str, Any]]) -> View:
        walk, verdict = self.walk, self.walk.verdict
        is_open = walk.open_question is not None
        moves = [("next", "Show me" if is_open else "Next")] if not walk.is_at_the_end else []
        view = {"told": self.wrong, **scene_view(walk.staged, not is_open, walk.given, self.pictures)}
        if verdict is not None:
            view |= {"told": verdict.told, "right": verdict.is_right if walk.given else None}
        place = f"{walk.index + 1} of {len(walk.scenes)}"
        if walk.is_at_the_end and walk.answers:
            place += f" · {sum(is_right for _, is_right in walk.answers)} of {len(walk.answers)} right"
        return {**view, "place": place, "open": is_open, "moves": [("previous", "Back"), *moves]}

    def moved(self, kind: str, what: str) -> LessonPage:
        walk = self.walk
        try:
            if kind == "answer":
                walk = replace(walk, typed=what[:LONGEST_ANSWER]).entered()
            elif what in ("next", "previous"):
                walk = walk.next() if what == "next" else walk.previous()
        except SchedscopeError as error:
            return replace(self, wrong=str(error))
        return replace(self, walk=replace(walk, typed=""), wrong="")

    def settled(self) -> LessonPage:
        return self

    @property
    def report(self) -> View:
        return standing(self.walk)


# A game


@dataclass(frozen=True)
class GamePage:
    game: Game
    told: str = GOAL
    is_warned: bool = False
    found: tuple[GameScore, ...] = ()
    costly: tuple[Costly, ...] = ()

    def view(self, best: Sequence[Mapping[str, Any]]) -> View:
        game = self.game
        if self.found:
            return {"title": placed(self.found), "text": _result(self, best), "moves": [("again", "Once more")]}
        runs = "; ".join(part.strip() for part in machine(game, 200).text.split("  ") if part.strip())
        choices = [
            {
                "key": f"{job.rank}", "label": name(job), "fits": job.procs <= game.free,
                "about": f"{processors(job.procs)} × {span(job.estimate)} at most, waited {span(game.waits(job.rank))}",
            }
            for job in game.queue
        ]  # fmt: skip
        return {
            "title": clock(game.now), "place": so_far(game), "text": [(False, [(runs, "")])],
            "asks": f"{count(len(choices), 'job')} waiting, {game.to_come:,} to come",
            "pictures": picture(stage_of(game), window_of(game), title="you"), "choices": choices, "told": self.told,
            "moves": [("undo", "Take back"), ("wait", "Let the clock go on")],
        }  # fmt: skip

    def moved(self, kind: str, what: str) -> GamePage:
        game, jobs = self.game, {f"{job.rank}": job for job in self.game.queue}
        if game.is_over:
            return GamePage(Game(game.workload)) if what == "again" else self
        try:
            if kind == "answer" and what in jobs:
                return GamePage(game.started(jobs[what].rank), f"{name(jobs[what])} starts.")
            if what == "wait" and game.is_idle and not self.is_warned:
                return replace(self, is_warned=True, told="Nothing runs, and a job would fit: start it, or tap again.")
            if what == "wait":
                later = game.waited()
                return GamePage(later, happened(later))
            if what == "undo":
                return GamePage(game.undone(), "Taken back.")
        except SchedscopeError as error:
            return replace(self, told=str(error))
        return self

    def settled(self) -> GamePage:
        if not self.game.is_over or self.found:
            return self
        return replace(self, found=tuple(scores(self.game)), costly=tuple(costliest(self.game)))

    @property
    def report(self) -> View:
        you = next((each for each in self.found if each.who == "you"), None)
        return {} if you is None else {"type": "score", "mean": you.mean_wait, "worst": you.worst_wait}


def _result(page: GamePage, best: Sequence[Mapping[str, Any]]) -> Marked:
    costly = [(f"{span(each.cost)} of waiting", each.told) for each in page.costly]
    parts = {
        "The same hours": [(each.who, _waits(each.mean_wait, each.worst_wait)) for each in page.found],
        "The decisions that cost most": costly or [("None", "EASY would not have done better after any of them.")],
        "The best of the class": [(each["name"], _waits(each["mean"], each["worst"])) for each in best],
    }
    found: Marked = []
    for title, rows in parts.items():
        found += [(False, [(title, "strong")])] if rows else []
        found += [(True, [(who, "accent" if who == "you" else "strong"), (f": {told}", "")]) for who, told in rows]
    return found


def _waits(mean: float, worst: float) -> str:
    return f"mean wait {span(mean)}, worst {span(worst)}"


PlainPage: TypeAlias = LessonPage | GamePage
"""Page of a visit: what it shows, what a move makes of it, its results that take time, and its report to the class."""
