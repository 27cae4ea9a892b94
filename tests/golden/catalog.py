"""The building's relations, as the golden queries know them."""

from __future__ import annotations

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type

_TYPES = {"T": Type.TEXT, "I": Type.INT, "F": Type.FLOAT, "B": Type.BOOL}


def _columns(text: str) -> tuple[Column, ...]:
    """Read `mid:T weight_kg:F:kg door_id:T?`: name, type, perhaps a unit, `?` where nullable."""
    columns = []
    for word in text.split():
        name, kind, *unit = word.removesuffix("?").split(":")
        columns.append(Column(name, _TYPES[kind], unit[0] if unit else "", word.endswith("?")))
    return tuple(columns)


def _table(name: str, columns: str, *key: str, deletable: bool = True) -> Relation:
    return Relation(name, _columns(columns), SourceKind.TABLE, key, deletable)


def _stream(device: str, columns: str, *key: str, rate_hz: float) -> Relation:
    name = f"{device}_reading"
    return Relation(name, _columns(columns), SourceKind.STREAM, key, device=device, rate_hz=rate_hz)


def _view(name: str, columns: str) -> Relation:
    return Relation(name, _columns(columns), SourceKind.VIEW)


CATALOG = Catalog.of(
    [
        _table("level", "level_id:T ordinal:I name:T", deletable=False),
        _table("room", "rid:T level_id:T name:T category:T", deletable=False),
        _table("routing_node", "node:I level_id:T rid:T x_m:F y_m:F", deletable=False),
        _table(
            "routing_edge",
            "src:I dst:I length_mm:I step_free:B way:T door_id:T?",
            deletable=False,
        ),
        _table("door", "door_id:T state:T x_m:F y_m:F level_id:T", "door_id"),
        _table("machine", "mid:T host:T rid:T node:I level_id:T x_m:F y_m:F", "mid"),
        _table("machine_software", "mid:T software:T"),
        _table(
            "reservation", "reservation_id:I rid:T start_s:F:s end_s:F:s title:T", "reservation_id"
        ),
        _table(
            "sensor", "sid:T kind:T rid:T mid:T? node:I level_id:T x_m:F y_m:F simulated:B", "sid"
        ),
        _table("region_seed", "region_id:T sid:T"),
        _table("kiosk", "kiosk_id:T name:T node:I level_id:T x_m:F y_m:F", "kiosk_id"),
        _table("route_request", "session:T node:I software:T step_free:B", "session"),
        _table("clock", "now_s:F:s"),
        _stream("seat", "mid:T sid:T weight_kg:F:kg at_s:F:s", "mid", rate_hz=20.0),
        _stream("light", "rid:T sid:T lux:F:lx at_s:F:s", "sid", rate_hz=5.0),
        _stream("temperature", "sid:T rid:T celsius:F:°C at_s:F:s", "sid", rate_hz=2.0),
        _stream("cpu", "mid:T sid:T cpu_pct:F:% at_s:F:s", "mid", rate_hz=20.0),
        _stream("rfid", "tag:T sid:T node:I rssi_dbm:F:dBm at_s:F:s", "tag", rate_hz=8.0),
        _view("open_room", "rid:T"),
        _view("passable", "src:I dst:I length_mm:I step_free:B way:T"),
        _view("triggered_sensor", "sid:T"),
        _view("near_sensor", "sid:T other:T distance_m:F:m"),
    ]
)
