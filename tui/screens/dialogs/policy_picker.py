"""Dialog to choose a policy from a list and set its parameters, or to type its spec."""

from __future__ import annotations

import os
from asyncio import Lock
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, takewhile
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, get_current_worker

from sim.policies import POLICIES, Policy, parse_policy
from sim.policies.own.consent import Proof, is_refused
from sim.policies.own.naming import code_in, named_code
from sim.policies.parameters import Parameter, paragraphs
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import shortened
from tui.look.sheets import Line, Span, line, wrapped
from tui.look.text import cells, drawn
from tui.screens.dialogs.dialog import Dialog, Page
from tui.screens.dialogs.policy_form import OPEN, Field, Form, PolicyEntry, did_you_mean, error_of, listed, short_names
from tui.screens.dialogs.trace_choices import completed, is_path
from tui.widgets.options import Choice, Options, is_listed


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


ENTER_READS = "enter loads the file and runs its code"


class PolicyPicker(Dialog[Policy | None]):
    """Dialog that answers with a policy; list, fields and spec always show the same choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(False)", "Policy above"),
        Binding("down", "move(True)", "Policy below"),
        Binding("ctrl+r", "reset", "Default values"),
        Binding("tab", "complete", "Complete the path", priority=True),
    ]

    class Read(Message):
        """Message that a thread has read user-defined code: the policy, or an error as text."""

        def __init__(self, thread: Worker[None], found: Policy | str) -> None:
            super().__init__()
            self.thread, self.found = thread, found

    def __init__(self, current: Policy, verb: str = "Use", title: str = "Which policy?") -> None:
        super().__init__()
        self._verb, self._title = verb, title
        self._form = Form.of(current)
        self._kept = {self._form.policy: self._form}
        self._listed: list[PolicyEntry] = []
        self._one_at_a_time = Lock()
        """Lock that is held while fields are replaced, because several keys may arrive at once."""
        self._wrong: str | None = None
        """Error of the typed spec, or a message about reading a file; None if neither is to be shown."""
        self._awaited: Worker[None] | None = None
        """Thread whose result is awaited; None before the first, and after the user has chosen something else."""
        self._file: PolicyEntry | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(drawn(self._title))
            dialog.border_subtitle = "↑ ↓ policy   tab fields   ctrl+r defaults   esc close"
            with Horizontal(id="halves"):
                with Vertical(id="left"):
                    hint = "find a policy" if is_refused() else "find a policy, or ./file.py"
                    yield Input(placeholder=hint, select_on_focus=False, compact=True, id="find")
                    yield Options(id="policies", compact=True)
                    yield Page(_shortcuts, id="short")
                with VerticalScroll(id="right", can_focus=False):
                    yield Page(id="about")
                    yield Vertical(id="fields")
                    yield Page(id="more")
            with Horizontal(id="bottom"):
                yield Input(compact=True, id="spec")
                if not is_refused():
                    yield Button("Open a file ...", id="file", compact=True)
                yield Button("Defaults", id="defaults", compact=True)
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(Content(self._verb), id="use", variant="primary", compact=True)
            yield Static(id="wrong", markup=False)

    async def on_mount(self) -> None:
        self.query_one("#policies", OptionList).can_focus = False
        self._list("")
        await self._show()

    def on_resize(self) -> None:
        self._list(self.query_one("#find", Input).value)
        self._highlight()

    # The list

    def _list(self, typed: str) -> None:
        self._listed = listed(typed, [name for name in self._kept if name not in (*POLICIES, *POLICIES.aliases)])
        policies = self.query_one("#policies", OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            policies.clear_options()
            policies.add_options(
                [Option(_prompt(each, self.is_wide), disabled=each.kind == "family") for each in self._listed]
            )

    @on(Input.Changed, "#find")
    async def _find(self, event: Input.Changed) -> None:
        self._list(event.value)
        self._file = None
        self._leave_out_reading()
        if event.value.strip() and self._listed:
            await self._choose(self._listed[0])
        self._highlight()
        self._show_wrong()

    @on(OptionList.OptionHighlighted, "#policies")
    async def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if is_listed(event):
            await self._choose(self._listed[event.option_index])

    async def _choose(self, entry: PolicyEntry) -> None:
        """Choose an entry: a policy as it was filled in before, a short name, or a file, not read yet."""
        self._leave_out_reading()
        self._file = entry if entry.kind != "policy" else None
        if self._file is not None:
            self.query_one("#about", Page).show(partial(_about_file, entry))
            self._show_policy(shown=False)
            self._show_wrong()
        elif entry.title in POLICIES.aliases:
            await self._use_form(Form.of_spec(entry.title))
        elif entry.title != self._form.policy:
            await self._use_form(self._kept.get(entry.title, Form(entry.title)))

    def _show_policy(self, shown: bool) -> None:
        for name in ("#fields", "#more"):
            self.query_one(name).display = shown

    def _highlight(self) -> None:
        policies = self.query_one("#policies", OptionList)
        here = policies.highlighted
        wanted = self._form.policy if self._file is None else self._file.policy
        fitting = [at for at, entry in enumerate(self._listed) if wanted == entry.policy]
        if here not in fitting:
            with self.prevent(OptionList.OptionHighlighted):
                policies.highlighted = fitting[0] if fitting else None

    def _forget_search(self) -> None:
        find = self.query_one("#find", Input)
        with self.prevent(Input.Changed):
            find.value = ""
        self._list("")

    def action_move(self, down: bool) -> None:
        """Move to the policy below or above or, without the focus on the search, between the fields."""
        policies = self.query_one("#policies", OptionList)
        if not self.query_one("#find").has_focus:
            (self.focus_next if down else self.focus_previous)(Input)
        elif down:
            policies.action_cursor_down()
        else:
            policies.action_cursor_up()

    async def action_alias(self, alias: str) -> None:
        await self._use_form(Form.of_spec(alias))

    # The form

    async def _use_form(self, form: Form) -> None:
        self._form = self._kept[form.policy] = form
        self._wrong = self._file = self._awaited = None
        if all(form.policy != entry.policy for entry in self._listed):
            self._forget_search()
        await self._show()

    async def _show(self) -> None:
        """Show the form in all parts of the dialog; the text of the spec is left alone while the user types in it."""
        await self._show_fields()
        self._show_policy(shown=True)
        cls = POLICIES[self._form.policy]
        first, *others = paragraphs(cls)
        self.query_one("#about", Page).show(partial(_about_policy, self._form.policy, cls.paper, first))
        self.query_one("#more", Page).show(partial(_further_paragraphs, others))
        spec = self.query_one("#spec", Input)
        if not spec.has_focus:
            with self.prevent(Input.Changed):
                spec.value = self._form.spec
        self._highlight()
        self._show_wrong()

    async def _show_fields(self) -> None:
        async with self._one_at_a_time:
            if self not in self.app.screen_stack:  # it has closed meanwhile
                return
            await self._fill(self.query_one("#fields", Vertical), self._form.fields)

    async def _fill(self, holder: Vertical, wanted: Sequence[Field]) -> None:
        there = list(holder.query(ParameterField))
        pairs = takewhile(lambda pair: pair[0].field.parameter == pair[1].parameter, zip(there, wanted, strict=False))
        kept = 0
        for child, field in pairs:
            child.show(field)
            kept += 1
        await holder.remove_children(there[kept:])
        await holder.mount_all(map(ParameterField, wanted[kept:]))

    def _show_wrong(self) -> None:
        wrong = self._wrong or (None if any(field.error for field in self._form.fields) else self._form.error)
        typed = self.query_one("#find", Input).value
        if named_code(typed) or is_path(typed):
            wrong = self._wrong or (
                ENTER_READS if self._reads else "" if self._listed else f"no policy matches {shortened(typed)}"
            )
        elif not self._listed:
            wrong = (error_of(typed) or "Enter uses it") if ":" in typed else did_you_mean(typed)
        elif self._is_unread:
            wrong = self._wrong or ENTER_READS
        self.query_one("#wrong", Static).update(Content(drawn(wrong or "")))
        self.query_one("#use", Button).disabled = not (self._can_be_used or self._is_unread)

    @property
    def _reads(self) -> str | None:
        typed = self.query_one("#find", Input).value.strip()
        if is_refused():
            return None
        if (named := named_code(typed)) and (not named.is_file or os.path.isfile(named.name)):
            return typed
        return self._file.spec if self._file and self._file.kind in ("file", "package") else None

    @property
    def _is_unread(self) -> bool:
        return not is_refused() and self._form.error is not None and bool(code_in(self._form.spec))

    @property
    def _can_be_used(self) -> bool:
        if self._file is not None:
            return True
        return not self._wrong and not self._form.error and bool(self._listed)

    @on(ParameterField.Changed)
    async def _filled_in(self, event: ParameterField.Changed) -> None:
        await self._use_form(self._form.with_text(event.name, event.text))

    @on(Input.Changed, "#spec")
    async def _spec_typed(self, event: Input.Changed) -> None:
        self._leave_out_reading()
        if code_in(event.value):
            self._wrong = ENTER_READS
            self._show_wrong()
            return
        try:
            form = Form.of_spec(event.value)
        except ParameterError as error:
            self._wrong = str(error)
            self._show_wrong()
        else:
            await self._use_form(form)

    @on(Button.Pressed, "#defaults")
    async def action_reset(self) -> None:
        await self._use_form(Form(self._form.policy))

    # The answer

    @on(Input.Submitted)
    @on(ParameterField.Submitted)
    @on(Button.Pressed, "#use")
    def _answer(self) -> None:
        typed, given = (self.query_one(name, Input).value.strip() for name in ("#find", "#spec"))
        if given != self._form.spec and code_in(given):
            self._read(given)
        elif spec := self._reads:
            self._read(spec)
        elif self._file is not None:
            self._type(self._file.spec)
        elif ":" in typed and error_of(typed) is None:  # a whole spec was typed into the search
            self.dismiss(parse_policy(typed))
        elif self._is_unread:
            self._read(self._form.spec)
        elif self._can_be_used:
            self.dismiss(parse_policy(self._form.spec))

    # User's policy files

    def _type(self, text: str) -> None:
        find = self.query_one("#find", Input)
        find.value = text
        find.cursor_position = len(text)
        find.focus()

    @on(Button.Pressed, "#file")
    def _open_file(self) -> None:
        self._type(OPEN.spec)

    def action_complete(self) -> None:
        """Complete the typed path or else take the highlighted entry; outside of the search go on a field."""
        find = self.query_one("#find", Input)
        if not find.has_focus or is_refused() or not (is_path(find.value) or self._file):
            self.focus_next()
            return
        further = completed(find.value, ".py") if is_path(find.value) else find.value
        self._type(self._file.spec if further == find.value and self._file else further)

    def _read(self, spec: str) -> None:
        self._show_error(f"reading {spec} ...")
        self._awaited = self._read_in_thread(spec)

    @work(thread=True, exclusive=True, group="reading")
    def _read_in_thread(self, spec: str) -> None:
        try:
            found: Policy | str = parse_policy(spec, Proof.TYPED)
        except SchedscopeError as error:
            found = str(error)
        self.post_message(self.Read(get_current_worker(), found))

    def _leave_out_reading(self) -> None:
        if self._awaited is not None:
            self._awaited = self._wrong = None

    def _show_error(self, what: str) -> None:
        self._wrong = what
        self._show_wrong()

    @on(Read)
    async def _show_read(self, event: Read) -> None:
        """Show the fields of a policy whose file has been read, or the error, unless the user has gone on meanwhile."""
        if event.thread is not self._awaited:
            return
        self._awaited = None
        if isinstance(event.found, str):
            self._show_error(event.found)
            return
        self._kept[event.found.name] = form = Form.of(event.found)
        self._forget_search()
        find, spec = self.query_one("#find", Input), self.query_one("#spec", Input)
        find.focus()
        with self.prevent(Input.Changed):
            spec.value = form.spec
        await self._use_form(form)

    @on(Button.Pressed, "#cancel")
    def _cancel(self) -> None:
        self.dismiss(None)


# Drawing


def _prompt(entry: PolicyEntry, with_what: bool) -> Content:
    if entry.kind == "family":
        return Content.styled(drawn(entry.title), "$text-accent")
    if not with_what:
        return Content.styled(f"  {drawn(entry.title)}", "bold")
    short = drawn(" ".join(short_names(entry.title)))
    return Content.assemble((drawn(entry.title), "bold"), (f"  {short}\n{drawn(entry.what)}", "$text-second"))


def _about_policy(name: str, paper: str, first: str, width: int) -> Iterator[Line]:
    if cells(name) + 2 + cells(paper) <= width:
        yield line(Span(name, "accent"), "  ", Span(paper, "dim"))
    else:
        yield line(Span(name, "accent"))
        yield from wrapped(paper, width, "dim")
    yield line("")
    yield from wrapped(first, width)
    yield line("")


def _about_file(entry: PolicyEntry, width: int) -> Iterator[Line]:
    told = {
        "file": "Enter runs the file's code and shows the policy with its parameters.",
        "package": f"{entry.what} Enter runs the package's code and shows the policy with its parameters.",
        "folder": "A folder: enter looks into it.",
        "files": "Your own policy from a file: press enter and type the path; tab completes it.",
    }
    yield line(Span(entry.spec if entry.kind in ("file", "package") else entry.title, "accent"))
    yield line("")
    yield from wrapped(told[entry.kind], width)
    yield line("")


def _further_paragraphs(others: list[str], width: int) -> Iterator[Line]:
    for paragraph in others:
        yield from wrapped(paragraph, width, "dim")
        yield line("")


def _shortcuts(width: int) -> Iterator[Line]:
    yield line(Span("short names in papers:", "dim"))
    for row in wrapped(" ".join(POLICIES.aliases), width):
        links = [(Span(" "), Span(alias, "dim", f"alias({alias!r})")) for alias in row.text.split()]
        yield line(*list(chain.from_iterable(links))[1:])
