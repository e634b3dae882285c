"""What the replay screen and its controllers ask of the program."""

from __future__ import annotations

from typing import Any

from textual.message import Message

from sim.policies import Policy
from tui.look.palette import Look


class OpenTrace(Message):
    """Replay another trace, under this policy."""

    def __init__(self, trace: str, policy: Policy) -> None:
        self.trace, self.policy = trace, policy
        super().__init__()


class OpenEntry(Message):
    """Open what was chosen on the first screen: a trace or a sample, or a session."""

    def __init__(self, value: str, is_session: bool = False) -> None:
        self.value, self.is_session = value, is_session
        super().__init__()


class ShowFirst(Message):
    """Show the first screen."""


class PolicyChosen(Message):
    """A person has chosen this policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        super().__init__()


class Remember(Message):
    """A person likes it so: settings and their values."""

    def __init__(self, **changed: Any) -> None:
        self.changed = changed
        super().__init__()


class UseLook(Message):
    """See everything so."""

    def __init__(self, look: Look) -> None:
        self.look = look
        super().__init__()


class KeepSession(Message):
    """Keep this moment: in a file, or (None) as a line in the clipboard."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        super().__init__()


class Quit(Message):
    """The person leaves."""
