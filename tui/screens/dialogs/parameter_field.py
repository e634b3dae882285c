"""Field for a parameter in a form: name, control, meaning, and what is wrong with its value."""

from __future__ import annotations

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Input, Static

from sim.policies.parameters import Parameter
from tui.look.text import drawn
from tui.screens.dialogs.policy_form import Field
from tui.widgets.options import Choice


class ParameterField(Vertical):
    """Field for a parameter; a click on the mark of a changed value restores the default."""

    class Changed(Message):
        """Message that the user has changed the text of the field; an empty text stands for the default."""

        def __init__(self, name: str, text: str) -> None:
            super().__init__()
            self.name, self.text = name, text

    class Submitted(Message):
        """Message that the user pressed Enter in the field."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field

    @property
    def parameter(self) -> str:
        return self.field.parameter.name

    def compose(self) -> ComposeResult:
        parameter = self.field.parameter
        with Horizontal():
            yield Static(id="mark")
            yield Static(drawn(parameter.name), id="name", markup=False)
            if choices := choices_of(parameter):
                options = [(Text(drawn(choice)), choice) for choice in choices]
                yield Choice(options, value=self._chosen, allow_blank=False, compact=True)
            else:
                yield Input(self.field.text, placeholder=drawn(self.field.default), compact=True)
            yield Static(drawn(self._range), id="range", markup=False)
        yield Static(id="meaning", markup=False)
        yield Static(id="wrong", markup=False)

    def on_mount(self) -> None:
        self.show(self.field)

    def show(self, field: Field) -> None:
        self.field = field
        self._fill()
        self.set_class(field.error is not None, "-wrong")
        self.set_class(field.changed, "-changed")
        self.query_one("#mark", Static).update("●" if field.changed else " ")
        self.query_one("#meaning", Static).update(drawn(field.meaning))
        self.query_one("#wrong", Static).update(Content(drawn(field.error or "")))

    def _fill(self) -> None:
        """Put the value into the control unless it has it already: replacing it would move the cursor."""
        with self.prevent(Input.Changed, Choice.Changed):
            for text in self.query(Input):
                if text.value.strip() != self.field.text:
                    text.value = self.field.text
            for select in self.query(Choice):
                select.value = self._chosen

    @property
    def _chosen(self) -> str:
        return self.field.default if self.field.error else self.field.text or self.field.default

    @property
    def _range(self) -> str:
        parameter = self.field.parameter
        return f"default {self.field.default}" if choices_of(parameter) else parameter.range

    @on(Input.Changed)
    def _text_typed(self, event: Input.Changed) -> None:
        self._report_change(event, event.value.strip())

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted())

    @on(Choice.Changed)
    def _value_picked(self, event: Choice.Changed) -> None:
        self._report_change(event, str(event.value))

    def _report_change(self, event: Message, text: str) -> None:
        event.stop()
        if text not in (self.field.text, self.field.text or self.field.default):
            self.post_message(self.Changed(self.parameter, text))

    @on(Click, "#mark")
    def _reset(self) -> None:
        self.post_message(self.Changed(self.parameter, ""))


def choices_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the values that a list offers; empty if the parameter has no fixed values, so that the user types one."""
    return ("no", "yes") if parameter.kind is bool else parameter.choices
