"""Brick: points, equipment and places of a building, as a graph in Turtle.

    vav_C180 ── hasPoint ──> temp_C180 a Zone_Temperature_Sensor
        └── feeds ──> hvac_zone_C180 ── hasPart ──> room_C180

Algorithm:  a point is where it says; else where its equipment is; else where that feeds; else where
            what its equipment is part of is. What measures air or water in ducts and pipes is only
            where it says. Namespaces are not looked at: versions differ in them.
Source:     brickschema.org, "Relationships"; own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from smartcis.importers.errors import BrokenFile, ImportTooLarge, NothingDrawn
from smartcis.importers.points.described import (
    MOST_POINTS,
    DescribedThing,
    Description,
    strange_classes,
)

CLASSES = (
    ("Reactive_Power_Sensor", ""),
    ("Dewpoint_Temperature_Sensor", ""),
    ("Temperature_Sensor", "temperature"),
    ("Humidity_Sensor", "humidity"),
    ("CO2_Sensor", "co2"),
    ("CO2_Level_Sensor", "co2"),
    ("TVOC_Sensor", "voc"),
    ("TVOC_Level_Sensor", "voc"),
    ("PM2.5_Sensor", "pm25"),
    ("PM2.5_Level_Sensor", "pm25"),
    ("PM10_Sensor", "pm10"),
    ("PM10_Level_Sensor", "pm10"),
    ("Occupancy_Sensor", "presence"),
    ("Motion_Sensor", "presence"),
    ("PIR_Sensor", "presence"),
    ("Illuminance_Sensor", "light"),
    ("Smoke_Detected_Alarm", "smoke"),
    ("Smoke_Detection_Alarm", "smoke"),
    ("Water_Leak_Alarm", "water"),
    ("Contact_Sensor", "door"),
    ("Atmospheric_Pressure_Sensor", "pressure"),
    ("Power_Sensor", "power"),
    ("Energy_Sensor", "consumption"),
    ("Energy_Usage_Sensor", "consumption"),
    ("Voltage_Sensor", "voltage"),
    ("Current_Sensor", "current"),
)
"""How the names of classes end, and the kind of sensor; the first that fits holds."""
UNITS = {
    "DEG_C": "°C",
    "DEG_F": "°F",
    "K": "K",
    "PERCENT": "%",
    "PERCENT_RH": "%",
    "PPM": "ppm",
    "PPB": "ppb",
    "LUX": "lx",
    "PA": "Pa",
    "HectoPA": "hPa",
    "KiloPA": "kPa",
    "W": "W",
    "KiloW": "kW",
    "MegaW": "MW",
    "W-HR": "Wh",
    "KiloW-HR": "kWh",
    "MegaW-HR": "MWh",
    "V": "V",
    "A": "A",
}
"""QUDT's names of units."""
AT = ("hasLocation", "isLocatedIn")
_PLACE = re.compile(r"(Room|Space|Office|Zone|Lab|Laboratory|Lobby|Hall|Hallway|Area|Kitchen)$")
_CARRIED = re.compile(
    r"Supply|Discharge|Mixed|Return|Exhaust|Outside|Preheat|Water|Coil|Entering|Leaving"
)
_SENSING = re.compile(r"_(Sensor|Alarm|Status)$")
_REFERENCES = ("hasTimeseriesId", "object-identifier", "object-name", "BACnetURI", "hasBacnetId")


@dataclass(slots=True)
class _Graph:
    """Statements by subject and object, with the names of relations alone."""

    ahead: dict[Any, dict[str, list[Any]]] = field(default_factory=dict)
    back: dict[Any, dict[str, list[Any]]] = field(default_factory=dict)

    def to(self, thing: Any, *names: str) -> list[Any]:
        return [one for name in names for one in self.ahead.get(thing, {}).get(name, ())]

    def from_(self, thing: Any, *names: str) -> list[Any]:
        return [one for name in names for one in self.back.get(thing, {}).get(name, ())]

    def classes(self, thing: Any) -> list[str]:
        return [_local(one) for one in self.to(thing, "type")]

    def is_place(self, thing: Any) -> bool:
        return any(_PLACE.search(one) for one in self.classes(thing))

    def names(self, thing: Any) -> tuple[str, ...]:
        said = [_local(thing), *(str(one) for one in self.to(thing, "label"))]
        return tuple(dict.fromkeys(said))


def read_brick(text: str) -> Description:
    """Reads a Brick model in Turtle.

    Raises:
        BrokenFile: it is no Turtle.
        NothingDrawn: it has no points.
        ImportTooLarge: it has more than a building has.
    """
    graph = _graph(text)
    points = [
        thing
        for thing in graph.ahead
        if graph.from_(thing, "hasPoint")
        or graph.to(thing, "isPointOf")
        or any(_SENSING.search(one) for one in graph.classes(thing))
    ]
    if not points:
        raise NothingDrawn("the model has no points", attempt="a point hasPoint, or is a …_Sensor")
    if len(points) > MOST_POINTS:
        raise ImportTooLarge(f"the model has {len(points)} points", exists=[f"up to {MOST_POINTS}"])
    things, strange = [], []
    for point in sorted(points, key=str):
        classes = graph.classes(point)
        kind = next((kind for one in classes for end, kind in CLASSES if one.endswith(end)), "")
        if kind:
            things.append(_thing(graph, point, kind))
        else:
            strange.append(classes[0] if classes else "a point without a class")
    return Description(tuple(things), tuple(strange_classes(strange)))


def _graph(text: str) -> _Graph:
    import rdflib  # noqa: PLC0415  # half a second that only who reads a model waits for

    found = _Graph()
    try:
        for subject, relation, thing in rdflib.Graph().parse(data=text, format="turtle"):
            name = _local(relation)
            found.ahead.setdefault(subject, {}).setdefault(name, []).append(thing)
            found.back.setdefault(thing, {}).setdefault(name, []).append(subject)
    except Exception as error:  # its parser raises whatever it stumbles over
        reason = " ".join(str(error).split())[:120]
        raise BrokenFile("the model is no Turtle", found=reason or type(error).__name__) from error
    return found


def _thing(graph: _Graph, point: Any, kind: str) -> DescribedThing:
    equipment = sorted(
        {*graph.to(point, "isPointOf"), *graph.from_(point, "hasPoint")},
        key=str,
    )
    names = list(graph.names(point))
    for reference in graph.to(point, "hasExternalReference"):
        names += map(str, graph.to(reference, *_REFERENCES))
    names += map(str, graph.to(point, *_REFERENCES))
    labels = graph.to(point, "label")
    units = [UNITS.get(_local(one), "") for one in graph.to(point, "hasUnit")]
    return DescribedThing(
        str(point),
        tuple(dict.fromkeys([str(point), *names])),
        str(labels[0]) if labels else _local(point),
        kind,
        next(filter(None, units), ""),
        tuple(graph.names(one) for one in _places(graph, point, equipment)),
        ", ".join(_local(one) for one in equipment),
    )


def _places(graph: _Graph, point: Any, equipment: list[Any]) -> list[Any]:
    """Returns the rooms that are nearest to a point; those of one way hide those of the next."""
    wholes = [
        whole
        for one in equipment
        for whole in (*graph.to(one, "isPartOf"), *graph.from_(one, "hasPart"))
    ]
    ways: Sequence[list[Any]] = (
        _located(graph, [point]),
        [one for one in equipment if graph.is_place(one)],
        _located(graph, equipment),
        [
            fed
            for one in equipment
            for fed in (*graph.to(one, "feeds"), *graph.from_(one, "isFedBy"))
            if graph.is_place(fed)
        ],
        [one for one in wholes if graph.is_place(one)],
        _located(graph, wholes),
    )
    if any(_CARRIED.search(one) for one in graph.classes(point)):
        ways = ways[:1]
    for way in ways:
        if places := sorted({room for one in way for room in _rooms(graph, one)}, key=str):
            return places
    return []


def _located(graph: _Graph, things: Iterable[Any]) -> list[Any]:
    return [
        place
        for one in things
        for place in (*graph.to(one, *AT), *graph.from_(one, "isLocationOf"))
    ]


def _rooms(graph: _Graph, place: Any) -> Iterator[Any]:
    """Returns the rooms of a zone, and any other place as it is."""
    if not any(one.endswith("Zone") for one in graph.classes(place)):
        yield place
        return
    parts = {*graph.to(place, "hasPart"), *graph.from_(place, "isPartOf")}
    wholes = {*graph.to(place, "isPartOf"), *graph.from_(place, "hasPart")}
    rooms = [one for one in parts or wholes if graph.is_place(one)]
    yield from rooms or [place]


def _local(term: Any) -> str:
    """Returns what stands behind the last `#` or `/`."""
    return re.split(r"[#/]", str(term).rstrip("#/"))[-1]
