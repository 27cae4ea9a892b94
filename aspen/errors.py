"""Errors that carry an address: a stable code, where, what was found, what exists, what to try."""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Position:
    """A span of source text, one-based like an editor's status line.

    Args:
        line: first line, counted from 1.
        column: first column, counted from 1.
        length: characters underlined, at least 1.
    """

    line: int
    column: int
    length: int = 1


class AspenError(Exception):
    """Base of every error a user may see; a kind of its own has a code of its own.

    Args:
        message: one sentence saying what went wrong.
        position: where in the query text, if there is a text.
        found: what stood there.
        exists: what would have been accepted (names, types, units), nearest first.
        attempt: one sentence saying what to try.
    """

    code = "aspen.error"

    def __init_subclass__(cls, *, code: str = "") -> None:
        super().__init_subclass__()
        cls.code = code or cls.code

    def __init__(
        self,
        message: str,
        *,
        position: Position | None = None,
        found: str = "",
        exists: Sequence[str] = (),
        attempt: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.found = found
        self.exists = tuple(exists)
        self.attempt = attempt

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Returns an error of this kind that says what the fields of another one say of it."""
        return cls(
            fields["message"],
            found=fields["found"],
            exists=fields["exists"],
            attempt=fields["try"],
        )

    @classmethod
    def because_of(cls, fields: Mapping[str, Any]) -> Self:
        """Returns an error of this kind that says what another one says, under its code."""
        error = cls.of(fields)
        error.code = fields["code"]
        return error

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields every border (REST, WebSocket, page, command line) prints."""
        return {
            "code": self.code,
            "message": self.message,
            "position": None if self.position is None else asdict(self.position),
            "found": self.found,
            "exists": list(self.exists),
            "try": self.attempt,
        }

    def render(self, text: str = "") -> str:
        """Print the error below the offending line of `text`, with a caret.

        Args:
            text: the query the error speaks of; empty where there is none.
        """
        lines = [f"{self.code}: {self.message}"]
        if self.position is not None and text:
            source = text.splitlines()
            if 1 <= self.position.line <= len(source):
                row = source[self.position.line - 1]
                lines += [
                    f"  {self.position.line:>3} | {row}",
                    "      | " + " " * (self.position.column - 1) + "^" * self.position.length,
                ]
        if self.found:
            lines.append(f"  found:  {self.found}")
        if self.exists:
            lines.append(f"  exists: {', '.join(self.exists)}")
        if self.attempt:
            lines.append(f"  try:    {self.attempt}")
        return "\n".join(lines)


class InternalError(AspenError, code="aspen.internal"):
    """An error that no user can mend; the log has its traceback under the id that it carries."""


def as_aspen_error(error: Exception) -> AspenError:
    """Returns an error that a user may see; one that is none is logged and named by an id.

    The id is derived from the error, so that every lane and every replay finds the same.
    """
    if isinstance(error, AspenError):
        return error
    kind, frames = type(error).__name__, traceback.extract_tb(error.__traceback__)
    where = (Path(frames[-1].filename).name, frames[-1].lineno) if frames else ()
    found = hashlib.sha256(repr((kind, str(error), where)).encode()).hexdigest()[:10]
    _LOG.error("internal error %s", found, exc_info=error)
    return InternalError(
        f"the engine failed at this: {kind}: {error}",
        found=f"internal error {found}",
        attempt="try again; if it fails again, report the query and this id: the engine's log has"
        " the traceback under it",
    )
