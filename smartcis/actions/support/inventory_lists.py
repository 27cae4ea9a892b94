"""Inventory lists: what the rows of each list say of machines, sensors and rooms.

Law: what `held` returns of a thing is what its row said, once the thing is made so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from aspen.errors import AspenError
from smartcis.actions.support.inventory_cells import (
    name_in_paths,
    number,
    programs,
    room_finder,
    text,
    yes_or_no,
)
from smartcis.errors import Invalid
from smartcis.importers.words import CATEGORIES, Role, meaning
from smartcis.models import Machine, SeenDevice, Sensor, Source, Unit
from smartcis.models.lookup import found
from smartcis.models.sensor_kinds import kind_named, sensor_kinds
from smartcis.sources.devices import sid_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Values = dict[str, Any]
Cells = Mapping[str, str]


class InventoryList(Protocol):
    """What can be listed."""

    def key(self, cells: Cells) -> str:
        """Returns the id of a row's thing."""

    def values(self, cells: Cells) -> Values:
        """Returns what a row says of its thing, by column; columns without a cell say nothing."""

    def held(self, key: str) -> Values | None:
        """Returns what is there, None if there is no such thing."""

    def others(self, keys: Iterable[str]) -> list[str]:
        """Returns the ids of things that are there and not among these.

        Raises:
            Invalid: such things cannot be removed.
        """


class InColumn(Exception):
    """An error, and the column whose cell is at fault."""

    def __init__(self, column: str, fault: AspenError) -> None:
        super().__init__(column)
        self.column, self.fault = column, fault


@contextmanager
def column(name: str) -> Iterator[None]:
    """Says of what is refused within that it is one column's."""
    try:
        yield
    except AspenError as fault:
        raise InColumn(name, fault) from fault


def _read(cells: Cells, readers: Mapping[str, Callable[[str], Any]]) -> Values:
    said: Values = {}
    for name, reader in readers.items():
        if name in cells:
            with column(name):
                said[name] = reader(cells[name])
    return said


def needed(cells: Mapping[str, Any], name: str, what: str) -> str:
    """Returns a cell, or its value.

    Raises:
        InColumn: it is empty.
    """
    with column(name):
        if name not in cells:
            raise Invalid(f"{what} is missing", attempt=f"fill in {name}")
        return str(cells[name])


class MachineList:
    """Machines by `mid`."""

    def __init__(self) -> None:
        self._readers: Mapping[str, Callable[[str], Any]] = {
            "host": str,
            "rid": room_finder(),
            "x_m": number,
            "y_m": number,
            "cpu_type": text,
            "software": programs,
            "simulated": yes_or_no,
        }

    def key(self, cells: Cells) -> str:
        """Returns the machine's id."""
        mid = needed(cells, "mid", "the machine's id")
        with column("mid"):
            return name_in_paths(mid)

    def values(self, cells: Cells) -> Values:
        """Returns what is said of the machine."""
        return _read(cells, self._readers)

    def held(self, key: str) -> Values | None:
        """Returns the machine that is there."""
        one = Machine.objects.filter(pk=key).first()
        if one is None:
            return None
        names = one.software.values_list("software", flat=True)
        return {name: getattr(one, name) for name in self._readers if hasattr(one, name)} | {
            "rid": one.unit_id,
            "software": tuple(sorted(names)),
        }

    def others(self, keys: Iterable[str]) -> list[str]:
        """Returns the machines that are not listed."""
        return sorted(set(Machine.objects.values_list("pk", flat=True)) - set(keys))


class SensorList:
    """Sensors by `sid`, or by `source` and `device`, whose sensor of the kind it is."""

    def __init__(self) -> None:
        self._readers: Mapping[str, Callable[[str], Any]] = {
            "kind": _kind,
            "rid": room_finder(),
            "mid": lambda mid: str(found(Machine, mid, "machine").pk),
            "period_s": number,
            "enabled": yes_or_no,
            "simulated": yes_or_no,
        }

    def key(self, cells: Cells) -> str:
        """Returns the sensor's id: the one that is said, or that of its device's readings."""
        if "sid" not in cells and "device" in cells:
            source, kind = (
                needed(cells, name, f"the {name} of the device") for name in ("source", "kind")
            )
            with column("kind"):
                kind = _kind(kind)
            with column("source"):
                found(Source, source, "source")
            heard = SeenDevice.objects.filter(source=source, device=cells["device"]).first()
            sids = {} if heard is None else heard.sids()
            return sids.get(kind) or sid_of(source, cells["device"], kind)
        sid = needed(cells, "sid", "the sensor's id")
        with column("sid"):
            return name_in_paths(sid)

    def values(self, cells: Cells) -> Values:
        """Returns what is said of the sensor; the room of a machine's follows from it."""
        said = _read(cells, self._readers)
        if "mid" in said and (rid := said.pop("rid", "")):
            stands = Machine.objects.get(pk=said["mid"]).unit_id
            with column("rid"):
                if stands != rid:
                    raise Invalid(
                        f"{said['mid']} stands in another room",
                        found=rid,
                        exists=[stands],
                        attempt="leave the room away: the machine has one",
                    )
        return said

    def held(self, key: str) -> Values | None:
        """Returns the sensor that is there."""
        one = Sensor.objects.filter(pk=key).first()
        if one is None:
            return None
        return {
            "kind": one.kind,
            "rid": one.unit_id,
            "mid": one.machine_id or "",
            "period_s": one.period_s,
            "enabled": one.enabled,
            "simulated": one.simulated,
        }

    def others(self, keys: Iterable[str]) -> list[str]:
        """Returns the sensors that are not listed."""
        return sorted(set(Sensor.objects.values_list("pk", flat=True)) - set(keys))


class RoomList:
    """What people say of rooms, by `rid`; their geometry is the drawing's."""

    def __init__(self) -> None:
        self._room = room_finder()

    def key(self, cells: Cells) -> str:
        """Returns the room's id."""
        rid = needed(cells, "rid", "the room's id")
        with column("rid"):
            return self._room(rid)

    def values(self, cells: Cells) -> Values:
        """Returns what is said of the room."""
        return _read(cells, {"name": text, "category": _category})

    def held(self, key: str) -> Values | None:
        """Returns what the room is called and used for; there is one, since `key` found it."""
        one = Unit.objects.get(pk=key)
        return {"name": one.name, "category": one.category}

    def others(self, _keys: Iterable[str]) -> list[str]:
        """Refuses: rooms come and go with the drawing."""
        raise Invalid("rooms come and go with the drawing", attempt="import the building again")


LISTS: Mapping[str, Callable[[], InventoryList]] = {
    "machines": MachineList,
    "sensors": SensorList,
    "rooms": RoomList,
}


def _kind(cell: str) -> str:
    """Returns the key of a kind of sensor, found by it or by what people call it."""
    word = cell.casefold()
    by_name = {label.partition(" (")[0].casefold(): key for key, label in sensor_kinds()}
    return kind_named(by_name.get(word, word)).key


def _category(cell: str) -> str:
    """Returns a category, found by its name or by a word for it."""
    if cell in CATEGORIES:
        return cell
    meant = meaning(cell)
    if meant is None or meant[0] is not Role.SPACE:
        raise Invalid(f"there is no category {cell[:40]!r}", found=cell[:80], exists=CATEGORIES)
    return meant[1]
