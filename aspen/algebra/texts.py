"""What the functions over texts compute."""

from __future__ import annotations

import re
from functools import lru_cache

_PATTERNS = 1024


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


def replaced(text: str, old: str, new: str) -> str:
    """Replace every occurrence; nothing can be put between letters."""
    return text.replace(old, new) if old else text


@lru_cache(maxsize=_PATTERNS)
def _pattern(pattern: str, escape: str, *, ignore_case: bool) -> re.Pattern[str]:
    written: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            written.append(re.escape(next(letters, letter)))
        elif letter == "%":
            written.append(".*")
        elif letter == "_":
            written.append(".")
        else:
            written.append(re.escape(letter))
    return re.compile("".join(written), re.DOTALL | (re.IGNORECASE if ignore_case else 0))
