"""A query that the server keeps running, until it is ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from smartcis.client.changes import ViewNews
from smartcis.client.entries import WhyRow
from smartcis.client.rows import Cell, Rows, RowsColumn

if TYPE_CHECKING:
    from smartcis.client.server import SmartCIS


@dataclass(frozen=True, slots=True)
class QueryEntry:
    """A maintained query, as the server lists it.

    Args:
        id: by which everybody finds it.
        name: the owner's; None where there is none.
        view: the shared view that answers it.
        state: suspended, running or failed.
        strategy: how its recursion is maintained.
        columns: of its rows.
        mine: whether this client, or its account, submitted it.
    """

    id: str
    name: str | None
    sql: str
    view: str
    state: str
    strategy: str
    columns: tuple[RowsColumn, ...]
    mine: bool


class RunningQuery:
    """A handle on a query; as a context manager it ends the query when it is left.

    Args:
        server: that keeps it.
        entry: what the server said of it last.
    """

    def __init__(self, server: SmartCIS, entry: QueryEntry) -> None:
        self._server = server
        self.entry = entry

    @property
    def id(self) -> str:
        """The query's id."""
        return self.entry.id

    def rows(self, limit: int | None = None) -> Rows:
        """Returns the rows as they are now; waits until the engine has taken the query up.

        Args:
            limit: at most so many; the server gives 10,000 at once, 1,000 unless told.

        Raises:
            Problem: the query is refused, failed, or not taken up in time.
        """
        return self._server.rows(self.id, limit)

    def watch(self) -> Iterator[ViewNews]:
        """Walks what is heard of the query, a snapshot first, for ever."""
        return self._server.follow([(self.id, len(self.entry.columns))])

    def why(self, row: Sequence[Cell]) -> WhyRow:
        """Returns what one of the rows rests on."""
        return self._server.why(self.id, row)

    def end(self) -> None:
        """Ends the query."""
        self._server.rest.call("DELETE", f"queries/{self.id}/", twice=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def __repr__(self) -> str:
        return f"<RunningQuery {self.id}: {self.entry.sql}>"
