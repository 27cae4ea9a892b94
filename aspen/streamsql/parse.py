"""Border 1: StreamSQL text → sqlglot's tree, every node with its position."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from aspen.errors import Position
from aspen.streamsql.dialect import StreamSql
from aspen.streamsql.errors import SyntaxRefused, Unsupported
from aspen.streamsql.positions import Positions
from aspen.streamsql.using_key import without_keys

_LONGEST = 100_000
LOOKED_BACK = 3
"""So many words before an error may be the misspelt one."""

_KEYWORDS = (
    "ALL AND AS BETWEEN BY CASE CREATE DELETE DISTINCT ELSE END EXCEPT EXISTS FROM FULL "
    "GROUP HAVING IN INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT NATURAL NOT NULL "
    "OFFSET ON ONCE OR ORDER OUTER OUTPUT RANGE RECURSIVE RIGHT ROWS SECONDS SELECT SET "
    "TABLE THEN UNION UPDATE USING VALUES VIEW WHEN WHERE WITH"
)
KEYWORDS = frozenset(_KEYWORDS.split())
_WINDOW = "windows look like [RANGE 30 SECONDS] or [PARTITION BY mid ROWS 1]"


def read_trees(text: str, dialect: type[StreamSql] = StreamSql) -> list[exp.Expr]:
    """Returns the trees of a text's statements, in order.

    Raises:
        SyntaxRefused: the text is no SQL, or too long.
        Unsupported: it is nested too deeply.
    """
    if len(text) > _LONGEST:
        raise SyntaxRefused(
            f"a query has at most {_LONGEST:,} characters",
            found=f"{len(text):,} characters",
            attempt="split it into views",
        )
    positions = Positions(text)
    try:
        trees = dialect().parse(text)
        return [without_keys(positions.annotate(tree)) for tree in trees if tree is not None]
    except ParseError as error:
        raise _syntax(error.errors[0] if error.errors else {}, positions) from error
    except TokenError as error:
        raise _tokens(text, positions) from error
    except ValueError as error:  # sqlglot's, of a name that is empty
        raise _syntax({}, positions) from error
    except RecursionError as error:
        raise Unsupported(
            "the query is nested too deeply", attempt="split it into views or CTEs"
        ) from error


def _syntax(found: Mapping[str, Any], positions: Positions) -> SyntaxRefused:
    text = positions.text
    start = int(found.get("start", len(text)))
    end = int(found.get("end", start)) + 1
    word = text[start:end]
    said = str(found.get("description", "the text cannot be read"))
    message = "the query stops making sense here"
    exists: tuple[str, ...] = ()
    attempt = "see what stands before it: a comma, a bracket or a keyword is missing or too many"
    if said.startswith("Required keyword") or "got <Token" in said:
        message = f"something is missing after {word!r}"
        attempt = "finish the clause, or take it out"
    elif (awaited := re.sub("^(Expecting|expected)", "", said)) != said:
        message = f"expected{awaited}"
        in_window = text.rfind("[", 0, start) > text.rfind("]", 0, start)
        attempt = _WINDOW if in_window and ")" not in said else f"it goes before {word!r}"
    elif "Unexpected token" not in said:
        message = said
        attempt = _WINDOW if "window" in said else ""
    elif misspelt := _misspelt(text[:end]):
        (start, end), keyword = misspelt
        word, exists, attempt = text[start:end], (keyword,), f"did you mean {keyword}?"
    return SyntaxRefused(
        message, position=positions.position(start, end), found=word, exists=exists, attempt=attempt
    )


def _misspelt(before: str) -> tuple[tuple[int, int], str] | None:
    """Returns which of the last words before an error was to be a keyword, and which keyword."""
    words = list(re.finditer(r"(?<![\w.'\"])[A-Za-z]+(?![\w.'\"])", before))[-LOOKED_BACK:]
    for word in reversed(words):
        near = get_close_matches(word.group().upper(), KEYWORDS, n=1, cutoff=0.7)
        if near and word.group().upper() not in KEYWORDS:
            return word.span(), near[0]
    return None


def _tokens(text: str, positions: Positions) -> SyntaxRefused:
    """Find the quote or comment that is never closed."""
    opened: tuple[int, str] | None = None
    for found in re.finditer(
        r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|['\"]|/\*", text, re.DOTALL
    ):
        if found.group() in ("'", '"', "/*"):
            opened = (found.start(), found.group())
            break
    if opened is None:
        return SyntaxRefused("the text holds something that is no SQL", position=Position(1, 1))
    start, mark = opened
    return SyntaxRefused(
        f"the {mark} is never closed",
        position=positions.position(start, start + len(mark)),
        found=mark,
        attempt=f"close it with {'*/' if mark == '/*' else mark}",
    )
