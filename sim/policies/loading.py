"""Policies of somebody's own: out of a file, a revision of it in git, a module, or a plug-in that is installed.

Code runs here, and only because a person has named it. A file is read anew each time, with what it imports from beside
it; each content makes a module of its own, and the same content the same classes, so that a file may be changed and
loaded again while older runs go on.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sim.deadline import NoAnswerError, deadline
from sim.errors import NotThereError, SchedscopeError, near
from sim.policies.beside import Beside, beside
from sim.policies.orders import OWN, Order
from sim.policies.policy import CodeRef, Policy
from sim.prints import in_own_code
from sim.words import listed, printable, shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PLUGINS = "schedscope.policies"
"""The group of entry points under which packages bring policies along."""
PATIENCE = 10.0
"""Seconds for which a file may think about what it declares."""
MOST_BYTES = 2**22
_FILE = re.compile(r"(?P<source>[^:]*?\.py)(?:@(?P<revision>[^:]+))?(?::(?P<rest>.*))?", re.DOTALL)
_WORD = r"[^\W\d]\w*"
_MODULE = re.compile(rf"(?P<source>{_WORD}(?:\.{_WORD})+|{_WORD}(?=:[A-Z]\w*(?::|$)))(?::(?P<rest>.*))?", re.DOTALL)

_Made = TypeVar("_Made", type[Policy], type[Order])

_LOADED: dict[CodeRef, ModuleType] = {}
_NEWEST: dict[str, CodeRef] = {}
_is_refused = False
_IS_CLOSED: ContextVar[bool] = ContextVar("closed", default=False)
_PROVIDED: ContextVar[Mapping[str, bytes]] = ContextVar("provided", default=MappingProxyType({}))


class OwnCodeError(NotThereError):
    """Code of somebody's own that gives no policy: what is wrong, in which file and line."""

    def __init__(self, what: str, path: str, line: int = 0, source: str = "") -> None:
        self.what, self.path, self.line, self.source = what, path, line, source
        where = f"{path}:{line}" if line else path
        line_of_it = f": {shortened(source.strip(), 80)}" if source.strip() else ""
        super().__init__(printable(f"{where}: {what}{line_of_it}"))


class Named(NamedTuple):
    """Code that a person named, before any of it runs."""

    source: str
    """A file as it was typed, or a module."""
    revision: str
    is_file: bool
    cls: str
    """The name of the class, where it was given."""
    rest: str
    """`key=value,key=value`"""

    @property
    def head(self) -> str:
        """How it is written: from here on if it lies here, else by its whole path; so it is found again."""
        if not self.is_file:
            return self.source
        near = os.path.relpath(self.path)
        head = self.path if near.startswith(os.pardir) else os.path.join(os.curdir, near)
        return head + (f"@{self.revision}" if self.revision else "")

    @property
    def name(self) -> str:
        """As a `CodeRef` has it."""
        return os.path.abspath(self.head) if self.is_file else self.source

    @property
    def path(self) -> str:
        """Of the file, whatever revision of it is meant."""
        return _whole_path(self.source)


def named_code(spec: str) -> Named | None:
    """The code that a spec names; None: it names a policy that is there. Nothing runs."""
    spec = spec.strip()
    found = _FILE.fullmatch(spec) or _MODULE.fullmatch(spec)
    if found is None:
        return None
    of = found.groupdict()
    first, _, others = (of["rest"] or "").partition(":")
    if "=" in first or not first:
        first, others = "", of["rest"] or ""
    return Named(of["source"], of.get("revision") or "", found.re is _FILE, first.strip(), others.lstrip(":"))


def code_in(spec: str) -> list[Named]:
    """Return all the code that a spec names: its policy, and any parameter at any depth. Nothing runs.

    >>> [named.source for named in code_in("easy:order=evil:Foo,depth=2")]
    ['evil']
    >>> [named.source for named in code_in("adaptive:below=adaptive:above=./a.py+order=b.c")]
    ['./a.py', 'b.c']
    """
    values = re.split(r"[,=]|\+(?=\w+=)", spec)[1:]
    return [named for text in (spec, *values) if (named := named_code(text))]


def whole(spec: str) -> str:
    """A spec that means the same in every folder."""
    named = named_code(spec)
    if named is not None and named.is_file:
        spec = _whole_path(named.source) + spec.strip()[len(named.source) :]
    return _ORDER.sub(lambda found: found[1] + _whole_path(found[2]), spec)


_ORDER = re.compile(r"((?:^|[:,])\s*order=)([^,:]*?\.py)(?=[@:,]|$)")


def _whole_path(source: str) -> str:
    return os.path.abspath(os.path.expanduser(source))


def newest(name: str) -> CodeRef | None:
    """As the code of that name was when it was last loaded here; None if it was not."""
    return _NEWEST.get(name)


def changed(ref: CodeRef) -> bool | None:
    """Is the code another now? None: it is not there any more. Nothing runs."""
    named = named_code(ref.name)
    try:
        if named is None or not named.is_file:
            return _module_ref(ref.name).sha256 != ref.sha256
        if named.revision and not os.path.exists(f"{named.source}@{named.revision}"):
            return False  # git is not asked: the settings of a repository may name programs that it starts
        return _ref(named, *_read_all(named)) != ref
    except (SchedscopeError, ImportError, ValueError):
        return None


def refuse() -> None:
    """From now on no code of somebody's own runs in this process, whoever names it."""
    global _is_refused
    _is_refused = True


def is_refused() -> bool:
    """Does no code of somebody's own run?"""
    return _is_refused


@contextmanager
def closed() -> Iterator[None]:
    """Run no user-defined code within: what is parsed came from a file, and no person has agreed yet."""
    token = _IS_CLOSED.set(True)
    try:
        yield
    finally:
        _IS_CLOSED.reset(token)


def _heed_refusal(source: str) -> None:
    if _is_refused:
        raise OwnCodeError("no code of anybody's own runs here", source)
    if _IS_CLOSED.get():
        raise OwnCodeError("code runs only when a person has named it or agreed to it", source)


def load(named: Named) -> ModuleType:
    """The module that the code makes, as it is now."""
    _heed_refusal(named.source)
    if not named.is_file:
        with blamed(named.source, named.source), _beside(os.getcwd()):
            module = import_module(named.source)
        ref = _module_ref(named.source)
        _NEWEST[ref.name], _LOADED[ref] = ref, module
        _name(module, ref, named.head)
        return module
    data, others = _read_all(named)
    ref = _ref(named, data, others)
    if ref not in _LOADED:
        _LOADED[ref] = _module_of(data, others, ref, named)
    _NEWEST[ref.name] = ref
    return _LOADED[ref]


def contents_of(named: Named) -> dict[str, bytes]:
    """What a file of code says now, and what those say that it imports from beside it; by their names."""
    data, others = _read_all(named)
    return {named.name: data} | {named._replace(source=path).name: other for path, other in others.items()}


@contextmanager
def provided(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Meanwhile files of these names say this, whether they lie here or not."""
    token = _PROVIDED.set(contents)
    try:
        yield
    finally:
        _PROVIDED.reset(token)


def files_of_code(named: Named) -> tuple[str, ...]:
    """The file that is meant, and those that it imports from beside it. Nothing runs."""
    try:
        return named.path, *_read_all(named)[1]
    except OwnCodeError:
        return (named.path,)


def code_of(policy: Policy) -> dict[type[Policy] | type[Order], CodeRef]:
    """The code of a policy and of the order of its queue, of those that are somebody's own."""
    made = {module.__name__: ref for ref, module in _LOADED.items()}
    classes: tuple[type[Policy] | type[Order], ...] = (type(policy.queue_order()), type(policy))
    return {cls: made[cls.__module__] for cls in classes if cls.__module__ in made}


def own_policy(named: Named) -> type[Policy]:
    """The policy that is meant: the one that is named, or the only one there is."""
    return _one_of(_declared(load(named), Policy), named, "policy", "policies", "Policy")


def own_order(named: Named) -> type[Order]:
    """The order of the queue that is meant."""
    return _one_of(_declared(load(named), Order), named, "order of the queue", "orders of the queue", "Order")


def plugins() -> dict[str, EntryPoint]:
    """The policies that installed packages bring along, by name; none of them is loaded."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=PLUGINS)}


def plugin(name: str) -> type[Policy] | None:
    """The policy that an installed package has under this name."""
    if (point := plugins().get(name)) is None:
        return None
    _heed_refusal(point.value)
    with blamed(point.value, point.value):
        cls = point.load()
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        raise OwnCodeError(f"the plug-in {name} is expected to name a policy, got {cls!r:.60}", point.value)
    cls.name = name
    return cls


@contextmanager
def blamed(path: str, shown: str) -> Iterator[None]:
    """What somebody's own code raises within, or that it does not come back, is told in one line; `path` is `shown`."""
    try:
        with deadline(PATIENCE):
            yield
    except SyntaxError as error:
        file, line = error.filename or path, error.lineno or 0
        source, what = error.text or "", f"{type(error).__name__}: {error.msg}"
        raise OwnCodeError(what, shown if file == path else file, line, source) from None
    except (SchedscopeError, KeyboardInterrupt):
        raise
    except BaseException as error:
        file, line = _place(error) or (path, 0)
        what = f"{type(error).__name__}: {_text(error)}"
        if isinstance(error, NoAnswerError):
            what = f"stopped, it did not come back for {PATIENCE:.0f} s"
        source = linecache.getline(file, line) if line else ""
        raise OwnCodeError(what, shown if file == path else file, line, source) from error


_LIBRARIES = (str(Path(__file__).parents[1]), str(Path(os.__file__).parent), "<")


def _place(error: BaseException) -> tuple[str, int] | None:
    """(file, line) of somebody's own code where it was raised, the innermost."""
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    return next((place for place in reversed(places) if not place[0].startswith(_LIBRARIES)), None)


def _text(error: BaseException) -> str:
    try:
        return shortened(str(error), 300)
    except Exception:
        return "its text cannot be read"


# Reading


def _read_all(named: Named) -> tuple[bytes, dict[str, bytes]]:
    """The file, and what it imports from beside it, path by path."""
    data = _read(named)

    def read(path: str) -> bytes | None:
        other = named._replace(source=path)
        if named.name in (contents := _PROVIDED.get()):
            return contents.get(other.name)
        try:
            return _read(other) if named.revision or os.path.isfile(path) else None
        except OwnCodeError:
            return None

    return data, beside(named.path, data, read)


def _read(named: Named) -> bytes:
    if (content := _PROVIDED.get().get(named.name)) is not None:
        return content
    if named.revision and not os.path.exists(f"{named.source}@{named.revision}"):
        return _from_git(named)
    try:
        path = Path(named.name)
        if path.stat().st_size > MOST_BYTES or not path.is_file():
            raise OwnCodeError("is no file of Python that a person has written", named.head)
        return path.read_bytes()
    except FileNotFoundError:
        hint = f"one that runs is written by: schedscope new {named.source}"
        raise OwnCodeError(f"no such file; {hint}", named.head) from None
    except (OSError, ValueError) as error:
        raise OwnCodeError(f"cannot be read: {getattr(error, 'strerror', None) or error}", named.head) from None


def _from_git(named: Named) -> bytes:
    """The file as it was in that revision; nothing is checked out."""
    folder, file = os.path.split(named.path)
    if named.revision.startswith("-"):
        raise OwnCodeError(f"{shortened(named.revision)} is no revision", named.head)
    show = ["git", "-C", folder, "show", f"{named.revision}:./{file}"]
    try:
        shown = subprocess.run(show, capture_output=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise OwnCodeError(f"git cannot be asked for it: {error}", named.head) from None
    if shown.returncode:
        said = " ".join(shown.stderr.decode(errors="replace").split())
        raise OwnCodeError(f"git does not have it: {shortened(said, 200)}", named.head)
    return shown.stdout


def _ref(named: Named, data: bytes, others: Mapping[str, bytes]) -> CodeRef:
    """What tells this content of the file, and of what lies beside it, from all others."""
    folder = os.path.dirname(named.path)
    of_others = (f"\0{os.path.relpath(path, folder)}\0{_hash(other)}".encode() for path, other in others.items())
    return CodeRef(named.name, _hash(data + b"".join(of_others)))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Making modules


def _module_of(data: bytes, others: Mapping[str, bytes], ref: CodeRef, named: Named) -> ModuleType:
    """The module of a file; it stays among those that Python knows, for what asks for the module of a class."""
    name = f"{OWN}{_hash(ref.name.encode())[:8]}_{ref.sha256[:16]}"
    module = ModuleType(name)
    module.__file__ = ref.name
    vars(module).update(in_own_code(module.__name__))
    with blamed(ref.name, named.head):
        for path, other in others.items():
            _keep_lines(path, other.decode("utf-8-sig", "replace"))
        text = data.decode("utf-8-sig")
        _keep_lines(ref.name, text)
        sys.modules[name] = module
        try:
            folder = os.path.dirname(named.path)
            with _beside(folder), Beside(folder, others):
                exec(compile(text, ref.name, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    _name(module, ref, named.head)
    return module


def _keep_lines(path: str, text: str) -> None:
    """Lines are cited as they were read, whatever becomes of the file."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


@contextmanager
def _beside(folder: str) -> Iterator[None]:
    """Meanwhile what lies in that folder can be imported, after everything else."""
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _module_ref(name: str) -> CodeRef:
    """Return a module as its file is now; no package is imported to find it."""
    from importlib.machinery import PathFinder

    folders: list[str] | None = [*sys.path, os.getcwd()]
    for part in name.split("."):
        found = None if folders is None else PathFinder.find_spec(part, folders)
        if found is None:
            raise ImportError(name)
        folders = None if found.submodule_search_locations is None else [*found.submodule_search_locations]
    if found is None or not found.origin or not os.path.isfile(found.origin):
        raise ImportError(name)
    if os.path.getsize(found.origin) > MOST_BYTES:
        raise ImportError(f"{name} is no file of Python that a person has written")
    return CodeRef(name, _hash(Path(found.origin).read_bytes()))


def is_own_module(name: str) -> bool:
    """Is it one that was made here out of a file?"""
    return name.startswith(OWN)


def _declared(module: ModuleType, base: _Made) -> dict[str, _Made]:
    """The policies, or orders, that are a module's own; those that begin with _ are there for others of it."""
    is_file = is_own_module(module.__name__)
    return {
        name: cls
        for name, cls in vars(module).items()
        if isinstance(cls, type)
        and issubclass(cls, base)
        and (cls.__module__ == module.__name__ if is_file else not cls.__module__.startswith("sim."))
        and not name.startswith("_")
    }


def _name(module: ModuleType, ref: CodeRef, head: str) -> None:
    """Everything that it declares is called so that a person can ask for it."""
    policies, orders = _declared(module, Policy), _declared(module, Order)
    for name, cls in policies.items():
        is_enough = len(policies) == 1 and "." in head  # a word alone is no module
        cls.name, cls.code = head if is_enough else f"{head}:{name}", ref
    for name, order in orders.items():
        order.name = f"{head}:{name}"


def _one_of(found: dict[str, _Made], named: Named, one: str, many: str, base: str) -> _Made:
    if named.cls:
        if named.cls in found:
            return found[named.cls]
        raise OwnCodeError(f"no {one} {shortened(named.cls)!r} in it{near(named.cls, found)}", named.head)
    if not found:
        raise OwnCodeError(f"there is no {one} in it; one begins like: class Fair({base})", named.head)
    if len(found) > 1:
        which = f"say which, like {named.head}:{next(iter(found))}"
        raise OwnCodeError(f"there are {len(found)} {many} in it, {listed(found)}: {which}", named.head)
    return next(iter(found.values()))
