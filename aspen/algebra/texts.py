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


def repeated(text: str, times: int) -> str | None:
    """Returns a text so many times; null where that is too long."""
    return text * times if len(text) * max(times, 0) <= TEXT_MOST else None


def padded(text: str, length: int, filling: str, *, left: bool) -> str | None:
    """Returns a text cut or filled to a length; null where that is too long or nothing fills."""
    missing = length - len(text)
    if length > TEXT_MOST or (missing > 0 and not filling):
        return None
    more = (filling * (missing // max(len(filling), 1) + 1))[: max(missing, 0)]
    return (more + text if left else text + more)[: max(length, 0)]


def part(text: str, between: str, index: int) -> str:
    """Returns a part of a text that is split, counted from 1, from the end where negative."""
    parts = text.split(between) if between else list(text)
    at = index - 1 if index > 0 else len(parts) + index
    return parts[at] if 0 <= at < len(parts) else ""


def translated(text: str, old: str, new: str) -> str:
    """Replace letters one by one; those without a counterpart go."""
    known: dict[int, str | None] = {}
    for index, one in enumerate(old):
        known.setdefault(ord(one), new[index] if index < len(new) else None)
    return text.translate(known)


def letter(code: int) -> str | None:
    """Returns the letter of a code point, null where there is none."""
    try:
        found = chr(code)
        found.encode()  # halves of letters are none
    except (ValueError, OverflowError):
        return None
    return found if code else None


def joined(between: str, *texts: str | None) -> str | None:
    """Join the texts that are not null by another; null where that is too long."""
    found = between.join(text for text in texts if text is not None)
    return found if len(found) <= TEXT_MOST else None


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
