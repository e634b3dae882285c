"""Messages of the replay screen: from its worker, and to the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.message import Message

from sim.policies import Policy
from tui.look.palette import Look
from tui.replay.requests import Renew, Told

if TYPE_CHECKING:
    from sim.lessons.walk import SceneNow, Walk


class FromWorker(Message, bubble=False):
    """The worker tells something."""

    def __init__(self, told: Told) -> None:
        self.told = told
        super().__init__()


class FileSaved(Message):
    """The file of a policy in use was saved."""

    def __init__(self, order: Renew) -> None:
        self.order = order
        super().__init__()


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


class OpenLesson(Message):
    """Play a lesson of the course."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()


class ShowLessons(Message):
    """Show what there is to learn."""


class SceneChanged(Message):
    """A lesson has come to another scene, or to an answer."""

    def __init__(self, now: SceneNow, name: str) -> None:
        self.now, self.name = now, name
        super().__init__()


class GoToScene(Message):
    """Message to go to the next or previous scene (by), or to this one (to), sent to the replay screen."""

    def __init__(self, by: int = 0, to: int | None = None) -> None:
        self.by, self.to = by, to
        super().__init__()


class LessonOver(Message):
    """Message that the user continued after the end of a lesson."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        super().__init__()


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


class Deliver(Message):
    """Message to hand the user a text as a file; web visitors have no files here."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        super().__init__()


class Quit(Message):
    """The person leaves."""
