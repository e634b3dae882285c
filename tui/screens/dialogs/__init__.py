"""Dialogs over the screen, each imported when it is first opened to keep the start fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.screens.dialogs.help import HelpScreen
    from tui.screens.dialogs.helped import Helped
    from tui.screens.dialogs.policy_picker import PolicyPicker
    from tui.screens.dialogs.prompt import Prompt
    from tui.screens.dialogs.report import FidelityReport
    from tui.screens.dialogs.trace_picker import TracePicker

__all__ = ["FidelityReport", "HelpScreen", "Helped", "PolicyPicker", "Prompt", "TracePicker"]
_FILES = {"HelpScreen": "help", "Helped": "helped", "FidelityReport": "report", "PolicyPicker": "policy_picker",
          "Prompt": "prompt", "TracePicker": "trace_picker"}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
