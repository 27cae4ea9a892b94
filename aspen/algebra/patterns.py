"""What the functions over regular expressions compute; matching takes time linear in the text.

Reference: R. Cox, "Regular Expression Matching in the Wild" (2010), on RE2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from aspen.algebra.texts import TEXT_MOST

_PATTERNS = 1024
_MEMORY_BYTES = 1 << 20  # of one pattern; RE2's own default is eight times that
_LETTERS_MADE = 16 * TEXT_MOST


def matches(text: str, pattern: str, options: str = "") -> bool | None:
    """Whether a part of a text is as a pattern says; null where the pattern is none."""
    found = _compiled(pattern, ignore_case="i" in options)
    return None if found is None else found.search(text) is not None


def full_matches(text: str, pattern: str, options: str = "") -> bool | None:
    """Whether a text as a whole is as a pattern says; null where the pattern is none."""
    found = _compiled(pattern, ignore_case="i" in options)
    return None if found is None else found.fullmatch(text) is not None


def extracted(text: str, pattern: str, group: int = 0) -> str | None:
    """Returns the part of a text that a pattern, or a group of it, finds; empty for none."""
    found = _compiled(pattern, ignore_case=False)
    if found is None or not 0 <= group <= found.groups:
        return None
    first = found.search(text)
    return "" if first is None else first.group(group) or ""


def replaced(text: str, pattern: str, new: str, options: str = "") -> str | None:
    r"""Replace what a pattern finds, once or with `g` everywhere; `\1` stands for a group."""
    found = _compiled(pattern, ignore_case="i" in options)
    if found is None:
        return None
    times = sum(1 for _ in found.finditer(text)) if "g" in options else 1
    # A group that a replacement names is at most the whole text, all its matches together.
    if times * len(new) + (1 + new.count("\\")) * len(text) > _LETTERS_MADE:
        return None
    try:
        made: str = found.sub(new.replace(r"\0", r"\g<0>"), text, 0 if "g" in options else 1)
    except (re2.error, IndexError):
        return None
    return made if len(made) <= TEXT_MOST else None


def is_pattern(pattern: str) -> bool:
    """Whether a text is a pattern."""
    return _compiled(pattern, ignore_case=False) is not None


@lru_cache(maxsize=_PATTERNS)
def _compiled(pattern: str, *, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY_BYTES
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        return None
