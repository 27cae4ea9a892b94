"""Supersteps: what the lanes of a split recursion send each other, as further input.

    data        e41 e42 ─────────────── e43
    supersteps          s7 ── s8             each belongs to the log position before it

A superstep has, per recursion and lane, the net change of the border rows that would leave the
lane. It is JSON like an entry, and lies beside the log since it is made from the log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aspen.log.entry import BadEntry, Entry, Unreadable
from aspen.model.delta import Delta, delta_in, delta_out

SUPERSTEP = b'{"k":"b",'
"""How every superstep begins, and no entry of the log."""

Sent = Mapping[str, Delta]
"""By recursion: what came to the rows that leave a lane, and what went."""


@dataclass(frozen=True, slots=True)
class Superstep:
    """One exchange between all lanes.

    Args:
        at_s: log time of the newest entry before it.
        number: counts all supersteps there ever were, from 1.
        sent: by lane.
    """

    at_s: float
    number: int
    sent: tuple[Sent, ...]


Step = Entry | Superstep | Unreadable
"""What a lane applies."""


def encode_sent(sent: Sent) -> str:
    """Returns what one lane sends as text; of a lane that sends nothing, nothing.

    >>> encode_sent({"walk": {(1, None): 1}})
    '{"walk":[[1,1,null]]}'
    """
    if not sent:
        return ""
    body = {name: delta_out(delta) for name, delta in sent.items()}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def encode_superstep(at_s: float, number: int, sent: Sequence[str]) -> bytes:
    """Put what all lanes sent together, without reading it."""
    lanes = ",".join(text or "{}" for text in sent)
    return f'{{"k":"b","t":{json.dumps(at_s)},"n":{number},"l":[{lanes}]}}'.encode()


def decode_superstep(data: bytes) -> Superstep:
    """Read a superstep back.

    Raises:
        BadEntry: it is none.
    """
    try:
        body = json.loads(data)
        sent = tuple({name: delta_in(rows) for name, rows in lane.items()} for lane in body["l"])
        return Superstep(body["t"], body["n"], sent)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadEntry(f"not a superstep: {error}", found=repr(data[:80])) from error
