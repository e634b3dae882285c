"""Actions of the replay screen with their keys, from which bindings, key line, help and palette are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from textual.binding import Binding

from tui.look.sheets import Line, Span, line, width_of
from tui.screens.replay.side import SIDE
from tui.widgets.gantt import Gantt


class Key(NamedTuple):
    """Action: its keys as Textual names them, its name in a word or two, and its meaning."""

    keys: str
    action: str
    word: str
    meaning: str
    shown: int = 0
    """Position in the line of keys; 0 for an action that is only in the help."""
    when: str = ""
    """Word for when the action comes first in the line of keys (see `drawing._applies`); "" for none."""


def toggles() -> list[tuple[str, Key]]:
    """Return the name of each panel with the key that shows or hides it, in order of the keys."""
    panels = [(panel.keys, name, panel.word, panel.shows) for name, panel in SIDE.items()]
    panels += [("6", "metrics", "metrics", "the metrics"), ("7", "strip", "strip", "the strip of the whole run")]
    return [
        (name, Key(keys, f"toggle_panel('{name}')", word, f"Show or hide {shows}."))
        for keys, name, word, shows in sorted(panels)
    ]


PALETTE = Key("ctrl+p", "app.command_palette", "commands", "Everything that can be done, found by typing.")
"""Action of Textual's app that opens the palette of commands; the replay screen has no method for it."""
PLAYING = (
    Key("space", "toggle_play", "play", "Play, or pause.", 1),
    Key("right", "step(1)", "step", "Advance one step (everything at the next instant).", 2),
    Key("left", "step(-1)", "back", "One step back.", 3),
    Key("up", "speed(1)", "faster", "Play faster: from seconds for each event to weeks a second.", 8),
    Key("down", "speed(-1)", "slower", "Play slower.", 9),
    Key("k", "by_event", "by event", "Toggle between playing by event (pause at each decision) and by the clock."),
    Key("R", "rewind", "rewind", "Play backwards, at the same speed."),
    Key("full_stop", "decision(1)", "decision", "The next decision of this step, or of the next one.", 12),
    Key("comma", "decision(-1)", "", "The decision before this one."),
    Key("right_square_bracket", "jump(1)", "next", "Go to the next event of the chosen kind (choose it with j).", 10),
    Key("left_square_bracket", "jump(-1)", "", "Back to the last event of the chosen kind."),
    Key("right_parenthesis", "turn(1)", "turn",
        "Gang scheduling: go to the next row's turn, also between steps.", 32, "turns"),
    Key("left_parenthesis", "turn(-1)", "", "Gang scheduling: back to the turn before."),
    Key("j", "choose_jump", "jump to", "Choose what to jump to: start, arrival, completion, backfill, suspension ..."),
    Key("g", "go_to", "go to", "Go to a time (12d 4h), a step (#1200) or a job (J17).", 6),
    Key("home", "go_begin", "begin", "To the beginning."),
    Key("end", "go_end", "end",
        "To the end of the run, or to where a stop is met before it; what is not known is computed."),
    Key("semicolon", "to_stop(1)", "next stop",
        "To the next step at which a condition to stop at (x) is met.", 31, "stops"),
    Key("colon", "to_stop(-1)", "", "Back to the last step at which a condition to stop at is met."),
    Key("x", "stops", "stop at", "Conditions to stop at: queue > 50, job 17 starts, head slips ...", 13),
    Key("escape", "escape", "cancel",
        "Cancel a long operation; otherwise go back from a panel to the chart, or clear the selection."),
)  # fmt: skip
CHANGING = (
    Key("p", "policy", "policy", "Continue from here under another policy or with other parameters.", 4),
    Key("P", "restart", "restart", "Another policy from the beginning."),
    Key("f", "fork", "fork", "Create a branch here, to continue the run in another way.", 14),
    Key("J", "what_if", "what if", "Withdraw or change the selected job, or add one, in a run of its own.", 38, "job"),
    Key("X", "break_processors", "break", "Let processors fail here, in a new branch."),
    Key("B", "branches", "branches", "Switch to another branch."),
    Key("v", "compare", "compare", "Compare with another policy from here on, on one clock; pressed again: end it.", 7),
    Key("V", "compare_from_start", "compare all",
        "Compare with another policy from the beginning; pressed again: end it."),
    Key("u", "helped", "helped",
        "Rank other policies, and this run without each blocking job, by the selected job's wait.", 34, "job"),
    Key("d", "parted", "difference",
        "To the first decision that differs: while comparing, after a reload, on a branch.", 35, "differs"),
    Key("e", "other_run", "other run",
        "While comparing: queue, decisions, numbers and → of the other run.", 36, "compared"),
    Key("C", "gains", "gains",
        "While comparing: colour jobs that start earlier or later, or turn that off.", 37, "compared"),
    Key("ctrl+z,Z", "take_back", "take back",
        "Take back the last move: a jump, a switch, a comparison closed or begun."),
    Key("L", "reload", "reload", "Reload a policy's file and repeat the run; saving the file does the same."),
    Key("r", "reverse", "cause",
        "Go back to the last decision that changed the selected job's planned start.", 33, "job"),
    Key("E", "reverse_processor", "", "Go back to the last change of job on the processor under the pointer."),
    Key("D", "reverse_boundary", "", "Back to when a boundary between partitions moved."),
    Key("b", "bookmark", "bookmark", "Remember this moment under a name."),
    Key("apostrophe", "bookmarks", "bookmarks", "Go to a bookmark."),
)  # fmt: skip
LOOKING = (
    Key("slash", "find", "find",
        "Find a job, a user's next job, or list every match of a condition: backfill, queue > 50, queue changes.", 11),
    Key("w", "why", "why", "Select the first job in the queue, with its reason.", 5),
    Key("W", "longest", "longest wait", "To the start of the job that waited longest in the whole run."),
    Key("O", "most_overtaken", "most passed", "Go to the start of the job passed by the most other jobs."),
    Key("t", "dates", "dates", "Write moments as dates and weekdays, where the trace says when it began; and back."),
    Key("c", "colour", "colour", "Colour jobs by something else: user, queue, width, wait ...", 16),
    Key("N", "pages", "pages", "While it plays: turn pages of the chart, or scroll it."),
    Key("tab", "next_panel", "panels",
        "Go to the next panel, where ↑ ↓ and enter select; on a small screen they come in turn.", 17),
    Key("shift+tab", "previous_panel", "", "The panel before."),
    Key("f5", "project", "projector", "For a wall: the chart and one caption, in strong colours; a pointer; and back."),
    Key("z", "maximise", "maximise", "The focused panel over the whole screen, and back."),
    *(key for _, key in toggles()),
    Key("a", "all_panels", "all panels", "All panels that have something to show, in their places."),
    Key("i", "report", "trace report", "What was read from the trace, and what was skipped or assumed."),
)  # fmt: skip
KEEPING = (
    Key("F", "trace", "trace", "Open another trace.", 18),
    Key("H", "first_screen", "menu", "The first screen: the samples, recent traces and sessions.", 20),
    Key("s", "save", "save", "Save the session: reopening shows this very moment.", 19),
    Key(
        "y",
        "copy",
        "copy",
        "Copy marked text, the line under the cursor, why the job waits, or the sentence. By OSC 52: also over ssh, in "
        "tmux with set -s set-clipboard on, and from a browser on this machine or over https.",
    ),
    Key("Y", "copy_command", "copy command", "Copy the command that opens this moment again."),
    Key("S", "picture", "picture", "Save the screen, or the chart of any size, as SVG."),
    Key("T", "theme", "theme", "Dark, light, high contrast; colour, monochrome, ASCII."),
    Key("question_mark", "help", "help", "All keys, signs, and how to read the screen.", 21),
    Key("q", "quit", "quit", "Quit; schedscope --session last restores this session.", 22),
)
GROUPS: tuple[tuple[str, tuple[Key, ...]], ...] = (
    ("To move in time", PLAYING),
    ("To ask what if", CHANGING),
    ("To look closer", LOOKING),
    ("To keep and to share", KEEPING),
)
EIGHT = "toggle_play", "step(1)", "step(-1)", "policy", "compare", "why", "find", "help"
"""Actions for the first hour, with which the help begins."""
_SIGNS = {
    "full_stop": ".", "comma": ",", "right_square_bracket": "]", "left_square_bracket": "[", "question_mark": "?",
    "slash": "/", "semicolon": ";", "colon": ":", "apostrophe": "'", "right": "→", "left": "←", "up": "↑", "down": "↓",
    "left_parenthesis": "(", "right_parenthesis": ")", "escape": "esc",
    "plus": "+", "minus": "-", "left_curly_bracket": "{", "right_curly_bracket": "}", "equals_sign": "=",
    "asterisk": "*", "less_than_sign": "<", "greater_than_sign": ">", "pageup": "pgup", "pagedown": "pgdn",
}  # fmt: skip


def sign(keys: str) -> str:
    """Return keys, given as Textual names them, as the screen shows them.

    >>> sign("full_stop"), sign("4,m"), sign("shift+left")
    ('.', '4 m', 'shift+←')
    """
    return " ".join("+".join(_SIGNS.get(part, part) for part in key.split("+")) for key in keys.split(","))


TOGETHER: dict[str, tuple[tuple[str, ...], str]] = {
    "speed(1)": (("speed(-1)",), "Play faster, slower: from seconds for each event to weeks a second."),
    "decision(1)": (("decision(-1)",), "The next decision, in this step or a later one; the one before."),
    "jump(1)": (
        ("jump(-1)", "choose_jump"),
        "To the next, the last match (/) or event of a kind; j chooses it: start ...",
    ),
    "turn(1)": (("turn(-1)",), "Gang scheduling: to the next, the last turn of a row, also between steps."),
    "go_begin": (("go_end",), "To the beginning; to the end, or to where a stop is met before it."),
    "stops": (
        ("to_stop(1)", "to_stop(-1)"),
        "Conditions to stop at: queue > 50, job 17 starts ...; to the next, the last.",
    ),
    "reverse": (
        ("reverse_processor", "reverse_boundary"),
        "Back to the last change: of the selected job's planned start, under the pointer, of a boundary.",
    ),
    "bookmark": (("bookmarks",), "Remember this moment under a name; go to a bookmark."),
    "longest": (("most_overtaken",), "To the start of the job that waited longest; that was passed by most others."),
    "next_panel": (("previous_panel",), "To the next, the last panel, where ↑ ↓ and enter select."),
    "toggle_panel('queue')": (
        tuple(key.action for name, key in toggles() if name != "queue"),
        f"Show or hide a panel: {', '.join(f'{sign(key.keys)[0]} {key.word}' for _, key in toggles())}.",
    ),
}
"""Actions that share a line of the help, by the first of them, with their meaning"""
MANY = 5
"""Number of actions from which on their line of the help names the first keys only."""


def told_of(action: str) -> str:
    return next((f"{sign(key.keys)}: {key.meaning}" for key in (PALETTE, *every_key()) if key.action == action), "")


def help_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return titles, and keys with their meanings: eight for the first hour, then the others by what they do."""
    known = {key.action: key for key in every_key()}
    elsewhere = {*EIGHT, *(action for others, _ in TOGETHER.values() for action in others)}
    groups = [("The eight keys", [known[action] for action in EIGHT])]
    groups += [(title, [key for key in keys if key.action not in elsewhere]) for title, keys in GROUPS]
    groups[-1][1].append(PALETTE)
    return [(title, [_row_of(key, known) for key in keys]) for title, keys in groups]


def _row_of(key: Key, known: Mapping[str, Key]) -> tuple[str, str]:
    others, meaning = TOGETHER.get(key.action, ((), key.meaning))
    signs = [sign(each.keys) for each in (key, *map(known.__getitem__, others))]
    return (" ".join(signs) if len(signs) < MANY else "1 to 9"), meaning


def every_key() -> Iterator[Key]:
    for _, keys in GROUPS:
        yield from keys


def bindings(keys: Iterable[Key]) -> list[Binding]:
    return [
        Binding(
            key.keys, key.action, key.word or key.meaning, show=False, id=identity(key),
            priority=key.keys in ("tab", "shift+tab"),
        )
        for key in keys
    ]  # fmt: skip


def chart_keys() -> Iterator[Binding]:
    """Yield the keys of the chart as keys of its screen, so that they apply wherever the focus is."""
    for key in Gantt.BINDINGS:
        if isinstance(key, Binding):
            yield replace(key, action=f"in_chart({key.action!r})")


def identity(key: Key) -> str:
    """Return the id of an action, by which the user's settings change its keys.

    >>> identity(PLAYING[1])
    'step.forwards'
    """
    name, _, argument = key.action.rstrip(")").partition("(")
    direction = {"1": "forwards", "-1": "backwards", "": ""}.get(argument, argument.strip("'"))
    return f"{name}.{direction}" if direction else name


# The line of keys at the bottom: keys that are useful in the present state, as many as fit

ALWAYS = ("first_screen", "help", "quit")
"""Actions whose keys are always at the end of the line, the first of them from `WIDE` columns on."""
WIDE = 80
MOVES = 3
"""Number of keys at the beginning of the line that are shown in every state."""
ROOMY = 140
TWINS = {
    "speed(1)": ("↑ ↓", "speed"), "decision(1)": (". ,", "decision"), "jump(1)": ("] [", "next"),
    "to_stop(1)": ("; :", "stops"), "turn(1)": (") (", "turn"),
}  # fmt: skip
"""Keys and one word for each pair of opposite actions, by the first of them"""
STEPS = Span("→", "key", "step(1)"), Span(" "), Span("←", "key", "step(-1)"), Span("  ")


Tabs: TypeAlias = tuple[tuple[str, bool], ...]
"""(Name, True if it is shown) of each panel that can cover half of a small screen"""


@lru_cache(8)
def key_lines(
    width: int, rows: int, playing: bool, applies: frozenset[str] = frozenset(), tabs: Tabs = ()
) -> list[Line]:
    """Return keys that move the replay, keys whose condition is met (`applies`), then all others."""
    if tabs and rows > 1:
        return [_tab_line(width, tabs), *key_lines(width, rows - 1, playing, applies)]
    chosen = [key for key in every_key() if key.shown and (not key.when or key.when in applies)]
    compares, always = "compared" in applies, ALWAYS[width < WIDE :]
    first = {key for key in chosen if key.when or (compares and key.action == "compare")}
    chosen = sorted(chosen, key=lambda key: (key.shown > MOVES, key not in first, not key.when, key.shown))
    chosen = [key for key in chosen if key.action != "speed(-1)"]
    at_the_end = [*([PALETTE] if width >= ROOMY else []), *(key for key in chosen if key.action in always)]
    last = [_spans(key.keys, key.action, key.word) for key in at_the_end]
    reserved = sum(width_of(spans) for spans in last)
    lines: list[list[Span]] = [[Span(" ")]]
    if tabs:
        signs, named = _spans(chosen[0].keys, chosen[0].action, "pause" if playing else chosen[0].word)
        room = width - 1 - reserved
        plays = [signs, named], [signs, named._replace(text=named.text[:-1])]
        starts = [*([*play, *STEPS] for play in plays), *plays]
        found = next(((start, panels) for start in starts if (panels := _all_tabs(tabs, room - width_of(start)))), None)
        start, panels = found or ([], _all_tabs(tabs, room, signs=True))
        if found and first:  # what applies now needs the room of the panels' names
            panels = [*_all_tabs(tabs, 2 * len(tabs), signs=True), Span(" ")]
        lines, chosen = [[Span(" "), *start, *panels]], chosen[1 + 2 * (len(start) > 2) :] if found else []
    for key in chosen:
        if key.action in always:
            continue
        word = "pause" if key.action == "toggle_play" and playing else key.word
        word = "end compare" if key.action == "compare" and compares else word
        spans = _spans(key.keys, key.action, word)
        if len(lines) < rows and width_of(lines[-1]) + width_of(spans) > width:
            lines.append([Span(" ")])
        if width_of(lines[-1]) + width_of(spans) > width - (reserved if len(lines) == rows else 0):
            break
        lines[-1] += spans
    if width_of(lines[-1]) + reserved > width and len(lines) < rows:
        lines.append([Span(" ")])
    for spans in last:
        lines[-1] += spans
    return [line(*spans) for spans in lines]


def _tab_line(width: int, tabs: Tabs) -> Line:
    first = _spans("tab", "next_panel", "panels")
    return line(Span(" "), *first, *_all_tabs(tabs, width - 1 - width_of(first), signs=True))


def _all_tabs(tabs: Tabs, room: int, signs: bool = False) -> list[Span]:
    """Return the panels with their keys in at most `room` columns. If there is too little space, the gaps get smaller,
    then names are shortened. With `signs`, the last resort is to show only the keys.

    >>> tabs = ("versus", False), ("queue", True), ("partitions", False)
    >>> ["".join(span.text for span in _all_tabs(tabs, room, signs=True)).strip() for room in (60, 33, 24, 9)]
    ['G compared  1 queue  5 partitions', 'G compared 1 queue 5 partitions', 'G both 1 queue 5 parts', 'G 1 5']
    """
    keys = {key.action: key for key in every_key()}
    found = [(keys[f"toggle_panel('{name}')"], is_shown) for name, is_shown in tabs]
    names = [f" {key.word}" for key, _ in found]
    short = [f" {SIDE[name].short or SIDE[name].word}" for name, _ in tabs]
    for words, gap in ((names, "  "), (names, " "), (short, " "), *((([""] * len(found), " "),) if signs else ())):
        spans = []
        for (key, is_shown), word in zip(found, words, strict=True):
            style = "accent" if is_shown else "dim"
            spans += [Span(sign(key.keys.partition(",")[0]), "key", key.action), Span(word + gap, style, key.action)]
        if width_of(spans) <= room:
            return spans
    return []


def _spans(keys: str, action: str, word: str) -> list[Span]:
    signs, word = TWINS.get(action, (sign(keys), word))
    return [Span(signs, "key", action), Span(f" {word}  ", "dim", action)]
