"""Palette of commands: every action of the screen, which the user finds by typing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

from textual import on
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.style import Style
from textual.widgets import Input, OptionList

from sim.policies import POLICIES
from sim.policies.parameters import summary
from sim.workload.samples import captions
from tui.look.palette import LOOKS
from tui.look.text import drawn, pad
from tui.screens.dialogs.dialog import ClosesOnce, is_on_top
from tui.screens.dialogs.help import otherwise

_CALLED = 1000.0
"""Score added for commands with all typed words, to be before matches letter by letter."""
_KEYS = 9
"""Width in columns of the keys before the titles."""


class Command(NamedTuple):
    """Entry of the palette; `keys` also cause its action, `called` is found by typing, but not shown."""

    title: str
    meaning: str
    action: str
    keys: str = ""
    called: str = ""
    is_first: bool = False
    """True for a command of the first hour, which comes before the others with a mark."""


@runtime_checkable
class HasCommands(Protocol):
    def palette_commands(self) -> Iterable[Command]: ...


def choices(colours: Iterable[str]) -> Iterator[Command]:
    for name, cls in POLICIES.items():
        yield Command(f"policy: {name}", summary(cls), f"use_policy({name!r})")
    for alias, spec in POLICIES.aliases.items():
        yield Command(f"policy: {alias}", f"Short for {spec}.", f"use_policy({alias!r})")
    for look in LOOKS:
        yield Command(f"theme: {look}", f"See the program in its {look} look.", f"use_look({look!r})")
    for mode in colours:
        yield Command(f"colour by: {mode}", f"Give jobs of the same {mode} the same colour.", f"colour_by({mode!r})")
    for name, caption in captions():
        yield Command(f"sample: {name}", caption + ".", f"open_trace({name!r})")


class Palette(CommandPalette, ClosesOnce[None]):
    """Textual's palette with the frame of our dialogs; its list takes no keys where it has no space."""

    DEFAULT_CSS = """
    Palette {
        & > Vertical { width: 100%; max-width: 132; margin-top: 2; background: $surface; }
        SearchIcon { display: none; }
        #--input, #--input.--list-visible {
            border: round $border-blurred;
            border-title-color: $text-accent;
            border-title-style: bold;
            border-subtitle-color: $text-muted;
            background: $surface;
        }
        CommandInput, CommandInput:focus { background: $panel; padding: 0 1; height: 1; border: none; }
        CommandList { background: $surface; border: none; padding: 0 2; scrollbar-size-vertical: 1; }
        CommandList { text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self) -> None:
        super().__init__(placeholder="search commands, policies, colours, samples ...")

    def on_mount(self) -> None:
        field = self.query_one("#--input")
        field.border_title, field.border_subtitle = "Commands", "● first hour   ↑ ↓ choose   enter do it   esc close"

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _take_once(self, event: OptionList.OptionSelected | Input.Submitted) -> None:
        """Let the palette run the chosen command once; a second choice, by keys that arrived together, is ignored."""
        if not is_on_top(self):
            event.prevent_default()

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)


class ScreenCommands(Provider):
    async def discover(self) -> Hits:
        for command in sorted(self._commands(), key=lambda command: not command.is_first):
            run = partial(self.screen.run_action, command.action)
            yield DiscoveryHit(_in_one_line(command, _plain_text(command.title)), run, command.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in self._commands():
            said, places = f"{command.title} {command.meaning} {command.called}", places_of(query, command.title)
            score = matcher.fuzzy_search.score(command.title, places) if places else 0.0
            score += _CALLED * is_called(query, said)
            if score > 0:
                run = partial(self.screen.run_action, command.action)
                yield Hit(
                    score, _in_one_line(command, _lit(command.title, places, matcher.match_style)), run, command.title
                )

    def _commands(self) -> Iterable[Command]:
        return self.screen.palette_commands() if isinstance(self.screen, HasCommands) else ()


def places_of(query: str, title: str) -> Sequence[int]:
    """Return the places of the query's letters in a title: in one piece if possible, else one after another; () if a
    letter is missing. Textual's own matching tries all combinations, which takes seconds for a dozen letters.

    >>> [*places_of("lamp", "light the lamp")], places_of("lit", "light the lamp"), places_of("lit", "tail")
    ([10, 11, 12, 13], [0, 1, 4], ())
    """
    query, title = query.lower(), title.lower()
    if (at := title.find(query)) >= 0:
        return range(at, at + len(query))
    places = list[int]()
    for letter in query:
        if (at := title.find(letter, at + 1)) < 0:
            return ()
        places.append(at)
    return places


def is_called(query: str, told: str) -> bool:
    """Return True if the text `told` of a command contains all typed words; in place of a word, it may contain another
    word for the same thing.

    >>> is_called("clone", "A new branch from here."), is_called("fork", "Play faster: from seconds to weeks.")
    (True, False)
    """
    words = query.lower().split()
    return bool(words) and all(any(word in told.lower() for word in (each, *otherwise(each))) for each in words)


def _in_one_line(command: Command, title: Content) -> Content:
    keys = Content.styled(pad(command.keys, _KEYS), "$text-accent bold")
    mark = Content.styled("● " if command.is_first else "  ", "$text-accent")
    meaning = Content.styled(f"  {drawn(command.meaning)}" if command.meaning else "", "$text-muted")
    return Content.assemble(keys, mark, title, meaning)


def _plain_text(words: str) -> Any:
    """Return `words` as plain text for Textual's palette; square brackets in it are not read as markup."""
    return Content(drawn(words))


def _lit(title: str, places: Sequence[int], style: Style) -> Content:
    """Return a title with the letters at these places lit; square brackets in it are no markup."""
    content: Content = _plain_text(title)
    for at in places:
        content = content.stylize(style, at, at + 1)
    return content
