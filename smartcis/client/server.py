"""A SmartCIS server, over REST and its live socket."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self, TypeVar

import httpx
from websockets.sync.client import ClientConnection, connect

from smartcis.client.building_import import RunningImport, upload
from smartcis.client.changes import ViewNews
from smartcis.client.entries import (
    BuildingEntry,
    DoneStatement,
    DoorEntry,
    ExplainedText,
    MachineEntry,
    PlanUnits,
    RoomEntry,
    SensorEntry,
    ServerStatus,
    ValidText,
    WhyRow,
)
from smartcis.client.inventory import InventoryFindings
from smartcis.client.live import Follower
from smartcis.client.places import node_at
from smartcis.client.problem import Problem
from smartcis.client.push import PushedReadings, SensorReading, push
from smartcis.client.query import QueryEntry, RunningQuery
from smartcis.client.rest import Rest, object_in, segment
from smartcis.client.rows import Cell, Rows
from smartcis.client.typed import typed
from smartcis.client.walk import RunningWalk, WalkEntry

SOCKET = "/ws/live/"
FRAME_LIMIT_BYTES = 2**28
PAGE_SIZE = 1_000
AUTO = "auto"
ONCE = re.compile(r"\s*ONCE\b", re.IGNORECASE)
LOOK_EVERY_S = 0.1
T = TypeVar("T")


class SmartCIS:
    """A SmartCIS server.

    Queries and walks belong to the session that the server opens with the first of them, and to
    the token's account where there is one. The socket knows the session alone: whoever has a
    token reads by `rows` what only his account may see.

    Args:
        url: of the server, e.g. https://building.example.
        token: of an account, or of a gateway that pushes; None for a visitor.
        timeout_s: how long one answer may take.
        patience_s: how long is waited in all where the server says to come back.
        transport: of HTTP; None for the network.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 30.0,
        patience_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.rest = Rest(
            url, token, timeout_s=timeout_s, patience_s=patience_s, transport=transport
        )

    def close(self) -> None:
        """Closes the connections; queries and walks go on."""
        self.rest.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    # -- queries -----------------------------------------------------------------------------

    def query(self, sql: str, *, name: str = "", strategy: str = AUTO) -> RunningQuery:
        """Submits a query that the server keeps running.

        Args:
            sql: a SELECT or a CREATE VIEW.
            name: what it is listed under.
            strategy: how its recursion is maintained.

        Raises:
            Problem: what is wrong with the text, and where; who may not; how many one may have.
        """
        found = self.submit(sql, name=name, strategy=strategy)
        if isinstance(found, RunningQuery):
            return found
        done = "answered" if isinstance(found, Rows) else f"done: {found.statement} {found.name}"
        raise Problem(
            f"this text is not kept running; it is {done}",
            code="smartcis.client.not_kept",
            attempt="use ask() for what is answered once, submit() for other statements",
        )

    def ask(self, sql: str) -> Rows:
        """Returns the answer to a query that is asked once; it changes nothing.

        Raises:
            Problem: what is wrong with the text, and where; or the engine does not answer.
        """
        return Rows.of(object_in(self._once(sql, "application/json")))

    def ask_csv(self, sql: str) -> str:
        """Returns the answer to a query that is asked once, as CSV.

        Raises:
            Problem: as of `ask`.
        """
        return self._once(sql, "text/csv").text

    def _once(self, sql: str, media_type: str) -> httpx.Response:
        marked = bool(ONCE.match(sql))
        request = self.rest.http.build_request(
            *("POST", f"{self.rest.api}queries/"),
            json={"sql": sql if marked else f"ONCE\n{sql}"},
            headers={"Accept": media_type},
        )
        try:
            return self.rest.send(request, twice=True)
        except Problem as problem:
            at = problem.position
            if at is not None and not marked:  # counted in the text that was given
                problem.position = replace(at, line=at.line - 1) if at.line > 1 else None
            raise

    def submit(
        self, sql: str, *, name: str = "", strategy: str = AUTO
    ) -> RunningQuery | Rows | DoneStatement:
        """Submits any statement, and returns what became of it.

        Args:
            sql: a query, ONCE and a query, or CREATE, DROP, INSERT, DELETE, UPDATE.
            name: as of `query`.
            strategy: as of `query`.

        Raises:
            Problem: what is wrong with the text, and where; or who may not.
        """
        body = {"sql": sql, "name": name, "strategy": strategy}
        answer = self.rest.post("queries/", body)
        match answer.get("kind"):
            case "answer":
                return Rows.of(answer)
            case "done":
                return typed(DoneStatement, answer)
            case _:
                return RunningQuery(self, typed(QueryEntry, answer))

    def queries(self, *, mine: bool = False) -> Iterator[RunningQuery]:
        """Walks the queries that are kept, newest first.

        Args:
            mine: only those of this session and account.
        """
        for entry in self.rest.pages("queries/", mine=mine, page_size=PAGE_SIZE):
            yield RunningQuery(self, typed(QueryEntry, entry))

    def check(self, sql: str) -> ValidText:
        """Returns what a text is, without submitting it.

        Raises:
            Problem: what is wrong with it, and where.
        """
        answer = self.rest.post("queries/check/", {"sql": sql}, twice=True)
        if not answer.get("ok"):
            raise Problem.of(answer)
        return typed(ValidText, answer)

    def explain(self, sql: str) -> ExplainedText:
        """Returns a query's way through the house: plans, placement, costs."""
        return typed(ExplainedText, self.rest.post("queries/explain/", {"sql": sql}, twice=True))

    def rows(self, view: str, limit: int | None = None) -> Rows:
        """Returns the rows of a view, or of a query by its id, as they are now.

        What the engine has not taken up yet is waited for.

        Args:
            view: a standing view's name, or a query's id.
            limit: at most so many, up to 10,000; 1,000 unless told.
        """
        until_s = monotonic() + self.rest.patience_s
        while True:
            try:
                return Rows.of(self.rest.get(f"queries/{segment(view)}/rows/", limit=limit))
            except Problem as problem:
                if problem.found != "registering" or monotonic() > until_s:
                    raise
            sleep(LOOK_EVERY_S)

    def why(self, view: str, row: Sequence[Cell]) -> WhyRow:
        """Returns what a row of a view rests on.

        Args:
            view: a view's name, or a query's id.
            row: values in the order of the view's columns.
        """
        body = {"view": view, "row": list(row)}
        return typed(WhyRow, self.rest.post("queries/why/", body, twice=True))

    # -- live --------------------------------------------------------------------------------

    def watch(self, *views: str) -> Iterator[ViewNews]:
        """Walks what is heard of views: of each a snapshot, then its deltas, for ever.

        A connection that is lost is told as a gap and made anew; what has changed meanwhile
        comes behind it.

        Args:
            views: names of standing views, or ids of queries.

        Raises:
            NoConnection: there was no connection from the beginning.
            Problem: a view does not exist or may not be followed.
        """
        return self.follow([(view, None) for view in views])

    def follow(self, views: Sequence[tuple[str, int | None]]) -> Iterator[ViewNews]:
        """Walks what is heard of views, each with how many of its columns are shown."""
        return Follower(self._open_socket, self.rest.url, views).news()

    def _open_socket(self) -> ClientConnection:
        cookies = self.rest.cookies_for(SOCKET)
        return connect(
            re.sub(r"^http", "ws", self.rest.url) + SOCKET,
            additional_headers={"Cookie": cookies} if cookies else None,
            open_timeout=self.rest.timeout_s,
            close_timeout=1.0,
            ping_interval=None,  # the server beats
            max_size=FRAME_LIMIT_BYTES,
        )

    # -- walks -------------------------------------------------------------------------------

    def route(self, from_: int | str, to: str, *, step_free: bool = False) -> RunningWalk:
        """Asks the way to the nearest of what answers a goal.

        Args:
            from_: a walking point's number, a kiosk's id, or a room's id or name.
            to: free-machine:LaTeX, machine:<mid>, room:<rid>, or the slug of a destination.
            step_free: whether without stairs.

        Raises:
            Problem: no such place or goal; or how many walks one may have.
        """
        body = {"node": self.node_of(from_), "goal": to, "step_free": step_free}
        return RunningWalk(self, typed(WalkEntry, self.rest.post("routes/", body)))

    def node_of(self, place: int | str) -> int:
        """Returns the walking point of a place, as `route` takes it.

        Raises:
            Problem: there is no such place, or several have this name.
        """
        if isinstance(place, int):
            return place
        return node_at(place, self.building().kiosks, self.rooms())

    # -- the building ------------------------------------------------------------------------

    def building(self) -> BuildingEntry:
        """Returns the building, its floors, kiosks and software."""
        return typed(BuildingEntry, self.rest.get("building/"))

    def rooms(self) -> Iterator[RoomEntry]:
        """Walks the rooms, corridors, staircases and lifts, floor by floor."""
        for level in self.building().levels:
            plan = typed(PlanUnits, self.rest.get(f"levels/{segment(level.id)}/plan/"))
            for unit in plan.units:
                yield typed(RoomEntry, {**unit, "level_id": level.id})

    def machines(
        self, *, rid: str | None = None, level_id: str | None = None, software: str | None = None
    ) -> Iterator[MachineEntry]:
        """Walks the machines; those in a room, on a floor, or with some software."""
        yield from self._listed(
            MachineEntry, "machines/", rid=rid, level_id=level_id, software=software
        )

    def doors(
        self, *, level_id: str | None = None, state: str | None = None
    ) -> Iterator[DoorEntry]:
        """Walks the doors; those on a floor, or in a state."""
        yield from self._listed(DoorEntry, "doors/", level_id=level_id, state=state)

    def sensors(
        self, *, kind: str | None = None, rid: str | None = None, mid: str | None = None
    ) -> Iterator[SensorEntry]:
        """Walks the sensors; those of a kind, in a room, or at a machine."""
        yield from self._listed(SensorEntry, "sensors/", kind=kind, rid=rid, mid=mid)

    def status(self) -> ServerStatus:
        """Returns how the engine is."""
        return typed(ServerStatus, self.rest.get("status/"))

    def _listed(self, entry: type[T], path: str, /, **filters: str | None) -> Iterator[T]:
        for body in self.rest.pages(path, page_size=PAGE_SIZE, **filters):
            yield typed(entry, body)

    def import_building(
        self,
        path: str | Path,
        *,
        add: bool = False,
        preview: bool = False,
        replace: bool = False,
    ) -> RunningImport:
        """Imports a building's file.

        Args:
            path: of a file, or an archive; any format that the server reads.
            add: whether its building comes beside those that are there.
            preview: only read it; the handle accepts or discards it.
            replace: whether another building may be removed, with all that stands in it.

        Raises:
            Problem: it holds no building, or would remove one; or who may not.
        """
        brought = upload(self.rest, Path(path), add=add)
        if not preview:
            brought.accept(replace=replace)
        return brought

    def import_inventory(
        self, path: str | Path, *, preview: bool = False, remove: bool = False
    ) -> InventoryFindings:
        """Imports a table of machines, sensors or rooms; what is refused of it changes nothing.

        Args:
            path: of a CSV file.
            preview: only say what would change.
            remove: whether machines or sensors go that the table does not name.

        Raises:
            Problem: it is no such table; or who may not.
        """
        found = self.rest.upload(
            *("inventory/", Path(path)), preview=preview, remove=remove, twice=True
        )
        return typed(InventoryFindings, found)

    # -- readings ----------------------------------------------------------------------------

    def push(
        self, readings: Iterable[SensorReading | Mapping[str, Any]], *, key: str = ""
    ) -> PushedReadings:
        """Hands readings over, each once, however often it takes.

        Args:
            readings: sent as they come, 2,000 in a call, which is taken as a whole or not at all.
            key: names this push, so that a program that does it again adds nothing; by lot if
                empty.

        Raises:
            Problem: a call is refused; its notes say how many readings were taken before.
            NoConnection: nobody answered until patience was over.
        """
        return push(self.rest, readings, key)
