"""The dialogs, each imported when it is first opened: what nobody opens costs nothing at the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from sim.workload.model import Trace, Workload

if TYPE_CHECKING:
    from sim.policies import Policy
    from tui.screens.dialogs.help import Groups, HelpScreen
    from tui.screens.dialogs.policy_picker import PolicyPicker
    from tui.screens.dialogs.prompt import Answers, Prompt
    from tui.screens.dialogs.report import FidelityReport
    from tui.screens.dialogs.trace_picker import TracePicker

T = TypeVar("T")


def policy_picker(current: Policy, verb: str, title: str) -> PolicyPicker:
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
    read: Callable[[str], T],
    *,
    suggestions: Sequence[str] = (),
    initial: str = "",
    answers: Answers | None = None,
) -> Prompt[T]:
    from tui.screens.dialogs.prompt import Prompt

    return Prompt(title, hint, read, suggestions, initial, answers)
