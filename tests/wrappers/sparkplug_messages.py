"""Messages of Sparkplug B, as an edge node publishes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from smartcis.wrappers.payloads.sparkplug import Payload

NODE = "edge-1"


def encoded(metrics: Iterable[Mapping[str, Any]], timestamp: int | None = None) -> bytes:
    """The bytes of a payload."""
    payload = Payload()
    if timestamp is not None:
        payload.timestamp = timestamp
    for metric in metrics:
        unit = metric.get("unit")
        one = payload.metrics.add(**{name: metric[name] for name in metric if name != "unit"})
        if unit is not None:
            one.properties.keys.append("engUnit")
            one.properties.values.add(string_value=unit)
    return payload.SerializeToString()


def births(now_s: float) -> list[tuple[str, bytes]]:
    """The births of a node with a temperature, and of a device with two metrics."""
    now_ms = round(now_s * 1000)
    node = encoded(
        [
            {"name": "bdSeq", "datatype": 8, "long_value": 0},
            {"name": "Node Control/Rebirth", "datatype": 11, "boolean_value": False},
            {"name": "temperature", "alias": 3, "datatype": 3, "int_value": 2**32 - 5},
        ],
        timestamp=now_ms,
    )
    device = encoded(
        [
            {
                "name": "hall/Pressure",
                "alias": 7,
                "datatype": 9,
                "float_value": 101.3,
                "unit": "kPa",
                "timestamp": now_ms,
            },
            {
                "name": "Occupancy",
                "alias": 8,
                "datatype": 11,
                "boolean_value": True,
                "timestamp": now_ms - 2_000,
            },
            {"name": "Operator", "alias": 9, "datatype": 12},
        ],
        timestamp=now_ms,
    )
    return [
        (f"spBv1.0/plant/NBIRTH/{NODE}", node),
        (f"spBv1.0/plant/DBIRTH/{NODE}/air", device),
    ]
