"""Checkable rules of plain English, for docstrings, comments, Markdown pages, and texts on the screen."""

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

LONGEST = 35
"""Largest number of words in a sentence."""
PERSONS = r"users?|person|people|students?|teachers?|authors?|readers?|visitors?|viewers?|callers?|class|anyone|someone"
NO = r"(?:not|never|nobody|nothing|none|no|cannot|without|neither|\w+n't)"
RULES = {
    "opener": r"^[*_\"'(]*(?:Who|Whom|Whose|Whoever|What|Whatever|Wherever|Those|Meanwhile|So many|So much|By how)\b",
    "riddle": r"^(?:As (?:many|much|long|far)\b|(?:Of|For|To|From|At|In|On) (?:whom|which|what|all|many|those)\b"
    r"|(?:None|Nothing|Nobody|True|inf|nan|0|-1): |Is (?:it|this|that)\b|Are they\b)",
    "who": r"(?<!['\w-])\bwho\b(?!-)",
    "pronoun": r"(?i)\b(?:somebody|nobody|everybody|anybody|whoever|whomever)\b",
    "idiom": r"(?i)\bby lot\b|\b(?:is|are|was|were|be|been) told\b(?! apart| by)"
    r"|\btells? (?:of|what|why|how|where|when)\b"
    r"|\b(?:made|planned|read|computed|asked|found|filled|built) anew\b|\b(?:comes?|came) true\b|\bin vain\b"
    r"|\b(?:is|are|was) (?:said|heard|looked at|looked for|found out|known of|heeded)\b|\blooks? on\b"
    r"|\bas (?:it|they|things) stands?\b|\b(?:once|twice) more\b|\bbeside (?:what|that|those|it|them|all|the|this)\b",
    "those": r"\b[Tt]hose (?:who|that|which|whose|of whom)\b",
    "negatives": rf"(?i)\b{NO} [^,.;:()?`–—]{{0,40}}\b(?:nobody|nothing|none|cannot|without|no longer)\b",
    "long": rf"^(?:\S+\s+){{{LONGEST}}}\S",
}
"""Regular expression of each rule, searched in a sentence without its code."""
CODE_ROW = r"\[\w*\]|\[\[|\w+ = |[├└]|\w*\(|.*\S {2,}\S"
"""Row of a docstring that is a table or code."""
DOCSTRINGS_ONLY, TEXT_ONLY = {"riddle"}, {"opener", "long", "negatives"}
"""Names of the rules for docstrings only, and of the rules from which short texts on the screen are exempt."""


def findings(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    of = {".md": _of_page, ".py": _of_code}.get(path.suffix, _of_values)
    return [found for line, kind, piece in of(text) for found in _broken(path, line, kind, piece)]


def _broken(path: Path, line: int, kind: str, piece: str) -> Iterator[str]:
    plain = re.sub(r"``[^`]*``|`[^`]*`|\]\([^)]*\)|\{[^}]*\}|\"\w+\"", "x", piece)
    for place, sentence in enumerate(re.split(r"(?<=[.!?:;])\s+(?=[A-Z]|x\b)|\n\s*\n", plain)):
        for rule, pattern in RULES.items():
            if rule in DOCSTRINGS_ONLY and (kind != "docstring" or place):
                continue
            if (rule in TEXT_ONLY and kind == "screen") or sentence.rstrip(" *\"')").endswith("?"):
                continue
            if re.search(pattern, sentence.strip()) and not _is_of_persons(rule, sentence):
                yield f"{path}:{line}: {rule}: {' '.join(sentence.split())[:80]}"


def _is_of_persons(rule: str, sentence: str) -> bool:
    return rule == "who" and len(re.findall(rf"\b(?:{PERSONS}) who\b", sentence)) == len(
        re.findall(r"\bwho\b", sentence)
    )


def _of_code(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, kind, text) of each docstring, without doctests, of each comment, and of each other string of
    three words or more, which may be on the screen."""
    nodes, docs = [*ast.walk(ast.parse(source))], set[int]()
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant(value=str(doc)) as text):
                docs.add(id(text))
                rows = inspect.cleandoc(doc.split(">>>")[0]).split("\n")
                prose = (
                    "" if re.match(CODE_ROW, row) else row.replace("- ", "\n", 1) if row.startswith("- ") else row
                    for row in rows
                )
                yield text.lineno, "docstring", "\n".join(prose)
    for node in nodes:
        match node:
            case ast.Constant(value=str(words)) if id(node) not in docs and len(re.findall(r"[a-z]{2,}", words)) > 2:
                yield node.lineno, "screen", words
    for token in tokenize.generate_tokens(io.StringIO(source).readline) if "#" in source else ():
        if token.type == tokenize.COMMENT:
            yield token.start[0], "comment", token.string.lstrip("#:! ")


def _of_values(source: str) -> Iterator[tuple[int, str, str]]:
    pattern = r'(?m)^(?:title|about|say|then|question|notes|exercise) = ("""[\s\S]*?"""|".*")$|^; *Note: *(.*)$'
    for match in re.finditer(pattern, source):
        yield source.count("\n", 0, match.start()) + 1, "screen", (match[1] or match[2]).strip('"')


def _of_page(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, kind, text) of each paragraph, list item and heading of a Markdown page, without code blocks,
    tables and pictures."""
    fenced, block, first = False, list[str](), 1
    for number, row in enumerate([*source.split("\n"), ""], 1):
        fenced ^= row.startswith("```")
        is_prose = not fenced and not re.match(r"```|\s{4}|\||!\[", row)
        if block and (not row.strip() or not is_prose or re.match(r"\s*(?:[-*]|\d+\.)\s|#", row)):
            yield first, "page", " ".join(block)
            block = []
        if is_prose and row.strip():
            first = first if block else number
            block.append(re.sub(r"^\s*(?:[-*]|\d+\.|#+)\s+", "", row).strip())
