"""How an epoch's changes lie in Redis: a JSON text that script, sink and readers share.

    [change, …]     change = {"v": view, "d": [row, weight, row, weight, …],
                              "k"?: columns, "x"?: closed, "e"?: error}

A row, and an error, travel as JSON text in a string: the script uses the one as a hash field and
keeps the other untouched (Lua has one empty table for both `[]` and `{}`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aspen.errors import AspenError
from aspen.model.schema import Row
from aspen.results.protocol import Epoch, Snapshot, ViewChange


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


def decode_row(text: str | bytes) -> Row:
    """Read a row back."""
    return tuple(json.loads(text))


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
        if change.closed:
            item["x"] = True
        if change.error is not None:
            item["e"] = _compact(dict(change.error))
        out.append(item)
    return _compact(out)


def _change(item: Mapping[str, Any]) -> ViewChange:
    flat = item["d"]
    return ViewChange(
        view=item["v"],
        delta={decode_row(row): weight for row, weight in zip(flat[::2], flat[1::2], strict=True)},
        columns=_columns(item.get("k", ())),
        closed=item.get("x", False),
        error=_error(item),
    )


def _error(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return json.loads(item["e"]) if "e" in item else None


def _columns(value: Sequence[Sequence[str]]) -> tuple[tuple[str, str, str], ...]:
    return tuple((column[0], column[1], column[2]) for column in value)


def decode_changes(text: str | bytes) -> tuple[ViewChange, ...]:
    """Read an epoch's changes back."""
    return tuple(_change(item) for item in json.loads(text))


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


def decode_snapshots(views: Sequence[str], reply: Sequence[Any]) -> dict[str, Snapshot]:
    """Read the reply of the `SNAPSHOTS` script; views that are not there are left out."""
    epoch, position, at_s = decode_head(reply[0])
    snapshots: dict[str, Snapshot] = {}
    for view, (definition, flat) in zip(views, reply[1:], strict=True):
        if definition is not None:
            body = json.loads(definition)
            pairs = zip(flat[::2], flat[1::2], strict=True)
            rows = {decode_row(row): int(weight) for row, weight in pairs}
            columns, error = _columns(body.get("k", ())), _error(body)
            snapshots[view] = Snapshot(view, epoch, position, at_s, columns, rows, error)
    return snapshots
