"""Policies as classes of the compiled loop: the calls of a file of `sim.policies` with numbers for jobs and reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

CALLS = {
    "draft": "_new_draft", "shadow": "_cast_shadow", "start": "_start_job", "reserve": "_plan_job",
    "compress": "_compress_by", "has_room": "_has_room_for", "begin": "_begin_job",
}  # fmt: skip
"""Names of calls that differ in `sim.kernel.calls`; all others get an underscore"""
QUESTIONS = {"time": "now", "procs": "size"}
"""Names of values of the pass that differ there"""
OF_A_JOB = {
    "procs": "procs", "estimate": "estimate", "submit": "submit", "since": "since",
    "ran_before": "ran_before", "end": "l_end", "recorded_start": "recorded",
}  # fmt: skip
"""Columns of the pass with values of jobs, and of running jobs"""
UNKNOWN = ("recorded_start",)
"""Values of jobs that may be None, which is nan in a column"""
ITSELF = ("rank", "job")
"""Attributes that are left out in the compiled text, because a job is its rank there"""
SAID = {"Job": "int", "RunningJob": "int", "Job | None": "int", "float | None": "float"}
"""For each type of the source: the type that replaces it in the compiled text, where None is a negative number"""
HELPERS = {"pivots": "Pivots", "plans": "RowPlans", "ranked": "RankedRows"}
"""Local names of objects that a policy asks besides the pass, and their types; in the compiled text it asks the pass"""
FOUND = {"shadow": ("shadow", "extra"), "book": ("planned_at", "planned_in_row")}
"""For each call that returns two values: the attributes in which the pass has them after the call"""
BASES = {
    "Policy": ("Rules", "Pass"),
    "Ordered": ("Rules", "Pass"),
    "Preemptive": ("PreemptiveRules", "Suspension"),
    "Remembering": ("PreemptiveRules", "TollLoop"),
}
"""For each base class of a policy: that of its twin, and the class of the pass that the policy needs, unless it names a
special one such as `DividedPass`
"""
ASKED = ("decide", "xfactor", "threshold", "price", "toll")
"""Methods that the loop itself calls, which knows its class as `Pass`"""
UNSAID = ("phase", "keep", "keep_idle", "keep_suspended", "keep_without_turn", "claims_come_true")
"""Calls that do nothing in a compiled run: it is not watched, and suspending takes no time in it"""
DECISIONS = {
    "start": "Start", "begin": "Start", "reserve": "Reserve", "suspend": "Suspend", "start_in": "Start",
    "backfill_in": "Backfill", "try_in": "Start", "reserve_trial": "Reserve", "place": "Place", "stall": "Stall",
    "reserve_row": "ReserveRow", "migrate": "Stall",
}  # fmt: skip
"""Decisions of the calls that name a reason. Migrations are kept as objects; the form of a stall names their reason"""
REASONS = ("sim.decisions.reasons", "sim.decisions.reasons_in_rows")
"""Modules with the reasons of compiled policies"""
IN_ROWS = ("Place", "Stall", "ReserveRow")
"""Decisions that are defined in `sim.decisions.matrix`"""
WIDTH = {
    "start": 2, "begin": 2, "reserve": 2, "suspend": 3, "start_in": 3, "backfill_in": 3, "try_in": 2,
    "reserve_trial": 2, "place": 4, "stall": 2, "reserve_row": 1, "migrate": 2,
}  # fmt: skip
"""Count of numbers that a reason may have there"""
PLACED = ("start_in", "backfill_in", "try_in")
"""Calls for which the policy chooses processors; they get the count of numbers too"""
UNTOLD = ("rehome",)
"""Calls of which unwatched runs do not record the reason; the reason is their last argument"""
NEVER = {
    "now.curious", "not now.owners", "job.reserve is not None", "not now.resume_in_rows(self.mpl)",
    "not now.ends_in_time(job, self.mpl)",
}  # fmt: skip
"""Conditions that hold in no run of the compiled loop"""


_ALL = [ast.Constant(-1), ast.Name("INFINITE"), ast.Constant(0)]
"""Arguments of `easy_candidates` that `candidates` does not have"""


def is_policy(file: ast.Module) -> bool:
    """Return True if the file defines a policy that acts by calls."""
    return any(isinstance(each, ast.ClassDef) and _decide(each) is not None for each in file.body)


def twin_of(file: ast.Module, module: str, reasons: ast.Module) -> list[ast.stmt]:
    """Return the compiled form of the policies in the file: their reasons, the forms of these, and the classes."""
    named = {each.name for each in reasons.body if isinstance(each, ast.ClassDef) and _names_job(each)}
    forms, classes, kinds = dict[str, tuple[str, ...]](), list[ast.stmt](), dict(BASES)
    methods, rankings = set[str](), count()
    policies = {each.name: each for each in file.body if isinstance(each, ast.ClassDef)}
    mixed_in = {ast.unparse(base) for each in policies.values() for base in each.bases[:-1]}
    for name, policy in policies.items():
        of = ast.unparse(policy.bases[-1]) if policy.bases else ""
        if name in mixed_in or not (_decide(policy) or kinds.get(of, ("", ""))[0] == of):
            continue
        base, present = kinds[of]
        parts = [policy, *(policies[ast.unparse(each)] for each in policy.bases[:-1])]
        body = [deepcopy(each) for part in parts for each in part.body]
        own = [each for each in body if isinstance(each, ast.FunctionDef) and _takes_pass(each)]
        methods |= {each.name for each in own}
        twin = _Twin(named, base, present, methods, forms, rankings)
        classes += [_class_of(ast.ClassDef(name, policy.bases, [], body, []), own, base, twin)]
        classes += ast.parse(f"TWINS['{module}.{name}'] = {name}").body
        kinds[name] = name, present
    imports = [each for each in file.body if isinstance(each, ast.ImportFrom) and each.module in REASONS]
    decided = sorted({form[0] for form in forms.values()})
    lines = [f"from sim.decisions.{'matrix' if each in IN_ROWS else 'decisions'} import {each}" for each in decided]
    lines += [f"{name}: int = form_of({', '.join(form)})" for name, form in forms.items()]
    return [*imports, *ast.parse("\n".join(lines)).body, *classes]


def _class_of(policy: ast.ClassDef, methods: list[ast.FunctionDef], base: str, twin: _Twin) -> ast.ClassDef:
    """Return the class of the policy with these methods, based on the compiled class `base`."""
    for method in methods:
        method.decorator_list.clear()
        targets = {node.target.id for node in ast.walk(method) if isinstance(node, ast.For) and _is_name(node.target)}
        twin.visit(method)
        method.body[:0] = ast.parse("\n".join(f"{name}: int" for name in sorted(targets))).body
    fields = [each for each in policy.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
    lines = [
        f"    self.{ast.unparse(each.target)}: {_kept(each.annotation)} = {_empty(each.annotation)}" for each in fields
    ]
    if ast.unparse(policy.bases[0]) == "Ordered":
        lines.insert(0, "    self.order: Any = None")
    if base != "Rules":
        lines.insert(0, f"    {base}.__init__(self)")
    begin = ast.parse("\n".join(["def __init__(self) -> None:", *lines])).body if lines else []
    cls = ast.ClassDef(policy.name, [ast.Name(base)], [], [_doc(policy), *begin, *methods], [])
    cls.decorator_list.append(ast.parse("cython.cclass", mode="eval").body)
    ast.fix_missing_locations(ast.Module([cls], []))
    return cls


def _decide(cls: ast.ClassDef) -> ast.FunctionDef | None:
    for each in cls.body:
        if isinstance(each, ast.FunctionDef) and each.name == "decide" and each.decorator_list and _takes_pass(each):
            return each
    return None


def _takes_pass(function: ast.FunctionDef) -> bool:
    """Return True if the method takes a pass, unless it returns a reason: no reason is an object in a compiled run."""
    returned = "" if function.returns is None else ast.unparse(function.returns)
    return returned != "Reason" and any(_is_pass(arg) for arg in function.args.args)


def _is_pass(arg: ast.arg) -> bool:
    """Return True if the argument is a `Pass` or one with more calls, such as `DividedPass`, or a `View` of it."""
    said = "" if arg.annotation is None else ast.unparse(arg.annotation)
    return said.endswith("Pass") or said == "View"


def _names_job(reason: ast.ClassDef) -> bool:
    """Return True if the first field of the reason is a job."""
    fields = [ast.unparse(each.value) for each in reason.body if isinstance(each, ast.Assign)]
    return any(each.startswith("(job(") for each in fields)


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _kept(annotation: ast.expr) -> str:
    said = ast.unparse(annotation)
    return said if said in ("int", "float", "bool") else "Any"


def _empty(annotation: ast.expr) -> str:
    return {"int": "0", "float": "0.0", "bool": "False"}.get(_kept(annotation), "None")


def _doc(policy: ast.ClassDef) -> ast.stmt:
    return ast.Expr(ast.Constant(f"Rules of {policy.name}."))


class _Twin(ast.NodeTransformer):
    """Change of a method: jobs become ranks, reasons become forms and numbers, and nothing is kept waiting in words."""

    def __init__(
        self,
        named: set[str],
        base: str,
        present: str,
        own: set[str],
        forms: dict[str, tuple[str, ...]],
        rankings: Iterator[int],
    ) -> None:
        self._named, self._base, self._present, self._own, self._forms = named, base, present, own, forms
        self._rankings = rankings
        self._now, self._unknown = "", set[str]()

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and ast.unparse(node) in NEVER:
            return ast.Constant(False)
        return super().visit(node)

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self._all(node.orelse) or ast.Pass()
        return ast.If(test, self._all(node.body), self._all(node.orelse))

    def _all(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        changed = map(self.visit, statements)
        return [one for each in changed for one in (each if isinstance(each, list) else [each])]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Or):
            node.values = [each for each in node.values if not isinstance(each, ast.Constant)]
        return node.values[0] if len(node.values) == 1 else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        present = self._present
        for arg in node.args.args:
            said = "" if arg.annotation is None else ast.unparse(arg.annotation)
            if _is_pass(arg):
                self._now, present = arg.arg, self._present if said in ("Pass", "View") else said
                arg.annotation = ast.Name("Pass" if node.name in ASKED else present)
            elif said in HELPERS.values():
                arg.annotation = ast.Name(present)
            elif said in SAID:
                arg.annotation = ast.Name(SAID[said])
        node.body = [each for each in node.body if not _is_doc(each)]
        self.generic_visit(node)
        if node.name in ASKED and present != "Pass":
            next(arg for arg in node.args.args if arg.arg == self._now).arg = "given"
            node.body[:0] = ast.parse(f"{self._now} = cython.cast({present}, given)").body
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        self.generic_visit(node)
        if (said := ast.unparse(node.annotation)) in SAID:
            node.annotation = ast.Name(SAID[said])
            match node.value:
                case ast.Constant(None):
                    node.value = ast.parse("-1", mode="eval").body
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("INFINITE") if node.id == "inf" else node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """Ask for candidates one after another: what starts meanwhile decides which others may still start."""
        match node.iter:
            case ast.Call(ast.Attribute(ast.Name(self._now), "in_tail"), [ast.Call() as asked, tail]):
                pass
            case _:
                asked, tail = node.iter, ast.Constant("queue")
        match asked:
            case ast.Call(ast.Attribute(ast.Name(self._now), "candidates" | "easy_candidates"), args):
                given = [*args, *_ALL[len(args) :], tail]
                begin = ast.Call(ast.Attribute(ast.Name(self._now), "walk"), given, [])
                return self._walk(begin, f"{self._now}.next_candidate()", node)
            case ast.Call(ast.Attribute(ast.Name(self._now), "queued")):  # it stands in the asked order already
                begin = ast.Call(ast.Attribute(ast.Name(self._now), "begin_line"), [], [])
                return self._walk(begin, f"{self._now}.next_in_line()", node)
            case ast.Call(ast.Attribute(ast.Name("pivots") as pivots, "jobs")):
                return self._walk(ast.Call(ast.Attribute(pivots, "walk_jobs"), [], []), "pivots.next_job()", node)
            case ast.Call(ast.Attribute(ast.Name(self._now) as now, "to_place")):
                return self._walk(ast.Call(ast.Attribute(now, "walk_queue"), [], []), "now.next_to_place()", node)
            case ast.Call(ast.Attribute(ast.Name("self"), "in_turn"), [now]):
                return self._walk(ast.Call(ast.Attribute(now, "begin_turns"), [], []), "now.next_turn()", node)
        self.generic_visit(node)
        return node

    def _walk(self, begin: ast.expr, following: str, node: ast.For) -> list[ast.stmt]:
        """Return the loop `node`, which asks for the following job at each turn."""
        step = ast.parse(f"following = {following}\nif following < 0: break").body
        is_last = step[1]
        assert isinstance(is_last, ast.If)
        is_last.body[:0] = node.orelse
        walk = ast.While(ast.Constant(True), [*step, ast.Assign([node.target], ast.Name("following")), *node.body], [])
        self.generic_visit(walk)
        return [ast.Expr(self.visit(begin)), walk]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(of), name)) if of in (self._now, "self") and name in UNSAID:
                return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        match node:
            case ast.Assign([ast.Tuple(targets)], ast.Call(ast.Attribute(ast.Name(of), name))) if name in FOUND:
                self.generic_visit(node)
                found = (ast.Attribute(ast.Name(of), attribute) for attribute in FOUND[name])
                assigned = [ast.Assign([target], value) for target, value in zip(targets, found, strict=True)]
                return [ast.Expr(node.value), *assigned]
            case ast.Assign([ast.Name(name)], ast.Attribute(_, value)) if value in UNKNOWN:
                self._unknown.add(name)
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(self.visit(node.test), self._given(node.body), self._given(node.orelse))

    def _given(self, value: ast.expr) -> Any:
        """Return the compiled form of a value, where None is a negative number."""
        is_none = isinstance(value, ast.Constant) and value.value is None
        return ast.parse("-1", mode="eval").body if is_none else self.visit(value)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(ast.Name(name) as value, [ast.Is() | ast.IsNot()], [ast.Constant(None)]) if (
                name in self._unknown
            ):
                return ast.Compare(value, [ast.NotEq() if isinstance(node.ops[0], ast.Is) else ast.Eq()], [value])
            case ast.Compare(job, [ast.Is()], [ast.Constant(None)]):
                return ast.Compare(job, [ast.Lt()], [ast.Constant(0)])
            case ast.Compare(job, [ast.IsNot()], [ast.Constant(None)]):
                return ast.Compare(job, [ast.GtE()], [ast.Constant(0)])
            case ast.Compare(job, [ast.IsNot()], [other]):
                return ast.Compare(job, [ast.NotEq()], [other])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id == "self":
            return node
        if node.value.id == self._now:
            node.attr = QUESTIONS.get(node.attr, node.attr)
        elif node.attr in OF_A_JOB:
            return ast.Subscript(ast.Attribute(ast.Name(self._now), OF_A_JOB[node.attr]), node.value)
        elif node.attr in ITSELF:
            return node.value
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("super")), name), args):
                return ast.Call(
                    ast.Attribute(ast.Name(self._base), name), [ast.Name("self"), *map(self.visit, args)], []
                )
        match node:
            case ast.Call(ast.Attribute(ast.Name("self"), name), [ast.Name(self._now), *args]) if name not in self._own:
                node = ast.Call(ast.Attribute(ast.Name(self._now), name), args)  # of the base class
        match node:
            case ast.Call(ast.Attribute(ast.Name(self._now), name), args):
                called = ast.Attribute(ast.Name(self._now), CALLS.get(name, f"_{name}"))
                if name in ("candidates", "easy_candidates"):
                    raise TypeError("candidates are compiled as what a loop goes through")
                if name in DECISIONS:
                    place = next(
                        index for index, arg in enumerate(args) if isinstance(arg, ast.Call) and _is_name(arg.func)
                    )
                    args = [*args[:place], *self._form(name, args[place])]
                elif name == "new_ranking":
                    args = [ast.Constant(next(self._rankings))]
                elif name == "pivots":
                    args = [ast.Call(ast.Name("len"), [args[1]], [])]
                elif name in UNTOLD:
                    args = args[:-1]
                return ast.Call(called, [self._given(arg) for arg in args], [])
            case ast.Call(ast.Attribute(ast.Name(), "put") as put):
                put.attr = "place"
            case ast.Call(ast.Attribute(ast.Name(of) as helper, name), args) if of in HELPERS:
                return ast.Call(ast.Attribute(helper, f"_{name}"), [self.visit(arg) for arg in args], [])
            case ast.Call(ast.Attribute(ast.Name("self")), args):
                node.args = [*map(self._given, args)]
                return node
        self.generic_visit(node)
        return node

    def _form(self, call: str, reason: ast.expr) -> list[ast.expr]:
        """Return the number of the form of a reason, the job that it names, and its numbers."""
        assert isinstance(reason, ast.Call)
        name, numbers, head = ast.unparse(reason.func), [*reason.args], ast.parse("-1", mode="eval").body
        if reason.keywords:
            raise TypeError(f"{name} has numbers by name; the compiled form has them by place")
        if name in self._named:
            head = numbers.pop(0)
        if len(numbers) > WIDTH[call]:
            raise TypeError(f"{name} has too many numbers for the log of decisions")
        count = [ast.Constant(len(numbers))] if call in PLACED else []
        numbers += [ast.Constant(0)] * (WIDTH[call] - len(numbers))
        form = f"{DECISIONS[call]}_{name}".upper()
        self._forms[form] = (DECISIONS[call], name, *["True"] * len(count))
        return [ast.Name(form), head, *count, *numbers]


def _is_doc(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def read(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
