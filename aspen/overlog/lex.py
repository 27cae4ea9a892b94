"""Text → tokens, each with its position."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aspen.errors import Position
from aspen.overlog.errors import RuleSyntaxRefused

_TOKENS = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<number>\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)
  | (?P<text>'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*")
  | (?P<variable>[A-Z_]\w*)
  | (?P<word>[a-z]\w*)
  | (?P<symbol>:-|:=|==|!=|<>|<=|>=|[-<>=+*/%(),.!@])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Args:
        kind: `number`, `text`, `variable`, `word`, `symbol` or `end`.
    """

    kind: str
    text: str
    at: Position


def tokens(text: str) -> list[Token]:
    """Take a text apart; the last token has kind `end`.

    Raises:
        RuleSyntaxRefused: a character, quote or comment that begins no token.
    """
    found: list[Token] = []
    offset, line, start = 0, 1, 0
    while offset < len(text):
        match = _TOKENS.match(text, offset)
        here = Position(line, offset - start + 1)
        if match is None:
            raise _stray(text[offset:], here)
        kind, spelt = str(match.lastgroup), match.group()
        if kind != "blank":
            found.append(Token(kind, spelt, Position(line, here.column, len(spelt))))
        offset = match.end()
        if "\n" in spelt:
            line += spelt.count("\n")
            start = match.start() + spelt.rindex("\n") + 1
    found.append(Token("end", "", Position(line, offset - start + 1)))
    return found


def _stray(rest: str, at: Position) -> RuleSyntaxRefused:
    if rest[0] in "'\"" or rest.startswith("/*"):
        mark, close = (rest[:2], "*/") if rest[0] == "/" else (rest[0], rest[0])
        return RuleSyntaxRefused(
            f"the {mark} is never closed", position=at, found=mark, attempt=f"close it with {close}"
        )
    return RuleSyntaxRefused(
        f"{rest[0]!r} means nothing in a rule",
        position=at,
        found=rest[0],
        exists=(":-", ".", "!", "=", "<", "+"),
        attempt="rules look like: head(X, Y) :- body(X, Z), other(Z, Y), Z < 10.",
    )
