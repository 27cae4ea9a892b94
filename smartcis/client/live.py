"""Live: views followed over /ws/live/, through cuts, restarts and refusals.

Who watches sees each change once, in order, or is told of a gap and of what makes up for it:

subscribe ──► snapshot, delta, delta …   prev of each delta = epoch of what came before
cut       ──► gap, then subscribe since the last epoch: a delta of all that was missed,
              or a snapshot where the server has forgotten so much
silence   ──► the server beats every 5 s; after 12 s without a word it counts as a cut
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection

from smartcis.client.backoff import wait_s
from smartcis.client.changes import (
    ViewDelta,
    ViewEnded,
    ViewError,
    ViewGap,
    ViewNews,
    ViewSnapshot,
)
from smartcis.client.fold import Fold
from smartcis.client.problem import NoConnection, Problem
from smartcis.client.rows import Rows, RowsColumn, row_type
from smartcis.client.typed import typed

PROTOCOL = 1
SILENCE_LIMIT_S = 12.0
SHORTEST_WAIT_S = 0.01
FINAL = (
    "smartcis.live.bad_message",
    "smartcis.live.forbidden",
    "smartcis.live.too_many_subscriptions",
    "smartcis.live.unknown_view",
)
"""Codes after which a subscription is never answered."""
LATER_S = {"smartcis.live.unavailable": 5.0}
"""Codes after which one is worth another attempt, though the server says not when."""


@dataclass
class Followed:
    """One view that is followed.

    Args:
        view: a view's name, or a query's id.
        width: how many columns are shown; None for all.
        number: of the subscription; None while there is none.
        due_s: by the monotonic clock, when to subscribe again; None for not at all.
        resumed: whether the server was asked for what happened since, and has not answered.
    """

    view: str
    width: int | None = None
    fold: Fold = field(default_factory=Fold)
    number: int | None = None
    due_s: float | None = None
    resumed: bool = False

    def names(self) -> tuple[str, ...]:
        """Returns the names of the columns that are shown."""
        return tuple(column.name for column in self.fold.columns[: self.width])


class Follower:
    """Follows views over one socket at a time.

    Args:
        connect: opens a socket.
        url: named in problems.
        views: each with how many of its columns are shown, None for all.
    """

    def __init__(
        self,
        connect: Callable[[], ClientConnection],
        url: str,
        views: Sequence[tuple[str, int | None]],
    ) -> None:
        self._connect = connect
        self._url = url
        self._followed = [Followed(*one) for one in views]
        self._by_number: dict[int | None, Followed] = {}
        self._next = 0
        self._answered = False
        self._attempt = 0
        self._wait_at_least_s = 0.0

    def news(self) -> Iterator[ViewNews]:
        """Walks what is heard, for ever; leaving closes the socket.

        Raises:
            NoConnection: there was none from the beginning.
            Problem: a view does not exist or may not be followed, or the server speaks another
                version of the protocol.
        """
        while True:
            try:
                with self._connect() as socket:
                    self._by_number.clear()
                    for one in self._followed:
                        self._subscribe(socket, one)
                    for message in self._messages(socket):
                        self._answered = True
                        yield from self._take(socket, message)
            except (WebSocketException, OSError) as cut:
                if not self._answered:
                    raise _refusal(self._url, cut) from cut
                pause_s = max(self._wait_at_least_s, _retry_after_s(cut), wait_s(self._attempt))
                self._attempt += 1
                self._wait_at_least_s = 0.0
                yield ViewGap("", f"the connection was lost: {cut}", pause_s)
                sleep(pause_s)

    def _messages(self, socket: ClientConnection) -> Iterator[Mapping[str, Any]]:
        heard_s = monotonic()
        while True:
            now_s = monotonic()
            if now_s - heard_s > SILENCE_LIMIT_S:
                raise TimeoutError(f"not a word for {SILENCE_LIMIT_S:g} s")
            for one in self._followed:
                if one.due_s is not None and one.due_s <= now_s:
                    self._subscribe(socket, one)
            due_s = [one.due_s for one in self._followed if one.due_s is not None]
            until_s = min([heard_s + SILENCE_LIMIT_S, *due_s])
            try:
                text = socket.recv(timeout=max(SHORTEST_WAIT_S, until_s - now_s))
            except TimeoutError:
                continue
            heard_s = monotonic()
            try:
                yield json.loads(text)
            except ValueError:
                raise _odd(text) from None

    def _subscribe(self, socket: ClientConnection, one: Followed) -> None:
        """Asks for a view; for what happened since, where its rows are known."""
        self._by_number.pop(one.number, None)
        self._next += 1
        one.number, one.due_s, one.resumed = self._next, None, bool(one.fold.epoch)
        self._by_number[self._next] = one
        message = {"type": "subscribe", "id": self._next, "view": one.view}
        since = {"since": one.fold.epoch} if one.resumed else {}
        socket.send(json.dumps({**message, **since}))

    def _renew(self, socket: ClientConnection, one: Followed) -> None:
        """Asks again under a fresh number, so that nothing in flight is taken for the answer."""
        socket.send(json.dumps({"type": "unsubscribe", "id": one.number}))
        self._subscribe(socket, one)

    def _take(self, socket: ClientConnection, message: Mapping[str, Any]) -> Iterator[ViewNews]:
        try:
            one = self._by_number.get(message.get("id"))
            match message["type"]:
                case "welcome":
                    self._check(message["protocol"])
                case "snapshot" if one is not None:
                    yield _snapshot(one, message)
                case "delta" if one is not None:
                    news = _delta(one, message)
                    if isinstance(news, ViewGap):
                        yield news
                        self._renew(socket, one)
                    elif news is not None:
                        yield news
                case "closed" if one is not None:
                    yield ViewEnded(one.view)
                case "error":
                    yield self._refused(one, Problem.of(message))
                case _:
                    pass  # the heartbeat, an answer to what was given up, or news of a later server
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise _odd(json.dumps(message)) from fault

    def _check(self, spoken: object) -> None:
        if spoken != PROTOCOL:
            raise Problem(
                f"the server speaks version {spoken} of the live protocol",
                code="smartcis.client.protocol",
                found=str(spoken),
                exists=[str(PROTOCOL)],
                attempt="bring client and server to the same version",
            )
        self._attempt = 0

    def _refused(self, one: Followed | None, problem: Problem) -> ViewError:
        if problem.code in FINAL:
            raise problem
        again_s = LATER_S.get(problem.code, problem.retry_s)
        if again_s is not None:
            if one is None:
                self._wait_at_least_s = again_s
            else:
                one.due_s = monotonic() + again_s
        return ViewError("" if one is None else one.view, problem)


def _snapshot(one: Followed, message: Mapping[str, Any]) -> ViewSnapshot:
    stands = {name: message[name] for name in ("epoch", "position", "at_s", "complete_since_s")}
    columns = [typed(RowsColumn, column) for column in message["columns"]]
    one.fold.take(ViewSnapshot(one.view, Rows(columns, message["rows"], **stands)))
    one.resumed = False
    shown = (row[: one.width] for row in message["rows"])
    return ViewSnapshot(one.view, Rows(columns[: one.width], shown, **stands))


def _delta(one: Followed, message: Mapping[str, Any]) -> ViewDelta | ViewGap | None:
    """Folds a delta in; returns None where it has been seen."""
    changes = [(weight, tuple(row)) for weight, *row in message["changes"]]
    epoch = message["epoch"]
    seen = epoch <= one.fold.epoch
    if seen and not one.resumed:
        return None
    one.resumed = False
    if not seen and message["prev"] != one.fold.epoch:
        reason = f"a change continues epoch {message['prev']}, and the rows are of {one.fold.epoch}"
        return ViewGap(one.view, reason, 0.0)
    if seen:
        changes = []
    elif not one.fold.add(changes):
        one.fold.epoch = 0  # what is here is wrong, and only a snapshot mends it
        return ViewGap(one.view, "a change takes rows that are not there", 0.0)
    one.fold.epoch = epoch
    kind = row_type(one.names())
    shown = tuple((weight, kind(*row[: one.width])) for weight, row in changes)
    return ViewDelta(one.view, shown, epoch, message["position"], message["at_s"])


def _retry_after_s(cut: Exception) -> float:
    if isinstance(cut, InvalidStatus):
        after = cut.response.headers.get("Retry-After", "")
        return float(after) if after.isdecimal() else 0.0
    return 0.0


def _refusal(url: str, cut: Exception) -> Problem:
    """Returns why a socket could not be opened at all."""
    if not isinstance(cut, InvalidStatus):
        return NoConnection(url, str(cut) or type(cut).__name__)
    status = cut.response.status_code
    return Problem(
        f"{url} answers {status} to a WebSocket",
        status=status,
        code="smartcis.client.no_socket",
        attempt="check the address; a proxy in between has to let WebSockets through",
        retry_s=_retry_after_s(cut) or None,
    )


def _odd(text: str | bytes) -> Problem:
    return Problem(
        "what was heard is no message of the live protocol",
        code="smartcis.client.odd_answer",
        found=str(text[:80]),
        attempt="bring client and server to the same version",
    )
