"""How an epoch's changes lie in Redis: a JSON text that script, sink and readers share.

    [change, …]     change = {"v": view, "d": [row, weight, row, weight, …],
                              "k"?: columns, "s"?: complete since, "x"?: closed, "e"?: error}

A row, an error and a time travel as JSON text in a string: the script uses the first as a hash
field and keeps the others untouched (Lua has one empty table for both `[]` and `{}`, and writes
fourteen digits of a number).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

from aspen.errors import AspenError
from aspen.model.arrays import row_in
from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.results.protocol import Epoch, EpochSnapshot, ViewChange

_AT_ONCE = 500  # rows: a third of a millisecond


class EpochsForgotten(AspenError, code="aspen.results.epochs_forgotten"):
    """A reader asks for epochs that are no longer kept, or that another history had."""

    @classmethod
    def before(cls, asked: int, floor: int) -> EpochsForgotten:
        """Say which epoch was asked for and from where on one can follow."""
        return cls(
            f"the epochs after {asked} are not all kept",
            found=str(asked),
            exists=(str(floor),),
            attempt="take a snapshot and follow from its epoch",
        )


class FencedOff(AspenError, code="aspen.results.fenced_off"):
    """A writer whose lease another one has taken over; its writes change nothing."""


class NotThere(AspenError, code="aspen.results.not_there"):
    """A store that stands elsewhere than where somebody wants to take it over."""


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def encode_row(row: Row) -> str:
    """Returns a row's canonical text."""
    return _compact(row)


def decode_rows(texts: Sequence[str]) -> Iterator[Row]:
    """Read rows back, so many at once that other threads have their turns between."""
    for start in range(0, len(texts), _AT_ONCE):
        yield from map(row_in, json.loads(f"[{','.join(texts[start : start + _AT_ONCE])}]"))


def encode_changes(changes: Sequence[ViewChange]) -> str:
    """Returns the text of an epoch's changes.

    Law: `decode_changes(encode_changes(c)) == tuple(c)`.
    """
    out: list[dict[str, Any]] = []
    for change in changes:
        flat: list[str | int] = []
        for row, weight in change.delta.items():
            flat += [encode_row(row), weight]
        item: dict[str, Any] = {"v": change.view, "d": flat}
        if change.columns:
            item["k"] = [list(column) for column in change.columns]
        if change.complete_since_s is not None:
            item["s"] = _compact(change.complete_since_s)
        if change.closed:
            item["x"] = True
        if change.error is not None:
            item["e"] = _compact(dict(change.error))
        out.append(item)
    return _compact(out)


class _Encoded(ViewChange):
    """A change whose rows are read when they are asked for: most readers follow a few views.

    Args:
        item: the change as it was sent.
    """

    def __init__(self, item: Mapping[str, Any]) -> None:
        self.__dict__.update(
            view=item["v"],
            columns=_columns(item.get("k", ())),
            closed=item.get("x", False),
            error=_error(item),
            complete_since_s=_since(item),
            _flat=item["d"],
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ViewChange) and all(
            getattr(self, one.name) == getattr(other, one.name) for one in fields(ViewChange)
        )

    __hash__ = None  # type: ignore[assignment]  # as of any change: rows have none

    @cached_property
    def delta(self) -> Delta:
        flat = self.__dict__.pop("_flat")
        return dict(zip(decode_rows(flat[::2]), flat[1::2], strict=True))

    @property
    def size(self) -> int:
        """How many different rows came or went; none is read for it."""
        flat = self.__dict__.get("_flat")
        return len(self.delta) if flat is None else len(flat) // 2


def _error(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return json.loads(item["e"]) if "e" in item else None


def _since(item: Mapping[str, Any]) -> float | None:
    return float(item["s"]) if "s" in item else None


def _columns(value: Sequence[Sequence[str]]) -> tuple[tuple[str, str, str], ...]:
    return tuple((column[0], column[1], column[2]) for column in value)


def decode_changes(text: str | bytes) -> tuple[ViewChange, ...]:
    """Read an epoch's changes back."""
    return tuple(_Encoded(item) for item in json.loads(text))


def decode_head(found: Sequence[bytes | None]) -> tuple[int, int, float]:
    """Read the newest epoch, its log position and its log time; zeroes before the first."""
    return int(found[0] or 0), int(found[1] or 0), float(found[2] or 0)


def decode_epochs(number: int, reply: Sequence[Any]) -> list[Epoch]:
    """Read the reply of the `SINCE` script.

    Raises:
        EpochsForgotten: `number` is below the floor or beyond the newest epoch.
    """
    epoch, floor, entries = reply
    if number < floor or number > epoch:
        raise EpochsForgotten.before(number, floor)
    return [
        _epoch(stream_id, dict(zip(fields[::2], fields[1::2], strict=True)))
        for stream_id, fields in entries
    ]


def _epoch(stream_id: bytes, fields: Mapping[bytes, bytes]) -> Epoch:
    """Read one epoch; `timing_ms` gains `sink`, from the start of the write to its end."""
    timing: dict[str, float] = json.loads(fields[b"ms"])
    written_ms = float(fields[b"w"])
    timing["written_at"] = written_ms
    if "sink_at" in timing:
        timing["sink"] = written_ms - timing["sink_at"]
    if "appended_at" in timing:
        timing["total"] = written_ms - timing["appended_at"]
    return Epoch(
        number=int(stream_id.split(b"-", 1)[0]),
        position=int(fields[b"p"]),
        at_s=float(fields[b"t"]),
        changes=decode_changes(fields[b"c"]),
        timing_ms=timing,
    )


def decode_snapshots(views: Sequence[str], reply: Sequence[Any]) -> dict[str, EpochSnapshot]:
    """Read the reply of the `SNAPSHOTS` script; views that are not there are left out."""
    epoch, position, at_s = decode_head(reply[0])
    snapshots: dict[str, EpochSnapshot] = {}
    for view, (definition, flat) in zip(views, reply[1:], strict=True):
        if definition is not None:
            body = json.loads(definition)
            found = decode_rows([row.decode() for row in flat[::2]])
            rows = dict(zip(found, map(int, flat[1::2]), strict=True))
            columns, error, since_s = _columns(body.get("k", ())), _error(body), _since(body)
            snapshots[view] = EpochSnapshot(
                view, epoch, position, at_s, columns, rows, error, since_s
            )
    return snapshots
