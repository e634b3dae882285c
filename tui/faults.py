"""A fault of the program itself: everything about it in a file, and one line for the person."""

from __future__ import annotations

from traceback import format_exception

from tui.sessions.autosave import state_folder


def report(fault: BaseException | None) -> str:
    """Write the report; the line that says where it is."""
    told = f"schedscope: internal error: {fault!r}"
    try:
        path = state_folder() / "fault.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(format_exception(fault)), encoding="utf-8")
    except OSError:
        return f"{told}; no report could be written"
    return f"{told}; the report is in {path}, and the next start offers to continue"
