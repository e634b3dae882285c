"""The dialogs, each imported when it is first opened: what nobody opens costs nothing at the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sim.workload.model import Trace, Workload

if TYPE_CHECKING:
    from tui.screens.dialogs.help import Groups, HelpScreen
    from tui.screens.dialogs.policy_picker import PolicyPicker
    from tui.screens.dialogs.prompt import Answers, Prompt
    from tui.screens.dialogs.report import FidelityReport
    from tui.screens.dialogs.trace_picker import TracePicker


def policy_picker(current: str, verb: str, title: str) -> PolicyPicker:
    from tui.screens.dialogs.policy_picker import PolicyPicker

    return PolicyPicker(current, verb, title)


def trace_picker(recent: Sequence[str]) -> TracePicker:
    from tui.screens.dialogs.trace_picker import TracePicker

    return TracePicker(recent)


def fidelity_report(trace: Trace, workload: Workload) -> FidelityReport:
    from tui.screens.dialogs.report import FidelityReport

    return FidelityReport(trace, workload)


def help_screen(groups: Groups) -> HelpScreen:
    from tui.screens.dialogs.help import HelpScreen

    return HelpScreen(groups)


def prompt(
    title: str,
    hint: str,
    check: Callable[[str], str | None],
    *,
    suggestions: Sequence[str] = (),
    initial: str = "",
    answers: Answers | None = None,
) -> Prompt:
    from tui.screens.dialogs.prompt import Prompt

    return Prompt(title, hint, check, suggestions, initial, answers)
