"""Device streams: the relations that motes fill, each from one kind of sensor; who reads them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from aspen.algebra.plan import Scan, relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.model.schema import Column, Relation
from aspen.motes.kinds import device_kind
from sensors_sim.motes import DeviceStream
from smartcis.catalog import STREAMS


def _device_stream(relation: Relation) -> DeviceStream:
    value = device_kind(relation.device).measures
    measured = ("tag", value) if "tag" in relation.names else (value,)
    return DeviceStream(relation, measured, decimals={value: device_kind(relation.device).decimals})


DEVICE_STREAMS: Mapping[str, DeviceStream] = {
    relation.name: _device_stream(relation)
    for relation in STREAMS
    if relation.device and device_kind(relation.device).on_air
}
_STREAM_OF = {stream.relation.device: name for name, stream in DEVICE_STREAMS.items()}


def on_air(kind: str) -> bool:
    """Returns whether a sensor of this kind is a mote."""
    return kind in _STREAM_OF


def stream_of(kind: str) -> str:
    """Returns the stream a kind of mote fills."""
    return _STREAM_OF[kind]


def whole_stream(relation: Relation) -> Scan:
    """Returns the plan that asks for every row of a stream."""
    columns = tuple(
        Column(f"s.{one.name}", one.type, one.unit, one.nullable) for one in relation.columns
    )
    return Scan(relation.name, "s", columns, stream=True)


DEVICE_NAMES = frozenset(relation.name for relation in STREAMS if relation.device)


@lru_cache(maxsize=8192)  # every submitted query is looked at again and again
def reads_of(plan_text: str) -> frozenset[str]:
    """Returns the relations and views a plan reads; none if its text is of an older version."""
    try:
        return frozenset(relations_of(read_plan(plan_text)))
    except AspenError:
        return frozenset()


def streams_of(plan_text: str) -> frozenset[str]:
    """Returns the device streams a plan reads row by row, not through views or the network."""
    return reads_of(plan_text) & DEVICE_NAMES
