"""Line at the top of the screen: trace, policy, speed and state of the replay."""

from __future__ import annotations

from dataclasses import dataclass

from sim.support.formatting import clock, count, percent, printable
from tui.chart.cells.paint import sign_of
from tui.chart.colours import MODES, TITLES
from tui.chart.scene import ChartScene
from tui.look import text
from tui.look.calendar import Calendar
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line, width_of
from tui.panels.context import RUNS
from tui.replay.requests import BESIDE, News
from tui.replay.scene import UNNAMED, About, Scene

_NAME = 14
"""Smallest width in columns that stays for the trace's name if notes (on stops or panels) are on the same line"""


@dataclass(frozen=True, slots=True)
class Going:
    playing: bool = False
    direction: int = 1
    speed: str = ""
    progress: tuple[str, float | None] | None = None
    """Work that is taking long: (its name, its completed share or None if unknown)."""
    stops: int = 0
    hidden: tuple[str, ...] = ()
    """Key and name of each panel that has content, but is hidden"""
    in_lesson: bool = False
    """True during a lesson, when parts of the top line are left out"""
    calendar: Calendar | None = None
    """Calendar that gives dates for times; None to write times as days of the trace"""
    news: News | None = None
    """Result of the last reload of a policy's file, until the user dismisses it; None at any other time."""


def top_line(about: About, scene: Scene | None, going: Going, width: int, beside: str = "") -> Line:
    """Return trace and machine, then policy, speed, time and step; without space the left part is cut first."""
    right = _right_part(about, scene, going, beside, width) if scene else []
    room = width - width_of(right) - 1
    workload = about.workload
    if going.news is not None:
        style, action = ("bad", "reload") if going.news.is_bad else ("good", "parted")
        told = printable(text.shorten(f" {going.news.what}", max(room, 0)))
        return line(Span(told, style, action), Span(" " * max(room + 1 - text.cells(told), 0)), *right)
    nodes = 0 if workload.shape is None else len(workload.shape.nodes)
    machine = f"{count(nodes, 'node')} · {count(workload.procs, 'core')}" if nodes else f"{workload.procs:,} procs"
    facts = f"{machine} · {len(workload):,} jobs"
    name = printable(text.shorten(workload.name, max(room - text.cells(facts) - 4, 12)))
    left = [Span(f" {name}", "strong", "report"), Span(f" · {facts}", "dim")]
    if width_of(left) > room:
        left = [Span(text.shorten(f" {name}", max(room, 0)), "strong", "report")]
    gap = width - width_of((*left, *right))
    return line(*left, Span(" " * max(gap, 0)), *right)


def projected_line(about: About, scene: Scene | None, going: Going, width: int, beside: str = "") -> Line:
    """Return the line for a projector; `beside` is the policy of the compared run, "" without one."""
    if scene is None:
        return line(Span(f" {printable(about.workload.name)}", "strong"))
    ours, beside = scene.versus.specs if scene.versus else (_title(about, scene), beside)
    runs = [Span(f" {text.shorten(ours, max(width // 4, 10))} ", RUNS[0] if beside else "accent")]
    runs += [Span(f" {text.shorten(beside, max(width // 5, 8))} ", RUNS[1])] if beside else []
    right = [
        *runs,
        Span(f" {_clock(scene, going)} ", "strong"),
        Span(f" {scene.snapshot.step:,}/{scene.known_steps:,} "),
    ]
    name = text.shorten(f" {printable(about.workload.name)}", max(width - width_of(right), 0))
    return line(Span(name, "strong"), Span(" " * max(width - width_of(right) - text.cells(name), 0)), *right)


def _title(about: About, scene: Scene) -> str:
    policy = scene.snapshot.policy
    return policy if policy == UNNAMED else about.workload.title(policy)


def _right_part(about: About, scene: Scene, going: Going, beside: str, width: int) -> list[Span]:
    snapshot = scene.snapshot
    ours, beside = scene.versus.specs if scene.versus else (_title(about, scene), beside)  # before the first step, too
    spec = text.shorten(ours, max(width // 4, 10))
    other = text.shorten(beside, max(width // 5, 8))
    if beside:
        spec, other = f" {spec} ", f" {other} "
    is_named = (
        len(scene.branches) > 1 and scene.branch != BESIDE and not going.in_lesson and f"; {scene.branch}" not in ours
    )
    branch = f" on {text.shorten(scene.branch, 14)}" if is_named and width >= 100 else ""
    known = f"{scene.known_steps:,}" + ("" if scene.complete else "+")
    notes = [Span(f"{count(going.stops, 'stop')} set", "warn", "stops")] if going.stops else []
    if going.hidden:
        notes += [Span(f"{' · ' if notes else ''}hidden: {', '.join(going.hidden)}", "dim", "all_panels")]
    styles = RUNS if beside else ("accent", "cool")
    between = [Span("|", "dim")] if beside else []
    runs = [Span(spec, styles[0], "policy"), *between, Span(other, styles[1], "other_run")]
    policy = [*([] if scene.versus else runs), Span(branch, "dim", "branches")]  # charts and table name both runs
    speed, moment = (
        [] if going.in_lesson and not going.playing else _speed(going),
        [Span(_clock(scene, going), "strong", "go_to")],
    )
    step = [Span(f"step {snapshot.step:,} / {known}", "dim", "go_to")]
    groups = [group for group in (notes, policy, speed, moment, step if width >= 90 else []) if width_of(group)]
    for least in (notes, step, policy, speed):
        if width_of(_joined(groups)) > width - (_NAME if least is notes else 0):
            groups = [group for group in groups if group is not least]
    return _joined(groups)


def _clock(scene: Scene, going: Going) -> str:
    if going.calendar is None:
        return clock(scene.clock)
    day, _, time = going.calendar.moment(scene.clock).rpartition(" ")
    return f"{day} {going.calendar.year(scene.clock)} {time}".strip()


def _joined(groups: list[list[Span]]) -> list[Span]:
    spans = [span for group in groups for span in (Span("   "), *group)]
    return [*spans[1:], Span(" ")]


def _speed(going: Going) -> list[Span]:
    if going.progress:
        what, share = going.progress
        told = what if share is None else f"{what} {percent(share, 0)}"
        return [Span(f"{told}, ", "warn", "escape"), Span("esc stops", "key", "escape")]
    sign = ("▶" if going.direction > 0 else "◀") if going.playing else "‖"
    return [Span(f"{sign} ", "accent" if going.playing else "dim", "toggle_play"), Span(going.speed, "", "speed(1)")]


def legend_line(chart: ChartScene, look: Look, width: int) -> Line:
    """Return the name of the colour mode and as many meanings as fit; empty if each job has its own colour."""
    if not chart.legend:
        return line("")
    title = TITLES.get(chart.mode, chart.mode) if chart.mode in MODES else "start"
    spans = [Span(f" {title}: ", "dim", "colour")]
    room = width - text.cells(spans[0].text)
    for hue, label in chart.legend:
        told = f" {printable(label)}  "
        if room < text.cells(told) + 2:
            break
        spans += [Span(2 * sign_of(hue, look) if look.patterned else "▇▇", f"hue:{hue}"), Span(told)]
        room -= text.cells(told) + 2
    return line(*spans)
