"""What the functions over texts compute."""

from __future__ import annotations

import re
from functools import lru_cache

_PATTERNS = 1024
TEXT_MOST = 65_536
"""Letters of a text that is computed; a longer one is null, like a number beyond its bounds."""


def like(text: str, pattern: str, escape: str = "") -> bool:
    """Whether a text is as a pattern says: `%` any letters, `_` any one letter, case counts."""
    return _pattern(pattern, escape, ignore_case=False).fullmatch(text) is not None


def ilike(text: str, pattern: str, escape: str = "") -> bool:
    """As `like`, in whatever case."""
    return _pattern(pattern, escape, ignore_case=True).fullmatch(text) is not None


def substr(text: str, start: int, length: int | None = None) -> str:
    """Returns the letters from `start`, counted from 1; from the end where it is negative."""
    size = len(text)
    first = start - 1 if start > 0 else size + start if start < 0 else -1
    end = size if length is None else first + length
    if length is not None and length < 0:
        first, end = end, first
    return text[max(first, 0) : max(end, 0)]


def replaced(text: str, old: str, new: str) -> str | None:
    """Replace every occurrence; nothing is put between letters; null where that is too long."""
    if not old:
        return text
    grown = max(0, len(new) - len(old)) * text.count(old)
    return text.replace(old, new) if len(text) + grown <= TEXT_MOST else None


def concatenated(*parts: str) -> str | None:
    """Join texts; null where that is too long."""
    return "".join(parts) if sum(map(len, parts)) <= TEXT_MOST else None


@lru_cache(maxsize=_PATTERNS)
def _pattern(pattern: str, escape: str, *, ignore_case: bool) -> re.Pattern[str]:
    spans = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            spans[-1] += re.escape(next(letters, letter))
        elif letter == "%":
            spans.append("")
        else:
            spans[-1] += "." if letter == "_" else re.escape(letter)
    first, *others = spans
    # Where a span fits first is as good as anywhere later: without a way back, the time is linear.
    middle = "".join(f"(?>.*?{span})" for span in others[:-1] if span)
    whole = f"{first}{middle}.*{others[-1]}" if others else first
    return re.compile(whole, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
