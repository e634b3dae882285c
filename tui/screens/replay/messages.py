"""Messages of the replay screen: from its worker, and to the program."""

from __future__ import annotations

from typing import Any

from textual.message import Message

from sim.policies import Policy
from tui.look.palette import Look
from tui.replay.requests import Renew, Told


class FromWorker(Message, bubble=False):
    def __init__(self, told: Told) -> None:
        self.told = told
        super().__init__()


class FileSaved(Message):
    """Message that the source file of a policy in use was saved by an editor."""

    def __init__(self, order: Renew) -> None:
        self.order = order
        super().__init__()


class OpenTrace(Message):
    def __init__(self, trace: str, policy: Policy) -> None:
        self.trace, self.policy = trace, policy
        super().__init__()


class OpenEntry(Message):
    def __init__(self, value: str, is_session: bool = False) -> None:
        self.value, self.is_session = value, is_session
        super().__init__()


class ShowFirst(Message):
    """Message to show the first screen."""


class OpenLesson(Message):
    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()


class ShowLessons(Message):
    """Message to show the list of lessons."""


class SceneChanged(Message):
    """Another scene of a lesson, or an answer; `seen` counts scenes, `name` is "" if progress is not kept."""

    def __init__(self, name: str, seen: int) -> None:
        self.name, self.seen = name, seen
        super().__init__()


class LessonOver(Message):
    def __init__(self, is_right: bool | None) -> None:
        self.is_right = is_right
        super().__init__()


class PolicyChosen(Message):
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        super().__init__()


class Remember(Message):
    def __init__(self, **changed: Any) -> None:
        self.changed = changed
        super().__init__()


class UseLook(Message):
    def __init__(self, look: Look) -> None:
        self.look = look
        super().__init__()


class KeepSession(Message):
    """Message to save the session in the file `path`; if it is None, to copy it to the clipboard as one line or, if
    `is_command`, as a command with options.
    """

    def __init__(self, path: str | None = None, is_command: bool = False) -> None:
        self.path, self.is_command = path, is_command
        super().__init__()


class Deliver(Message):
    """Message to offer a text as a download, because a visitor of the web server cannot write files."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        super().__init__()


class Quit(Message):
    """Message to quit the program."""
