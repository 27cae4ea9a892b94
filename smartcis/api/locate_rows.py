"""Locate rows: where in the building each row of a result lies.

row   m1, host-1      columns mid, host        where machine m1 stands
row   L0, 3.0, 4.0    level_id, x_m, y_m       there
row   21.4            celsius                  nowhere: no column says where
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db.models import Model

from aspen.model.schema import Row, Value
from smartcis.models import Door, Kiosk, Machine, RoutingNode, Sensor, Unit
from smartcis.models.source import PKS_AT_ONCE, batched

POINT = "point"
POINT_COLUMNS = ("level_id", "x_m", "y_m")
HIGHEST_ID = 2**63


@dataclass(frozen=True, slots=True)
class Location:
    """A point of the building.

    Args:
        x_m: east of the venue's south-west corner.
        y_m: north of it.
    """

    level_id: str
    x_m: float
    y_m: float


@dataclass(frozen=True, slots=True)
class Things:
    """Things whose ids are found in a column.

    Args:
        ids: the type of an id.
        fields: where a thing's level, x and y are kept.
    """

    model: type[Model]
    ids: type
    fields: tuple[str, str, str] = ("level_id", "x_m", "y_m")


# The column that names the smallest thing says where a row is.
THINGS: dict[str, Things] = {
    "mid": Things(Machine, str, ("unit__level_id", "x_m", "y_m")),
    "sid": Things(Sensor, str),
    "door_id": Things(Door, str),
    "kiosk_id": Things(Kiosk, str, ("node__level_id", "node__x_m", "node__y_m")),
    "node": Things(RoutingNode, int),
    "rid": Things(Unit, str, ("level_id", "label_x_m", "label_y_m")),
}
LOCATORS = (POINT, *THINGS)


def located_by(columns: Sequence[str]) -> str | None:
    """Returns what says where the rows of these columns are: a column's name, `point`, or None."""
    if set(POINT_COLUMNS) <= set(columns):
        return POINT
    return next((name for name in THINGS if name in columns), None)


def locator(columns: Sequence[str], rows: Iterable[Row]) -> Callable[[Row], Location | None]:
    """Returns the function that says where a row is.

    Args:
        rows: all it will be asked about; the things they name are read here, once.
    """
    by = located_by(columns)
    if by is None:
        return lambda _: None
    if by == POINT:
        level, x, y = (columns.index(name) for name in POINT_COLUMNS)
        return lambda row: _point(row[level], row[x], row[y])
    at = columns.index(by)
    locations = _locations(THINGS[by], {row[at] for row in rows})
    return partial(_named, locations, at)


def _named(locations: dict[Value, Location], at: int, row: Row) -> Location | None:
    return locations.get(row[at])


def _point(level: Value, x: Value, y: Value) -> Location | None:
    if not isinstance(level, str) or not _number(x) or not _number(y):
        return None
    return Location(level, float(x), float(y))  # type: ignore[arg-type]  # numbers, as just seen


def _number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_id(value: Value, ids: type) -> bool:
    """Returns whether a database can look a value up; an odd one names nothing anyway."""
    if type(value) is not ids:
        return False
    if isinstance(value, int):
        return abs(value) < HIGHEST_ID
    return "\0" not in str(value)


def _locations(things: Things, values: set[Value]) -> dict[Value, Location]:
    """Returns where the things of these ids are; whatever is no id is nowhere."""
    ids = [value for value in values if _is_id(value, things.ids)]
    found: dict[Value, Location] = {}
    for keys in batched(ids, PKS_AT_ONCE):
        rows = things.model._default_manager.filter(pk__in=keys)  # noqa: SLF001  # public despite its name
        for key, *location in rows.values_list("pk", *things.fields):
            found[key] = Location(*location)
    return found
