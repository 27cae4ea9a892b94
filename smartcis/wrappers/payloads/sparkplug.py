"""Sparkplug B: `spBv1.0/<group>/<type>/<node>[/<device>]`, metrics in protobuf.

    NBIRTH, DBIRTH    name → alias, unit        every metric of a node or device, with its value
    NDATA, DDATA      alias → value             those that changed

Law:        an alias means what the node's last birth said; data with one that no birth heard here
            named is refused, and the next birth heals it.
Decoder:    the protobuf package, which Spark needs anyway, with the few fields of the
            specification that are read declared below; the package skips all others, and its
            parser has met more hostile bytes than one of our own ever would.
Source:     Sparkplug 3.0.0, sections 6.4 and 8.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as Decoded
from google.protobuf.message_factory import GetMessageClass

from smartcis.wrappers.errors import BadBrokerMessage
from smartcis.wrappers.payloads.fields import field_named, turned
from smartcis.wrappers.payloads.protocol import PAYLOAD_BYTES, Message, Stateless
from smartcis.wrappers.payloads.times import count_s
from smartcis.wrappers.protocol import Measured

PREFIX = "spBv1.0"
KINDS = ("NBIRTH", "DBIRTH", "NDATA", "DDATA", "NDEATH")
METRICS = 20_000  # remembered of one source
SIGNED = {1: 32, 2: 32, 3: 32, 4: 64}  # data types Int8 … Int64, and the bits they are sent in
MS_PER_S = 1_000.0

_Field = FieldDescriptorProto
# message → field: number, type, message type, repeated
_DECLARED: dict[str, dict[str, tuple[int, int, str, bool]]] = {
    "PropertyValue": {"string_value": (8, _Field.TYPE_STRING, "", False)},
    "PropertySet": {
        "keys": (1, _Field.TYPE_STRING, "", True),
        "values": (2, _Field.TYPE_MESSAGE, "PropertyValue", True),
    },
    "Metric": {
        "name": (1, _Field.TYPE_STRING, "", False),
        "alias": (2, _Field.TYPE_UINT64, "", False),
        "timestamp": (3, _Field.TYPE_UINT64, "", False),
        "datatype": (4, _Field.TYPE_UINT32, "", False),
        "is_historical": (5, _Field.TYPE_BOOL, "", False),
        "is_null": (7, _Field.TYPE_BOOL, "", False),
        "properties": (9, _Field.TYPE_MESSAGE, "PropertySet", False),
        "int_value": (10, _Field.TYPE_UINT32, "", False),
        "long_value": (11, _Field.TYPE_UINT64, "", False),
        "float_value": (12, _Field.TYPE_FLOAT, "", False),
        "double_value": (13, _Field.TYPE_DOUBLE, "", False),
        "boolean_value": (14, _Field.TYPE_BOOL, "", False),
    },
    "Payload": {
        "timestamp": (1, _Field.TYPE_UINT64, "", False),
        "metrics": (2, _Field.TYPE_MESSAGE, "Metric", True),
        "seq": (3, _Field.TYPE_UINT64, "", False),
    },
}
VALUES = ("int_value", "long_value", "float_value", "double_value", "boolean_value")


def _payload_class() -> Any:
    file = FileDescriptorProto(name="sparkplug_b.proto", package="sparkplug", syntax="proto2")
    for name, fields in _DECLARED.items():
        message: DescriptorProto = file.message_type.add(name=name)
        for field, (number, kind, of, repeated) in fields.items():
            declared = message.field.add(name=field, number=number)
            declared.type = kind
            declared.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if of:
                declared.type_name = f".sparkplug.{of}"
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("sparkplug.Payload"))


Payload = _payload_class()
"""The class of decoded payloads."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What a birth says of a metric."""

    device: str
    name: str
    datatype: int
    unit: str


class SparkplugB(Stateless):
    """Edge nodes and the devices behind them."""

    key: ClassVar[str] = "sparkplug"
    label: ClassVar[str] = "Sparkplug B"
    filters: ClassVar[tuple[str, ...]] = ("spBv1.0/#",)

    def __init__(self) -> None:
        # Aliases are the node's, whichever of its devices has the metric.
        self._nodes: dict[tuple[str, str], dict[int | str, Metric]] = {}

    def recognises(self, message: Message) -> bool:
        """Returns whether the topic is in Sparkplug's name space."""
        return message.topic.startswith(f"{PREFIX}/")

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns the metrics that are known quantities; see `Family`."""
        match message.levels:
            case [_, group, kind, node, *device] if kind in KINDS and len(device) < 2:  # noqa: PLR2004
                pass
            case _:
                return ()  # commands, states of hosts
        if kind == "NDEATH":
            self._nodes.pop((group, node), None)
            return ()
        payload = _decoded(message.data)
        if kind == "NBIRTH":
            self._nodes[group, node] = {}
        known = self._nodes.setdefault((group, node), {})
        place = "/".join((group, node, *device))
        if kind.endswith("BIRTH"):
            self._name(known, place, payload)
        sent_s = count_s(payload.timestamp, MS_PER_S)
        return [
            measured
            for one in payload.metrics
            if not one.is_null and not one.is_historical
            for measured in _measured(one, _metric(one, known, place), sent_s)
        ]

    def _name(self, known: dict[int | str, Metric], place: str, payload: Any) -> None:
        if sum(map(len, self._nodes.values())) + 2 * len(payload.metrics) > METRICS:
            raise BadBrokerMessage(f"more than {METRICS} metrics", found=place)
        for one in payload.metrics:
            metric = Metric(place, one.name, one.datatype, _unit(one))
            known[f"{place}/{one.name}"] = metric
            if one.HasField("alias"):
                known[one.alias] = metric


def _decoded(data: bytes) -> Any:
    if len(data) > PAYLOAD_BYTES:
        raise BadBrokerMessage("the payload is too long", found=f"{len(data)} bytes")
    payload: Decoded = Payload()
    try:
        payload.ParseFromString(data)
    except (DecodeError, ValueError, RecursionError) as error:
        raise BadBrokerMessage(f"no payload of Sparkplug B: {error}") from error
    return payload


def _metric(one: Any, known: dict[int | str, Metric], place: str) -> Metric:
    if one.name:
        return known.get(f"{place}/{one.name}") or Metric(place, one.name, one.datatype, _unit(one))
    if one.alias in known:
        return known[one.alias]
    raise BadBrokerMessage(
        f"no birth heard here named alias {one.alias} of {place}",
        found=str(one.alias),
        attempt="let the node publish its birth again (Node Control/Rebirth)",
    )


def _measured(one: Any, metric: Metric, sent_s: float | None) -> Iterator[Measured]:
    *folders, name = metric.name.split("/")
    field = field_named(name)
    filled = [which for which in VALUES if one.HasField(which)]
    if field is None or not filled:
        return
    value = float(getattr(one, filled[0]))
    bits = SIGNED.get(one.datatype or metric.datatype, 0)
    if bits and filled[0] in VALUES[:2] and value >= 2 ** (bits - 1):
        value -= 2.0**bits
    if not math.isfinite(value):
        return
    at_s = count_s(one.timestamp, MS_PER_S) or sent_s
    device = "/".join((metric.device, *folders))
    yield Measured(device, field.quantity, turned(field, value), metric.unit or field.unit, at_s)


def _unit(one: Any) -> str:
    """Returns the property engUnit, which Ignition and others send with a birth."""
    for key, value in zip(one.properties.keys, one.properties.values, strict=False):
        if key.lower() in ("engunit", "unit", "units"):
            return str(value.string_value)
    return ""
