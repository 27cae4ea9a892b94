"""Rounds: what the lanes of a split recursion tell each other, as further input of each of them.

    data      e41 e42 ─────────────── e43
    rounds            r7 ── r8                  each belongs to the log position it stands behind

A round has, per recursion and lane, the net change of the border rows that would leave that lane.
It is JSON like an entry; it lies beside the log, for it is made from the log and not by writers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aspen.log.entry import BadEntry, Entry, Unreadable
from aspen.model.delta import Delta

ROUND = b'{"k":"b",'
"""How every round begins, and no entry of the log."""

Told = Mapping[str, Delta]
"""By recursion: what came to the rows that leave a lane, and what went."""


@dataclass(frozen=True, slots=True)
class Round:
    """One exchange between all lanes.

    Args:
        at_s: log time of the newest entry before it.
        number: counts all rounds there ever were, from 1.
        told: by lane.
    """

    at_s: float
    number: int
    told: tuple[Told, ...]


Step = Entry | Round | Unreadable
"""What a lane applies."""


def encode_told(told: Told) -> str:
    """Returns what one lane tells as text; of a lane that tells nothing, nothing.

    >>> encode_told({"walk": {(1, None): 1}})
    '{"walk":[[1,1,null]]}'
    """
    if not told:
        return ""
    body = {name: [[w, *row] for row, w in delta.items()] for name, delta in told.items()}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def encode_round(at_s: float, number: int, told: Sequence[str]) -> bytes:
    """Put what all lanes told together, without reading it."""
    lanes = ",".join(text or "{}" for text in told)
    return f'{{"k":"b","t":{json.dumps(at_s)},"n":{number},"l":[{lanes}]}}'.encode()


def decode_round(data: bytes) -> Round:
    """Read a round back.

    Raises:
        BadEntry: it is none.
    """
    try:
        body = json.loads(data)
        told = tuple(
            {name: {tuple(row[1:]): row[0] for row in rows} for name, rows in lane.items()}
            for lane in body["l"]
        )
        return Round(body["t"], body["n"], told)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadEntry(f"not a round: {error}", found=repr(data[:80])) from error
