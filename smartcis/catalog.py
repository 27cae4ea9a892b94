"""The base relations, as `catalog.streamsql` and the kinds of sensor declare them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.motes.kinds import DEVICE_KINDS
from aspen.runtime.own_relations import SYSTEM_RELATIONS
from aspen.streamsql import parse

# Of the demo building's simulator, all sources together; the optimizer counts with them.
RATES_HZ = {
    "rfid_reading": 5.0,
    "reading": 1.0,
    "mote_status": 3.0,
    "query_power": 1.0,
    "source_heartbeat": 0.1,
    "pdu_power": 0.5,
    "host_load": 0.1,
    "host_process": 0.3,
    "engine_load": 0.1,
    "view_load": 1.0,
}


def _declared() -> dict[str, Relation]:
    """Reads the declarations; a comment may take several lines."""
    *kinds, last = (kind.key for kind in DEVICE_KINDS)
    text = Path(__file__).with_name("catalog.streamsql").read_text(encoding="utf-8")
    text = text.replace("{kinds}", f"{', '.join(kinds)} or {last}")
    relations = [one.relation for one in parse(text) if one.relation is not None]
    return {
        one.name: replace(
            one, comment=" ".join(one.comment.split()), rate_hz=RATES_HZ.get(one.name, 0.0)
        )
        for one in relations
    }


_DECLARED = _declared()
_OF_DEVICES = {kind.stream: _DECLARED.pop(kind.stream, kind.relation) for kind in DEVICE_KINDS}

STREAMS: tuple[Relation, ...] = (
    *_OF_DEVICES.values(),
    *(one for one in _DECLARED.values() if one.kind is SourceKind.STREAM),
)

SYS_EPOCHS = _DECLARED["sys_epochs"]
"""What costs time is measured outside the lanes, and reported through the log."""

SYSTEM: tuple[Relation, ...] = (*SYSTEM_RELATIONS, SYS_EPOCHS)
"""What the engine says of itself; `sys.queries` in a query is `sys_queries` here."""

CATALOG = Catalog.of((*_DECLARED.values(), *_OF_DEVICES.values(), *SYSTEM_RELATIONS))
