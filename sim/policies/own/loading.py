"""User-defined policies from a file, a revision of it in git, a module, or an installed plug-in.

Code runs only here, and only with the consent of the user (`consent`). A file is read each time, with what it imports
from its folder. Different contents make different modules, and the same content the same classes. So a file may be
changed and loaded again while older runs continue.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from stat import S_ISREG
from traceback import walk_tb
from types import MappingProxyType, ModuleType
from typing import NoReturn, TypeVar

from sim.policies.orders import OWN, Order
from sim.policies.own.consent import OwnCodeError, heed_consent, heed_content
from sim.policies.own.naming import Named, code_in, named_code, origin, plugins
from sim.policies.own.sibling_imports import (
    MOST_BYTES,
    SiblingImporter,
    TooLargeError,
    imported_files,
    local_sources,
    place_in,
)
from sim.policies.policy import CodeRef, Policy
from sim.support.captured_output import in_own_code, replaced, restored
from sim.support.deadline import NoAnswerError, deadline
from sim.support.errors import OUT_OF_MEMORY, SchedscopeError, near
from sim.support.formatting import listed, shortened

PATIENCE = 10.0
"""Longest time in seconds that loading a file may take"""
MOST_OF_MODULE = 2**22
"""Largest size in bytes of the file of a module; a larger file is refused"""
_Made = TypeVar("_Made", type[Policy], type[Order])

_LOADED: dict[CodeRef, ModuleType] = {}
_NEWEST: dict[str, CodeRef] = {}
_PROVIDED: ContextVar[Mapping[str, bytes]] = ContextVar("provided", default=MappingProxyType({}))


def newest(name: str) -> CodeRef | None:
    """Return the reference to the code that was last loaded under this name; None if the name is unknown."""
    return _NEWEST.get(name)


def changed(ref: CodeRef) -> bool | None:
    """Return True if the content of the code no longer has the hash of the reference, None if the code is missing. The
    code is not run.
    """
    named = named_code(ref.name)
    try:
        if named is None or not named.is_file:
            return _module_ref(ref.name).sha256 != ref.sha256
        if named.revision:
            return False  # git is not asked: a repository's settings may name programs that git starts
        return _ref(named, *_read_all(named)) != ref
    except TooLargeError:
        return True  # such a file is never loaded
    except (SchedscopeError, ImportError, ValueError):
        return None


def load(named: Named) -> ModuleType:
    """Return the module made from the current content of the code. Raise an `OwnCodeError` if the user has not agreed
    to run this code.
    """
    heed_consent(named)
    if not named.is_file:
        return _load_module(named)
    data, others = _read_all(named)
    ref = _ref(named, data, others)
    heed_content(*ref)
    if ref not in _LOADED:
        _LOADED[ref] = _module_of(data, others, ref, named)
    _NEWEST[ref.name] = ref
    return _LOADED[ref]


def _load_module(named: Named) -> ModuleType:
    """Return the module that `named` names: an installed module, or one of the current folder.

    A module of the current folder is made from the very content that was hashed.
    """
    heed_consent(named)
    name = named.source
    with blamed(name, name):
        sources = local_sources(name, _read_local)
        ref = _module_ref(name, sources)
        heed_content(*ref)
        _NEWEST[name] = ref
        if sources is None:
            _LOADED[ref] = import_module(name)
        elif ref not in _LOADED:
            with SiblingImporter(os.getcwd(), sources, is_kept=True):
                _LOADED[ref] = import_module(name)
    _name(_LOADED[ref], ref, named.head)
    return _LOADED[ref]


def _refuse_missing(name: str) -> NoReturn:
    """Raise the error for a module that is neither installed nor in the present folder."""
    if os.path.isfile(name):  # "fair.txt" reads as a module `txt` in a package `fair`
        raise OwnCodeError("no policy: the name of its file must end in .py", name)
    raise ModuleNotFoundError(f"No module named {name!r}")


def hash_now(name: str) -> str | None:
    """Return the hash of the code's current content: "" if it cannot be loaded, None if the hash is known only after
    running it.
    """
    named = named_code(name)
    try:
        if named is None or not named.is_file:
            return _module_ref(name).sha256
        return None if named.revision else _ref(named, *_read_all(named)).sha256
    except (SchedscopeError, ImportError, ValueError):
        return ""


def contents_of(named: Named) -> dict[str, bytes]:
    """Return a mapping from name to current content, for a code file and the files of its folder that it imports."""
    data, others = _read_all(named)
    return {named.name: data} | {named._replace(source=path).name: other for path, other in others.items()}


@contextmanager
def provided(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Use these contents, a mapping from name to content, in place of files while the context lasts; the files need not
    exist.
    """
    token = _PROVIDED.set(contents)
    try:
        yield
    finally:
        _PROVIDED.reset(token)


def files_of_code(named: Named) -> tuple[str, ...]:
    """Return the paths of the named file and of the files of its folder that it imports; no code is run."""
    try:
        return named.path, *_read_all(named)[1]
    except OwnCodeError:
        return (named.path,)


def code_of(policy: Policy) -> dict[type[Policy] | type[Order], CodeRef]:
    """Return a mapping from class to code reference, for those classes of a policy and its order that are
    user-defined.
    """
    made = {module.__name__: ref for ref, module in tuple(_LOADED.items())}  # at once: a thread may load another file
    classes: tuple[type[Policy] | type[Order], ...] = (type(policy.queue_order()), type(policy))
    return {cls: made[cls.__module__] for cls in classes if cls.__module__ in made}


def own_policy(named: Named) -> type[Policy]:
    """Return the policy class that a user named, or the only one in the file if no class was named."""
    return _one_of(_declared(load(named), Policy), named, "policy", "policies", "Policy")


def own_order(named: Named) -> type[Order]:
    """Return the class of an order of the queue that a user named, from user-defined code."""
    return _one_of(_declared(load(named), Order), named, "order of the queue", "orders of the queue", "Order")


def plugin(name: str) -> type[Policy] | None:
    """Return the policy class that an installed package provides under this name, or None."""
    if (point := plugins().get(name)) is None:
        return None
    heed_consent(code_in(name)[0])
    with blamed(point.value, point.value):
        ref = _module_ref(name)
        cls = point.load()
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        raise OwnCodeError(f"the plug-in {name} is expected to name a policy, got {cls!r:.60}", point.value)
    module = sys.modules[cls.__module__]
    vars(module).update(in_own_code(module.__name__))
    for word, order in _declared(module, Order).items():
        order.name = f"{module.__name__}:{word}"
    cls.name, cls.code = name, ref
    _NEWEST[name], _LOADED[ref] = ref, module
    return cls


@contextmanager
def blamed(path: str, shown: str) -> Iterator[None]:
    """Turn errors and timeouts of user-defined code in this context into an `OwnCodeError` of one line, with `path`
    written as `shown`.
    """
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
        file, line = _innermost_line(error) or (path, 0)
        what = f"{type(error).__name__}: {_text(error)}"
        if isinstance(error, MemoryError):
            what = f"MemoryError: {OUT_OF_MEMORY}"
        if isinstance(error, NoAnswerError):
            what = f"stopped, it did not come back for {PATIENCE:.0f} s"
        source = linecache.getline(file, line) if line else ""
        raise OwnCodeError(what, shown if file == path else file, line, source) from error


_LIBRARIES = (str(Path(__file__).parents[2]), str(Path(os.__file__).parent), "<")


def _innermost_line(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of the innermost call in user-defined code that the error passed through, or None."""
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    return next((place for place in reversed(places) if not place[0].startswith(_LIBRARIES)), None)


def _text(error: BaseException) -> str:
    try:
        return shortened(str(error), 300)
    except Exception:
        return "its text cannot be read"


# Reading


def _read_all(named: Named) -> tuple[bytes, dict[str, bytes]]:
    """Return the content of the file, and a mapping from path to content for its imports from the same folder."""
    data = _read(named)

    def read(path: str) -> bytes | None:
        other = named._replace(source=path)
        if named.name in (contents := _PROVIDED.get()):
            return contents.get(other.name)
        try:
            return _read(other) if named.revision or os.path.isfile(path) else None
        except TooLargeError:
            raise
        except OwnCodeError:
            return None

    return data, imported_files(named.path, data, read)


def _read(named: Named) -> bytes:
    """Return the content of the file. Raise `TooLargeError` if it is too large to be examined."""
    if (content := _PROVIDED.get().get(named.name)) is not None:
        return content
    if named.revision:
        return _not_too_large(_from_git(named), named)
    try:
        if (data := _source_in(named.name, MOST_BYTES)) is None:
            raise OwnCodeError("is no file of Python that a person has written", named.head)
        return _not_too_large(data, named)
    except FileNotFoundError:
        hint = f"one that runs is written by: schedscope new {named.source}"
        raise OwnCodeError(f"no such file; {hint}", named.head) from None
    except (OSError, ValueError) as error:
        raise OwnCodeError(f"cannot be read: {getattr(error, 'strerror', None) or error}", named.head) from None


def _not_too_large(data: bytes, named: Named) -> bytes:
    """Return `data` unchanged. Raise `TooLargeError` if it is too large to be examined."""
    if len(data) > MOST_BYTES:
        raise TooLargeError(f"more than {MOST_BYTES:,} bytes", named.head)
    return data


def _source_in(path: str, most: int) -> bytes | None:
    """Return at most `most` + 1 bytes of a regular file, so that the caller can detect a larger one.

    The result is None for other kinds of files, such as a pipe.
    """
    if not S_ISREG(os.stat(path).st_mode):  # opening a device may do something
        return None
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(most + 1)


def _from_git(named: Named) -> bytes:
    """Return the content of the file in the git revision that the user named. Git is run, but nothing is checked
    out.
    """
    heed_consent(named)
    folder, file = os.path.split(named.path)
    if named.revision.startswith("-"):
        raise OwnCodeError(f"{shortened(named.revision)} is no revision", named.head)
    # a blob alone: `show` would draw a commit in its place, with programs that the repository names
    safely = ["git", "--no-replace-objects", "-c", "core.fsmonitor=false", "-C", folder]
    show = [*safely, "cat-file", "blob", f"{named.revision}:./{file}"]
    alone = {**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}  # a remote may name programs to run
    try:
        shown = subprocess.run(
            show, capture_output=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL, env=alone
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise OwnCodeError(f"git cannot be asked for it: {error}", named.head) from None
    if shown.returncode:
        said = " ".join(shown.stderr.decode(errors="replace").split())
        raise OwnCodeError(f"git does not have it: {shortened(said, 200)}", named.head)
    return shown.stdout


def _ref(named: Named, data: bytes, others: Mapping[str, bytes]) -> CodeRef:
    """Return the reference to the file with one hash of its content `data` and its imports `others` (path to
    content).
    """
    folder = os.path.dirname(named.path)
    of_others = (f"\0{os.path.relpath(path, folder)}\0{_hash_of(other)}".encode() for path, other in others.items())
    return CodeRef(named.name, _hash_of(data + b"".join(of_others)))


# Making modules


def _module_of(data: bytes, others: Mapping[str, bytes], ref: CodeRef, named: Named) -> ModuleType:
    """Return the module made by running the code `data`, with its imports `others` (path to content). It is registered
    in `sys.modules`, where Python looks for the module of a class.
    """
    heed_consent(named)
    name = f"{OWN}{_hash_of(ref.name.encode())[:8]}_{ref.sha256[:16]}"
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
            with SiblingImporter(os.path.dirname(named.path), others):
                exec(compile(text, ref.name, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            _refuse_replaced_builtins(named)  # which may be why it failed
            raise
        try:
            _refuse_replaced_builtins(named)
        except OwnCodeError:
            del sys.modules[name]
            raise
    _name(module, ref, named.head)
    return module


def _refuse_replaced_builtins(named: Named) -> None:
    """Restore Python's built-in functions. Raise `OwnCodeError` if the code had replaced one of them."""
    if changed := restored():
        raise OwnCodeError(replaced(changed[0]), named.head)


def file_of_module(name: str) -> str:
    """Return the file from which a module would be imported; the package is not imported to find it."""
    from importlib.machinery import PathFinder

    sources = local_sources(name, _read_local)
    if sources is not None:
        return place_in(sources, os.getcwd(), name) or _refuse_missing(name)
    folders: list[str] | None = [*sys.path, os.getcwd()]
    for part in name.split("."):
        found = None if folders is None else PathFinder.find_spec(part, folders)
        if found is None:
            raise ImportError(name)
        folders = None if found.submodule_search_locations is None else [*found.submodule_search_locations]
    if found is None or not found.origin or not os.path.isfile(found.origin):
        raise ImportError(name)
    return found.origin


def files_beside_module(name: str) -> int:
    """Return the number of further files of the present folder that a module imports, without importing it."""
    return max(len(local_sources(name, _read_local) or ()) - 1, 0)


def _read_local(path: str) -> bytes | None:
    """Return the content of the Python file `path` if it is in the present folder, otherwise None."""
    try:
        return _read(Named(path, "", is_file=True, cls="", rest="")) if os.path.isfile(path) else None
    except TooLargeError:
        raise
    except OwnCodeError:
        return None


def _module_ref(name: str, sources: Mapping[str, bytes] | None = None) -> CodeRef:
    """Return the reference to a module or plug-in, with a hash of its current content. `sources` are the module's files
    (path to content) if they have been read already.

    For a module of the current folder, the hash covers all files that it imports from there. For a plug-in it covers
    the
    version of its package.
    """
    point = plugins().get(name)
    found = sources if sources is not None or point else local_sources(name, _read_local)
    if found:
        told = "".join(f"\0{os.path.relpath(path)}\0{_hash_of(data)}" for path, data in found.items())
        return CodeRef(name, _hash_of(told.encode() if len(found) > 1 else next(iter(found.values()))))
    if found is not None:
        _refuse_missing(name)
    file = file_of_module(point.module if point else name)
    data = _source_in(file, MOST_OF_MODULE)
    if data is None or len(data) > MOST_OF_MODULE:
        raise ImportError(f"{name} is no file of Python that a person has written")
    return CodeRef(name, _hash_of(data + (f"\0{origin(name)}".encode() if point else b"")))


def _declared(module: ModuleType, base: _Made) -> dict[str, _Made]:
    """Return a mapping from name to class, for the classes derived from `base` that the module defines; names with a
    leading _ are left out.
    """
    is_file = module.__name__.startswith(OWN)
    return {
        name: cls
        for name, cls in vars(module).items()
        if isinstance(cls, type)
        and issubclass(cls, base)
        and (cls.__module__ == module.__name__ if is_file else not cls.__module__.startswith("sim."))
        and not name.startswith("_")
    }


def _name(module: ModuleType, ref: CodeRef, head: str) -> None:
    """Give each policy and order of the module the name by which a user can ask for it.

    This is `head:Class`, or `head` alone for the only policy of a file or dotted module.
    """
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


def _hash_of(data: bytes) -> str:
    """Return the SHA-256 hash by which a content of a code file is identified."""
    return hashlib.sha256(data).hexdigest()


def _keep_lines(path: str, text: str) -> None:
    """Store the text of the code, for tracebacks and for `inspect`, so that they show the lines that run even if the
    file changes.
    """
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
