"""Problems: what the server refuses, and what keeps it from being asked, as one exception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class TextPosition:
    """Where in a query's text an error lies, counted from 1."""

    line: int
    column: int
    length: int


class Problem(Exception):
    """Why a call failed: the fields of an RFC 9457 document.

    Args:
        message: one sentence.
        status: of HTTP; 0 where no answer came, or it came over the socket.
        code: stable, e.g. `aspen.bind.unknown_column`; those of the client itself begin with
            `smartcis.client`.
        position: in the text that was sent.
        found: what stood there.
        exists: what could have stood there.
        attempt: what to do about it.
        retry_s: seconds after which it may go; None where waiting does not help.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "smartcis.client.problem",
        position: TextPosition | None = None,
        found: str = "",
        exists: Sequence[str] = (),
        attempt: str = "",
        retry_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.position = position
        self.found = found
        self.exists = tuple(exists)
        self.attempt = attempt
        self.retry_s = retry_s

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Returns the problem that a document, or an error frame of the socket, describes."""
        at = fields.get("position")
        return cls(
            str(fields.get("message", "")),
            status=int(fields.get("status", 0)),
            code=str(fields.get("code", "smartcis.client.problem")),
            position=TextPosition(at["line"], at["column"], at["length"]) if at else None,
            found=str(fields.get("found", "")),
            exists=fields.get("exists", ()),
            attempt=str(fields.get("try", "")),
            retry_s=fields.get("retry_s"),
        )

    def render(self, text: str = "") -> str:
        """Returns the problem as lines to be read, with a caret below its place in the text.

        Args:
            text: the query it speaks of; empty where there is none.
        """
        lines = [f"{self.code}: {self.message}"]
        source = text.splitlines()
        if self.position is not None and 1 <= self.position.line <= len(source):
            caret = " " * (self.position.column - 1) + "^" * self.position.length
            lines += [
                f"  {self.position.line:>3} | {source[self.position.line - 1]}",
                f"      | {caret}",
            ]
        facts = {"found": self.found, "exists": ", ".join(self.exists), "try": self.attempt}
        lines += [f"  {name + ':':<8}{fact}" for name, fact in facts.items() if fact]
        return "\n".join(lines)


class NoConnection(Problem):
    """The server could not be reached, or went away before it answered."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"{url} does not answer: {reason}",
            code="smartcis.client.no_connection",
            attempt="check the address, and that the server runs",
        )
