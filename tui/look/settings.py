"""Settings of the user in a small JSON file; of a damaged one, what can be read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from errno import EINVAL
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from tui.look.palette import LOOKS, Mode

if TYPE_CHECKING:
    from sim.policies.policy import Policy

FOLDER_VARIABLE = "SCHEDSCOPE_CONFIG"
"""Environment variable with the folder of the settings file, instead of the system's folder for settings."""
MOST_RECENT, MOST_BYTES = 12, 2**20
FASTEST = 120
MODES: tuple[Mode, ...] = ("colour", "mono", "ascii")


@dataclass(frozen=True)
class Settings:
    """Settings of the user; None stands for a value that the program chooses."""

    look: str | None = None
    mode: Mode | None = None
    fps: int | None = None
    colour_by: str | None = None
    panels: Mapping[str, bool] = field(default_factory=dict)
    """For each panel that the user has shown or hidden: True if it is shown."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """For each list of a cluster's jobs whose columns or order the user has chosen: these as text."""
    recent: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    keymap: Mapping[str, str] = field(default_factory=dict)
    """For each action whose keys the user has changed: the new keys."""
    lessons: Mapping[str, int] = field(default_factory=dict)
    """For each lesson that was begun: the number of its scenes that the user has seen"""
    policy: str | None = None
    """Spec of the built-in policy for traces that are opened without a policy; None for the program's choice."""
    speed: str | None = None
    """Name of the speed with which a replay begins, as the screen shows it; None for the program's choice."""

    @property
    def usual(self) -> Policy | None:
        from sim.policies import parse_policy

        return None if self.policy is None else parse_policy(self.policy)

    def with_recent(self, trace: str) -> Settings:
        return replace(self, recent=_newest_first(trace, self.recent))

    def with_session(self, path: str) -> Settings:
        return replace(self, sessions=_newest_first(path, self.sessions))

    def with_lesson(self, name: str, scenes: int) -> Settings:
        """Return the settings with `scenes` seen of the lesson, unless a larger number is stored."""
        return replace(self, lessons={**self.lessons, name: max(scenes, self.lessons.get(name, 0))})

    def with_policy(self, spec: str) -> Settings:
        return replace(self, policies=_newest_first(spec, self.policies))


def _newest_first(newest: str, others: tuple[str, ...]) -> tuple[str, ...]:
    return (newest, *(other for other in others if other != newest))[:MOST_RECENT]


def settings_path(environ: Mapping[str, str] = os.environ) -> Path:
    if folder := environ.get(FOLDER_VARIABLE):
        return Path(os.path.expanduser(folder)) / "settings.json"
    from platformdirs import user_config_path

    return user_config_path("schedscope") / "settings.json"


# Reading


def load(path: Path) -> tuple[Settings, str | None]:
    """Return the settings and what is wrong with the file (None if in order); a damaged file is renamed."""
    try:
        return _checked(_content(path), path)
    except FileNotFoundError:
        return Settings(), None
    except OSError as error:
        return Settings(), f"{path}: the settings cannot be read ({error.strerror}); using the usual ones"
    except ValueError:
        return Settings(), _set_aside(path)


def examine(path: Path) -> tuple[Settings, str | None]:
    """Return what `load` returns, but leave a damaged file where it is."""
    try:
        return _checked(_content(path), path)
    except FileNotFoundError:
        return Settings(), None
    except (OSError, ValueError) as error:
        return Settings(), f"{path}: {error}"


def kept_now(path: Path) -> Settings | None:
    """Return the settings that the file contains now; None if it is missing, damaged, or has invalid values."""
    try:
        settings, problem = _checked(_content(path), path)
    except (OSError, ValueError):
        return None
    return None if problem else settings


def _content(path: Path) -> dict[str, Any]:
    """Return the names and values in the file; raise ValueError if it contains anything else."""
    found = path.stat()
    if not S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        raise OSError(EINVAL, f"no ordinary file of at most {MOST_BYTES:,} bytes")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("the lists in it lie too deep") from None
    if not isinstance(content, dict):
        raise ValueError("these are no settings")
    return content


def _set_aside(path: Path) -> str:
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged{number}")):
        number += 1
    try:
        path.rename(aside)
    except OSError as error:
        return f"{path}: the settings are damaged and cannot be set aside ({error.strerror}); using the usual ones"
    return f"{path}: the settings were damaged and are now in {aside.name}; using the usual ones"


def _checked(content: dict[str, Any], path: Path) -> tuple[Settings, str | None]:
    """Return the settings without values of a wrong type, and one line about those (None if all types are right)."""
    good: dict[str, Any] = {}
    refused: list[str] = []
    for name, (expected, read) in _READERS.items():
        if name not in content:
            continue
        value = read(content[name])
        if value is None:
            refused.append(f"{name} should be {expected}")
        else:
            good[name] = value
    return Settings(**good), f"{path}: left out: {'; '.join(refused)}" if refused else None


def _one_of(names: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda value: value if isinstance(value, str) and value in names else None


def _whole_number(low: int, high: int) -> Callable[[Any], int | None]:
    return lambda value: value if type(value) is int and low <= value <= high else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _built_in(value: Any) -> str | None:
    from sim.policies import parse_policy
    from sim.policies.own.naming import code_in

    if not isinstance(value, str) or code_in(value):
        return None
    try:
        parse_policy(value)
    except SchedscopeError:
        return None
    return value


def _texts(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value[:MOST_RECENT])


def _by_name(kind: type) -> Callable[[Any], dict[str, Any] | None]:
    def read(value: Any) -> dict[str, Any] | None:
        return value if isinstance(value, dict) and all(type(each) is kind for each in value.values()) else None

    return read


_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "look": (", ".join(LOOKS), _one_of(tuple(LOOKS))),
    "mode": (", ".join(MODES), _one_of(MODES)),
    "fps": (f"a whole number from 1 to {FASTEST}", _whole_number(1, FASTEST)),
    "colour_by": ("a text", _text),
    "panels": ("true or false by name", _by_name(bool)),
    "columns": ("a text by name", _by_name(str)),
    "recent": ("a list of texts", _texts),
    "sessions": ("a list of texts", _texts),
    "policies": ("a list of texts", _texts),
    "keymap": ("a text by name", _by_name(str)),
    "lessons": ("a number by name", _by_name(int)),
    "policy": ("a built-in policy, like easy:order=sjf", _built_in),
    "speed": ("a speed as the screen writes it, like 1h/s", _text),
}


# Writing


def save(settings: Settings, path: Path) -> str | None:
    """Write the settings to a file, which is replaced as a whole. Return the error in one line; None after success."""
    chosen = {name: value for name, value in asdict(settings).items() if value not in (None, (), {})}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(path) as file:
            file.write(json.dumps(chosen, indent=2) + "\n")
    except OSError as error:
        return f"the settings are not kept: cannot write {path}: {error.strerror or error}"
    except SchedscopeError as error:
        return f"the settings are not kept: {error}"
    return None
