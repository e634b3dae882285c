"""Orders of the queue as classes of the compiled loop: the keys of `sim.policies.orders` over columns of jobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

COLUMNS = {
    "submit": "float(run.submit[{0}])", "estimate": "float(run.estimate[{0}])", "procs": "float(run.procs[{0}])",
    "queue": "float(cython.cast(OrderedLoop, run).queue_number[{0}])", "rank": "float({0})",
}  # fmt: skip
"""For each value of a job that a key may use: the value in the loop, with the job's rank in place of {0}"""
FROM_C = {"power": "pow", "_lasting": "pow", "log2": "log2", "log10": "log10", "isnan": "isnan", "fmod": "fmod"}
"""For each function that a key may call: the function of C with the same result"""
ALIKE = ("max", "min", "abs", "ratio", "whole")
"""Functions that are the same in both"""
NUMBERS = ("int", "float", "bool")
PARTS = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.If, ast.IfExp, ast.BinOp, ast.UnaryOp,
    ast.BoolOp, ast.Compare, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context,
    ast.boolop, ast.unaryop, ast.cmpop, ast.Add, ast.Sub, ast.Mult, ast.Div,
)  # fmt: skip
"""Parts of a text that mean the same in C, for numbers with a fraction; ** and // do not"""


def is_orders(file: ast.Module) -> bool:
    """Return True if the file defines the orders of the queue."""
    return any(each.name == "Order" for each in _classes(file))


def twins_of(file: ast.Module, module: str) -> list[ast.stmt]:
    """Return the compiled form of each order in the file. An order that asks for more than COLUMNS, the time, its own
    numbers and functions of C has none: it runs in the engine if its keys change with time.
    """
    classes, found = {each.name: each for each in _classes(file)}, list[ast.stmt]()
    for name, order in classes.items():
        if twin := _twin(name, [*_line(order, classes)]):
            found += [twin, *ast.parse(f"TWINS['{module}.{name}'] = {twin.name}").body]
    return found


def _classes(file: ast.Module) -> list[ast.ClassDef]:
    return [each for each in file.body if isinstance(each, ast.ClassDef)]


def _line(order: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    """Yield the class and its base classes, without the base of all orders."""
    while order.name != "Order":
        yield order
        order = classes[ast.unparse(order.bases[0])]


def _twin(name: str, line: Sequence[ast.ClassDef]) -> ast.ClassDef | None:
    """Return the compiled form of an order, None if it has none; `line` has its class and the base classes."""
    body = [each for cls in reversed(line) for each in cls.body]
    fields = {
        ast.unparse(each.target): ast.unparse(each.annotation) for each in body if isinstance(each, ast.AnnAssign)
    }
    numbers = {name: "bool" if said == "bool" else "float" for name, said in fields.items() if said in NUMBERS}
    methods = {each.name: deepcopy(each) for each in body if isinstance(each, ast.FunctionDef) and _is_plain(each)}
    methods.pop("number", None)  # the random number of a job, which the loop draws
    change = _Key({*numbers}, methods)
    for method in methods.values():
        change.visit(method)
    if not change.is_known or "key" not in methods:
        return None
    lines = [f"self.{name}: {of} = {'False' if of == 'bool' else '0.0'}" for name, of in numbers.items()]
    lines += [f"self.{column}: Times = times(0)" for column in change.kept]
    text = _method("__init__(self)", lines)
    lines = [f"self.{column} = times(jobs)" for column in change.kept]
    lines += ["for job in range(jobs):"] if lines else []
    lines += [f"    self.{column}[job] = {asked}" for column, asked in change.kept.items()]
    text += _method("prepare(self, run: Pass, jobs: int)", lines)
    text += "\n".join(ast.unparse(ast.fix_missing_locations(each)) for each in methods.values())
    made = ast.parse(f'@cython.cclass\nclass {name}Keys(Keys):\n    """Keys of {name}."""\n').body[0]
    assert isinstance(made, ast.ClassDef)
    made.body += ast.parse(text).body
    return made


def _method(head: str, lines: Sequence[str]) -> str:
    """Return the text of a method that returns nothing; "" if it has no lines."""
    return "\n".join([f"def {head} -> None:", *(f"    {each}" for each in lines), ""]) if lines else ""


def _is_plain(method: ast.FunctionDef) -> bool:
    """Return True if the method makes a number of a job or of numbers."""
    said = [*(each.annotation for each in method.args.args[1:]), method.returns]
    return all(each is not None and ast.unparse(each) in (*NUMBERS, "Job") for each in said)


class _Key(ast.NodeTransformer):
    """Change of a method: a job becomes its rank in the columns of `run`, and each number becomes one of C."""

    def __init__(self, numbers: set[str], methods: dict[str, ast.FunctionDef]) -> None:
        self._numbers, self._methods, self._names = numbers, methods, set[str]()
        self._of_jobs = {name for name, each in methods.items() if _job_in(each) is not None}
        self._job: str | None = None
        self.is_known = True
        """False if a method has a part without a compiled form"""
        self.kept: dict[str, str] = {}
        """For each column of results that never change while a job waits: the call that gives the result of `job`"""

    def visit(self, node: ast.AST) -> Any:
        self.is_known &= isinstance(node, PARTS)
        return super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._job = _job_in(node)
        stored = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        self._names = stored | {each.arg for each in node.args.args}
        node.body = [self.visit(each) for each in node.body if not isinstance(each, ast.Expr)]  # no docstring
        for each in node.args.args[1:]:
            each.annotation = ast.Name("int" if each.arg == self._job else "float")
        if self._job is not None:
            node.args.args.insert(1, ast.arg("run", ast.Name("Pass")))
        node.returns = ast.Name("float")
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        self.is_known &= node.id in self._names and node.id != self._job
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(ast.Name("self"), name) if name in self._numbers:
                return node
            case ast.Attribute(ast.Name(job), name) if job == self._job and name in COLUMNS:
                return ast.parse(COLUMNS[name].format(job), mode="eval").body
        self.is_known = False
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.is_known &= not node.keywords
        match node.func:
            case ast.Name(name) if name in FROM_C or name in ALIKE:
                return ast.Call(ast.Name(FROM_C.get(name, name)), [*map(self.visit, node.args)], [])
            case ast.Attribute(ast.Name("self"), "number"):
                return ast.parse(f"cython.cast(OrderedLoop, run)._number({self._job})", mode="eval").body
            case ast.Attribute(ast.Name("self"), name) if name in self._methods and name not in self._of_jobs:
                made = ast.Call(node.func, [*map(self.visit, node.args)], [])
                if self._job is None or not all(isinstance(each, ast.Attribute) for each in node.args):
                    return made
                asked = ast.unparse(made).replace(f"[{self._job}]", "[job]")
                column = next((each for each, known in self.kept.items() if known == asked), f"kept_{len(self.kept)}")
                self.kept[column] = asked
                return ast.parse(f"self.{column}[{self._job}]", mode="eval").body
        self.is_known = False
        return node


def _job_in(method: ast.FunctionDef) -> str | None:
    """Return the name of the argument that is a job."""
    said = {each.arg: each.annotation for each in method.args.args[1:]}
    return next((name for name, of in said.items() if of is not None and ast.unparse(of) == "Job"), None)
