from __future__ import annotations

from sim import formatting, words


def test_former_name_has_what_policies_import() -> None:
    assert words.Clock is formatting.Clock
    assert (words.quoted, words.span) == (formatting.quoted, formatting.span)
