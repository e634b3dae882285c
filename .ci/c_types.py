"""Write the files of `sim.kernel` as one module for Cython, with the types of C that their annotations stand for."""

from __future__ import annotations

import ast
import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TYPES = {
    "int": "cython.Py_ssize_t",
    "float": "cython.double",
    "bool": "cython.bint",
    "Word": "cython.ulonglong",
    "Times": "cython.double[::1]",
    "Numbers": "cython.int[::1]",
    "Longs": "cython.longlong[::1]",
    "Bytes": "cython.uchar[::1]",
    "Words": "cython.ulonglong[::1]",
}
"""Types in C of names in annotations; collections and classes of the module keep theirs, all else is an object"""
REPLACED = ("__future__", "sim.machine", "sim.machine.columns")
"""Modules of which the compiled text has its own versions: those of Cython and of arrays"""
FROM_C = ("ceil", "floor", "fmod", "isnan", "log2", "log10", "pow")
"""Functions of C"""
OWN_IN_C = """cdef extern from *:
    '''
    #ifdef _MSC_VER
    #include <intrin.h>
    static __forceinline Py_ssize_t lowest_bit(unsigned long long word) {
        unsigned long at;
        _BitScanForward64(&at, word);
        return at;
    }
    #else
    #define lowest_bit __builtin_ctzll
    #endif
    #define quotient(many, each) ((Py_ssize_t)((unsigned)(many) / (unsigned)(each)))
    '''
    Py_ssize_t lowest_bit(unsigned long long word) noexcept
    Py_ssize_t quotient(Py_ssize_t many, Py_ssize_t each) noexcept
"""
"""Functions that compilers have, for those of these names in `sim/machine/columns.py`, as Cython is to know them"""
NUMBERS = (TYPES["int"], TYPES["float"], TYPES["bool"])
OBJECTS = ("list", "tuple", "dict", "set", "object")
HELPERS = (
    "Steps", "Trials", "Sets", "Waiters", "Draft", "Rules", "Ranking", "PreemptiveRules", "FirstStarts",
    "Requests", "Runs", "NodeSets", "Nodes", "PlannedRows",
)  # fmt: skip
"""Classes of which Python calls only these methods; the public methods of all others are for Python"""
FROM_PYTHON = ("clear", "put", "told")
QUIET = ("abs", "len", "max", "min", "range", "float", "int", "lowest_bit", "quotient", *FROM_C)
"""Functions of Python that raise nothing where they are given finite numbers"""
Known = dict[str, str]
"""Types by name"""
Key = tuple[str, str]
"""First class that may have a method, empty for a function, and its name"""


def module_of(files: list[Path], users: list[Path]) -> str:
    """Return the text of one module made of these files, in this order. Python sees what the files `users` name."""
    twins = [runpy.run_path(str(Path(__file__).with_name(name))) for name in ("twins.py", "order_twins.py")]
    statements = [each for file in files for each in _statements(file, *twins)]
    module = [*filter(None, (_without_own(each, _defined(statements)) for each in statements))]
    module = [*{ast.unparse(each): each for each in module}.values()]  # forms that several policies name
    types = Types(module, *_seen(users))
    return ast.unparse(ast.fix_missing_locations(ast.Module([types.of_statement(each) for each in module], [])))


def _statements(file: Path, policies: dict[str, Any], orders: dict[str, Any]) -> list[ast.stmt]:
    """Return what stands in a file, or the compiled form of the policies or orders in it; these files of functions make
    it.
    """
    text = ast.parse(file.read_text(encoding="utf-8"))
    if not (policies["is_policy"](text) or orders["is_orders"](text)):
        return text.body
    sim = next(folder for folder in file.parents if folder.name == "sim")
    name = ".".join(file.relative_to(sim.parent).with_suffix("").parts)
    found: list[ast.stmt]
    if orders["is_orders"](text):
        found = orders["twins_of"](text, name)
        return found
    reasons = ast.parse(
        "".join((sim / "decisions" / f"{each}.py").read_text("utf-8") for each in ("reasons", "reasons_in_rows"))
    )
    found = policies["twin_of"](text, name, reasons)
    return found


def _defined(statements: list[ast.stmt]) -> set[str]:
    """Return the names of all functions, classes and constants."""
    named = {each.name for each in statements if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    return named | {constant[0] for constant in map(_constant, statements) if constant} | {*FROM_C}


def _without_own(statement: ast.stmt, defined: set[str]) -> ast.stmt | None:
    """Return an import without the names that the module itself defines, or None if it has no others."""
    if not isinstance(statement, ast.ImportFrom):
        return statement
    others = [] if statement.module in REPLACED else [each for each in statement.names if each.name not in defined]
    return ast.ImportFrom(statement.module, others, 0) if others else None


class Types:
    """The types in C of all that a module names."""

    def __init__(self, module: list[ast.stmt], public: set[str], changed: set[str]) -> None:
        """Find the types in `module`; Python names what is `public`, and may set the attributes `changed` of it."""
        self._public, self._changed = public, changed
        classes = [each for each in module if isinstance(each, ast.ClassDef)]
        functions = [each for each in module if isinstance(each, ast.FunctionDef)]
        self._names = TYPES | {name: name for name in (*OBJECTS, *(each.name for each in classes))}
        self._results = {each.name: self._said(each.returns) for each in functions} | {"len": TYPES["int"]}
        self._constants: Known = {}
        for name, value, said in filter(None, map(_constant, module)):
            self._constants[name] = self._said(said) or self._found(value, {}) or "object"
        self._bases = {each.name: [*map(ast.unparse, each.bases)] for each in classes}
        self._attributes: dict[str, Known] = {}
        for each in classes:
            self._attributes[each.name] = self._attributes_of(each)
        self._raising = self._find_raising(functions, classes)
        self._made = Counter((self._family(each.name), method.name) for each in classes for method in _methods(each))

    def of_statement(self, statement: ast.stmt) -> ast.stmt:
        """Return a statement of the module as Cython is to have it."""
        if constant := _constant(statement):
            name, value, _ = constant
            return ast.parse(f"{name} = cython.declare({self._constants[name]}, {ast.unparse(value)})").body[0]
        if isinstance(statement, ast.FunctionDef):
            self._type_function(statement, {}, "cfunc", ("", statement.name))
        elif isinstance(statement, ast.ClassDef):
            self._type_class(statement)
        return statement

    def _type_class(self, cls: ast.ClassDef) -> None:
        """Declare the attributes that no class before has, and type the methods."""
        known, inherited = self._attributes[cls.name], self._inherited(cls)
        for method in _methods(cls):
            is_helper = self._line_of(cls.name) & {*HELPERS}
            is_for_python = method.name in (FROM_PYTHON if is_helper else self._public)
            key = self._family(cls.name), method.name
            self._type_function(method, known, "ccall" if is_for_python else "cfunc", key)
        named = known.keys() if "Rules" in self._line_of(cls.name) else self._public  # the fields of a policy
        changed = named if "Rules" in self._line_of(cls.name) else self._changed
        seen = {name: f", visibility='{'public' if name in changed else 'readonly'}'" for name in named}
        declared = [f"{name} = cython.declare({of}{seen.get(name, '')})" for name, of in known.items()]
        if all(cls.name not in bases for bases in self._bases.values()):
            cls.decorator_list.insert(0, _expression("cython.final"))  # its methods are called directly, and inlined
        cls.body[1:1] = ast.parse("\n".join(declared[len(inherited) :])).body

    def _type_function(self, function: ast.FunctionDef, attributes: Known, kind: str, key: Key) -> None:
        """Type arguments, result and truths: Cython finds all other types of local variables itself."""
        types = {arg.arg: said for arg in function.args.args if (said := self._said(arg.annotation))}
        types |= dict.fromkeys(self._truths(function, attributes), TYPES["bool"])
        for arg in function.args.args:
            arg.annotation = None  # an annotation would forbid None
        for node in ast.walk(function):
            if isinstance(node, ast.AnnAssign):
                node.annotation = _expression(self._said(node.annotation) or "object")
        PlainAttributes().visit(function)
        decorators = [f"cython.locals({', '.join(f'{name}={of}' for name, of in types.items())})"] if types else []
        if function.name.startswith("__"):
            function.returns = None
        else:
            said, nothing = function.returns, isinstance(function.returns, ast.Constant)
            function.returns = _expression("cython.void" if nothing else self._said(function.returns) or "object")
            decorators.append(f"cython.{kind}")
            if kind == "cfunc" and self._made[key] == 1:
                decorators.append("cython.final")  # called directly, and inlined
            if key not in self._raising:
                decorators.append("cython.exceptval(check=False)")
            elif self._said(said) in NUMBERS:  # only -1 is checked for an error
                decorators.append("cython.exceptval(-1, check=True)")
        function.decorator_list += map(_expression, decorators)

    def _find_raising(self, functions: list[ast.FunctionDef], classes: list[ast.ClassDef]) -> set[Key]:
        """Return the functions that may raise: whatever handles objects, and whatever calls those. A method and those
        that override it are one.
        """
        all_of = [("", each) for each in functions] + [(cls.name, each) for cls in classes for each in _methods(cls)]
        known = {(self._family(cls), each.name) for cls, each in all_of}
        calls, raising = {key: set[Key]() for key in known}, set[Key]()
        for cls, function in all_of:
            key, variables = (self._family(cls), function.name), self._variables(cls, function)
            said = [function.returns, *(arg.annotation for arg in function.args.args[1:])]
            types = [self._said(each) for each in said if not isinstance(each, ast.Constant)]
            asked = [each for each in ast.walk(function) if isinstance(each, ast.Attribute)]
            called = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
            calls[key] |= (them := {one for each in called for one in self._meant(each, variables, known)})
            makes_objects = any(isinstance(node, ast.List | ast.ListComp | ast.Raise) for node in ast.walk(function))
            makes_objects |= self._said(function.returns) in self._attributes
            handles_objects = any(self._of(each, variables) in OBJECTS for each in asked if each not in called)
            if handles_objects or {None, *OBJECTS} & {*types} or them - known or makes_objects:
                raising.add(key)
        while more := {key for key, called in calls.items() if called & raising} - raising:
            raising |= more
        return raising

    def _meant(self, called: ast.expr, variables: Known, known: set[Key]) -> set[Key]:
        """Return which functions may be called, or an unknown one."""
        if not isinstance(called, ast.Attribute):
            name = ast.unparse(called)
            return set() if name in QUIET else {("", name)}
        owner = ast.unparse(called.value)
        if owner == "cython":  # a cast
            return set()
        of = owner if owner in self._attributes else self._of(called.value, variables)
        if of in self._attributes:
            return {(self._family(of), called.attr)}
        return {key for key in known if key[1] == called.attr} or {("?", called.attr)}

    def _of(self, value: ast.expr, variables: Known) -> str | None:
        """Return the type of a variable or attribute; that of an attribute of an unknown owner is an object where one
        class has such an object.
        """
        match value:
            case ast.Name(name):
                return variables.get(name)
            case ast.Call(ast.Attribute(ast.Name("cython"), "cast"), [ast.Name(name), _]):
                return name
            case ast.Attribute(owner, name):
                if (of := self._of(owner, variables)) in self._attributes:
                    return self._attributes[of].get(name)
                found = {known[name] for known in self._attributes.values() if name in known}
                return found.pop() if len(found) == 1 else next((each for each in OBJECTS if each in found), None)
        return None

    def _variables(self, cls: str, function: ast.FunctionDef) -> Known:
        """Return the types of the arguments, and of the variables that are objects of a class of the module."""
        variables = {arg.arg: said for arg in function.args.args if (said := self._said(arg.annotation))}
        if cls and function.args.args:
            variables[function.args.args[0].arg] = cls
        for target, value, said in _assignments(function):
            if isinstance(target, ast.Name) and (of := self._said(said) or self._of(value, variables)):
                variables.setdefault(target.id, of)
        return variables

    def _family(self, cls: str) -> str:
        """Return the oldest base class of `cls`, or `cls` if it has none."""
        while any(base in self._bases for base in self._bases.get(cls, [])):
            cls = next(base for base in self._bases[cls] if base in self._bases)
        return cls

    def _line_of(self, name: str) -> set[str]:
        """Return the names of a class and of all classes before it."""
        return {name}.union(*(self._line_of(base) for base in self._bases.get(name, [])))

    def _inherited(self, cls: ast.ClassDef) -> Known:
        bases = [self._attributes.get(base.id, {}) for base in cls.bases if isinstance(base, ast.Name)]
        return {name: of for base in bases for name, of in base.items()}

    def _attributes_of(self, cls: ast.ClassDef) -> Known:
        """Return the types of all that its methods, and those of the classes before, set."""
        known, untyped = self._inherited(cls), set[str]()
        for method in _methods(cls):
            names = self._names_in(method, known)
            for target, value, said in _assignments(method):
                of = self._said(said) or ("object" if said else self._found(value, names))
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, of or "object")
                elif isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    if of:
                        known.setdefault(target.attr, of)
                    else:
                        untyped.add(target.attr)
        if unknown := untyped - known.keys():
            raise TypeError(f"{cls.name}: no type is known of {', '.join(sorted(unknown))}")
        return known

    def _truths(self, function: ast.FunctionDef, attributes: Known) -> list[str]:
        """Return the local variables that are only true or false."""
        names, found = self._names_in(function, attributes), dict[str, set[str | None]]()
        for target, value, said in _assignments(function):
            if isinstance(target, ast.Name):
                of = self._said(said) if said else self._found(value, names)
                found.setdefault(target.id, set()).add(of)
                names.setdefault(target.id, of or "object")
        return [name for name, types in found.items() if types == {TYPES["bool"]}]

    def _names_in(self, function: ast.FunctionDef, attributes: Known) -> Known:
        """Return the types of its arguments, and of the attributes of its class."""
        arguments = {arg.arg: self._said(arg.annotation) or "object" for arg in function.args.args}
        return arguments | {f"self.{name}": of for name, of in attributes.items()}

    def _found(self, value: ast.expr, names: Known) -> str | None:
        """Return the type of a value, or None if it does not tell."""
        match value:
            case ast.Constant(bool()) | ast.Compare() | ast.UnaryOp(ast.Not()):
                return TYPES["bool"]
            case ast.Constant(int() | float() as number):
                return TYPES[type(number).__name__]
            case ast.List() | ast.ListComp():
                return "list"
            case ast.UnaryOp(_, operand):
                return self._found(operand, names)
            case ast.BoolOp(values=values):
                found = {self._found(each, names) for each in values}
                return found.pop() if len(found) == 1 else None
            case ast.BinOp(left, operator, right):
                found = {self._found(left, names), self._found(right, names)}
                if isinstance(operator, ast.Div) or found == {TYPES["int"], TYPES["float"]}:
                    return TYPES["float"]
                return found.pop() if len(found) == 1 else None
            case ast.Name() | ast.Attribute():
                name = ast.unparse(value)
                return names.get(name) or self._constants.get(name)
            case ast.Call(ast.Name(name)):
                return self._results.get(name) or self._names.get(name)
        return None

    def _said(self, annotation: ast.expr | None) -> str | None:
        """Return the type that an annotation stands for, or None if that is an object."""
        of = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        return self._names.get(of.id) if isinstance(of, ast.Name) else None


class PlainAttributes(ast.NodeTransformer):
    """Take annotations from attributes, which the class declares, and drop what is an annotation alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        if isinstance(node.target, ast.Attribute):
            return ast.Assign([node.target], node.value) if node.value else None
        return node


def _constant(statement: ast.stmt) -> tuple[str, ast.expr, ast.expr | None] | None:
    """Return the name of a constant in capitals, its value, and its annotation."""
    match statement:
        case ast.Assign(targets=[ast.Name(name)], value=value) if name.isupper():
            return name, value, None
        case ast.AnnAssign(target=ast.Name(name), annotation=said, value=ast.expr() as value) if name.isupper():
            return name, value, said
    return None


def _seen(files: list[Path]) -> tuple[set[str], set[str]]:
    """Return the names of all attributes and fields in these files, and the names of attributes that may be set there.
    Strings may name attributes too.
    """
    named, changed = set[str](), set[str]()
    for node in (each for file in files for each in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        match node:
            case ast.Attribute(_, name, ast.Load()):
                named.add(name)
            case ast.Attribute(_, name) | ast.Constant(str() as name) | ast.AnnAssign(ast.Name(name)):
                changed.add(name)
    return named | changed, changed


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [each for each in cls.body if isinstance(each, ast.FunctionDef)]


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | None]]:
    """Yield what a function assigns: a target, its value, None if that is not known, and its annotation."""
    unknown = ast.Constant(None)
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign):
            yield node.target, node.value or unknown, node.annotation
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple):
                    values = node.value.elts if isinstance(node.value, ast.Tuple) else [unknown] * len(target.elts)
                    yield from ((one, value, None) for one, value in zip(target.elts, values, strict=True))
                else:
                    yield target, node.value, None


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
