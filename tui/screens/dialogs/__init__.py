"""Dialogs over the screen; each is imported when it is first opened, so that the program starts fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.screens.dialogs.alternatives_dialog import AlternativesDialog
    from tui.screens.dialogs.help import HelpScreen
    from tui.screens.dialogs.policy_picker import PolicyPicker
    from tui.screens.dialogs.prompt import Prompt
    from tui.screens.dialogs.report import FidelityReport, SentencesDialog
    from tui.screens.dialogs.trace_picker import TracePicker

__all__ = [
    "AlternativesDialog", "FidelityReport", "HelpScreen", "PolicyPicker", "Prompt", "SentencesDialog", "TracePicker",
]  # fmt: skip
_FILES = {
    "AlternativesDialog": "alternatives_dialog", "FidelityReport": "report", "HelpScreen": "help",
    "PolicyPicker": "policy_picker", "Prompt": "prompt", "SentencesDialog": "report", "TracePicker": "trace_picker",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
