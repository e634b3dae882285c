"""Rules of plain English that a program can check, for docstrings, comments and pages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

LONGEST = 35
"""Words of the longest sentence that is allowed."""
RULES = {
    "opener": r"^(?:Who|Whom|Whose|Whoever|What|Whatever|Wherever|Those|Meanwhile|So many|So much|By how)\b",
    "pronoun": r"(?i)\b(?:somebody|nobody|everybody|anybody|whoever|whomever)\b",
    "idiom": r"\bby lot\b|\b(?:is|are|was|were|be) told\b|\btells? what\b|\b(?:made|planned) anew\b"
    r"|\b(?:comes?|came) true\b|\bin vain\b|\blooks? on\b|\bas (?:it|they) stands?\b|\b(?:once|twice) more\b",
    "those": r"\b[Tt]hose (?:who|that|which|whose|of whom)\b",
    "long": rf"^(?:\S+\s+){{{LONGEST}}}\S",
}
"""Regular expression of each rule, searched in a sentence without its code."""


def findings(path: Path) -> list[str]:
    """Return a line for each rule that a sentence of a Python file or a page breaks."""
    text = path.read_text(encoding="utf-8")
    pieces = _of_page(text) if path.suffix == ".md" else _of_code(text)
    return [
        f"{path}:{line}: {rule}: {sentence[:80]}"
        for line, piece in pieces
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`])|\n\s*\n", re.sub(r"`[^`]*`|\]\([^)]*\)", "x", piece))
        for rule, pattern in RULES.items()
        if not sentence.endswith("?") and re.search(pattern, sentence.strip())
    ]


def _of_code(source: str) -> Iterator[tuple[int, str]]:
    """Yield each docstring, without its doctests, and each comment with its line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text.split(">>>")[0]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#:! ")


def _of_page(source: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, list item and heading of a page with its line, without code blocks, tables and pictures."""
    fenced, block, first = False, list[str](), 1
    for number, row in enumerate([*source.split("\n"), ""], 1):
        fenced ^= row.startswith("```")
        is_prose = not fenced and not re.match(r"```|\s{4}|\||!\[", row)
        if block and (not row.strip() or not is_prose or re.match(r"\s*(?:[-*]|\d+\.)\s|#", row)):
            yield first, " ".join(block)
            block = []
        if is_prose and row.strip():
            first = first if block else number
            block.append(re.sub(r"^\s*(?:[-*]|\d+\.|#+)\s+", "", row).strip())
