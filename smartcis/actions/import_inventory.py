"""Import an inventory: machines, sensors or what people call rooms, from a table of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog
from django.db import transaction
from structlog.contextvars import bound_contextvars

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.add_machine import add_machine
from smartcis.actions.add_sensor import add_sensor
from smartcis.actions.change_machine import PLACE, change_machine
from smartcis.actions.change_room import change_room
from smartcis.actions.change_sensor import change_sensor
from smartcis.actions.remove_machine import remove_machine
from smartcis.actions.remove_sensor import remove_sensor
from smartcis.actions.support.inventory_cells import shown
from smartcis.actions.support.inventory_lists import LISTS, InColumn, InventoryList, Values, needed
from smartcis.errors import AlreadyThere, Invalid
from smartcis.importers.inventory.table import Table, TableRow, table_of
from smartcis.models.sensor_kinds import kind_named

logger = structlog.get_logger(__name__)


class InventoryOutcome(StrEnum):
    """What becomes of a thing."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """One row and what becomes of it.

    Args:
        number: the line of the file; 0 for a thing that the file does not name.
        key: the thing's id, empty where the row says none.
        changes: by column what is there and what is said.
        column: what the file calls the column at fault, empty where it is no single one.
        refusal: an error as the API gives it.
    """

    number: int
    key: str
    outcome: InventoryOutcome
    changes: Mapping[str, tuple[str, str]]
    column: str = ""
    refusal: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class InventoryReport:
    """What an inventory says, and what it changes.

    Args:
        thing: machines, sensors or rooms.
        columns: what the file calls each column that was read.
        ignored: headers that were not.
        preview: whether nothing was written.
    """

    thing: str
    columns: Mapping[str, str]
    ignored: tuple[str, ...]
    preview: bool
    rows: tuple[InventoryRow, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have each outcome."""
        found = Counter(row.outcome for row in self.rows)
        return {outcome.value: found[outcome] for outcome in InventoryOutcome}


def import_inventory(
    data: bytes, owner: Owner, *, preview: bool = False, remove: bool = False
) -> InventoryReport:
    """Makes things what a table says of them; what is refused of it changes nothing.

    Law: the same table a second time changes nothing.

    Args:
        data: a file of at most `table.LARGEST_BYTES`; the header says what it lists.
        owner: staff.
        preview: work everything out and write nothing.
        remove: whether machines or sensors go that the table does not name; none goes while a
            row is refused, since that may be the one that names it.

    Raises:
        Refused: the owner is no staff.
        ImportRefused: it is no such table.
        Invalid: rooms are to be removed.
    """
    owner.require_staff("import inventories")
    table = table_of(data)
    with transaction.atomic(), bound_contextvars(preview=preview):
        one = LISTS[table.thing]()
        rows = list(_rows(table, one, owner))
        if remove:
            rows += _removed(table.thing, one, rows, owner)
        transaction.set_rollback(preview)
    report = InventoryReport(table.thing, table.headers, tuple(table.ignored), preview, tuple(rows))
    logger.info("inventory_imported", account=owner.account, preview=preview, **report.counts)
    return report


def _rows(table: Table, one: InventoryList, owner: Owner) -> Iterator[InventoryRow]:
    taken: dict[str, int] = {}
    for row in table.rows:
        key = ""
        try:
            key = _key(row, one)
            if key in taken:
                raise AlreadyThere(
                    f"line {taken[key]} names it, too", found=key, attempt="keep one of the two"
                )
            taken[key] = row.number
            done = _taken(row, key, table.thing, one, owner)
        except InColumn as fault:
            where = table.headers.get(fault.column, fault.column)
            done = _refused(row.number, key, fault.fault, where)
        except AspenError as fault:
            at = fault.message.partition(":")[0]  # of what a model refuses, the field's name
            done = _refused(row.number, key, fault, table.headers.get(at, ""))
        yield done


def _key(row: TableRow, one: InventoryList) -> str:
    if row.surplus:
        raise Invalid(
            f"{row.surplus} cells more than headers",
            found=str(row.surplus),
            attempt="put cells that hold the delimiter in quotes",
        )
    return one.key(row.cells)


@transaction.atomic
def _taken(row: TableRow, key: str, thing: str, one: InventoryList, owner: Owner) -> InventoryRow:
    said, held = one.values(row.cells), one.held(key)
    if held is None:
        _ADD[thing](key, said, owner)
        added = {name: ("", shown(value)) for name, value in said.items()}
        return InventoryRow(row.number, key, InventoryOutcome.ADDED, added)
    changed = {name: value for name, value in said.items() if held[name] != value}
    if not changed:
        return InventoryRow(row.number, key, InventoryOutcome.UNCHANGED, {})
    _CHANGE[thing](key, _with_place(said, changed), owner)
    both = {name: (shown(held[name]), shown(value)) for name, value in changed.items()}
    return InventoryRow(row.number, key, InventoryOutcome.CHANGED, both)


def _removed(
    thing: str, one: InventoryList, rows: list[InventoryRow], owner: Owner
) -> Iterator[InventoryRow]:
    refused = sum(row.outcome is InventoryOutcome.REFUSED for row in rows)
    for key in one.others(row.key for row in rows):
        if refused:
            why = Invalid(
                "it stays, since rows of the table are refused, one of which may name it",
                found=key,
                attempt="mend them first",
            )
            yield _refused(0, key, why, "")
            continue
        _REMOVE[thing](key, owner)
        yield InventoryRow(0, key, InventoryOutcome.REMOVED, {})


def _refused(number: int, key: str, fault: AspenError, column: str) -> InventoryRow:
    return InventoryRow(number, key, InventoryOutcome.REFUSED, {}, column, fault.as_dict())


def _with_place(said: Values, changed: Values) -> Values:
    """Returns what changed; a place is one, of room and position."""
    if not changed.keys() & PLACE:
        return changed
    return changed | {name: said[name] for name in PLACE & said.keys()}


def _add_machine(mid: str, said: Values, owner: Owner) -> None:
    """Adds a machine, called by its id where no host is said."""
    needed(said, "rid", "the room of a new machine")
    add_machine(mid, owner, **{"host": mid, **said})


def _add_sensor(sid: str, said: Values, owner: Owner) -> None:
    """Adds a sensor that reports as often as its kind does, a real one, unless it is said."""
    needed(said, "kind", "the kind of a new sensor")
    usual = {"simulated": False, "period_s": kind_named(said["kind"]).period_s}
    add_sensor(owner=owner, sid=sid, **{**usual, **said})


_ADD: Mapping[str, Callable[[str, Values, Owner], None]] = {
    "machines": _add_machine,
    "sensors": _add_sensor,
}
_CHANGE: Mapping[str, Callable[[str, Values, Owner], object]] = {
    "machines": change_machine,
    "sensors": change_sensor,
    "rooms": change_room,
}
_REMOVE: Mapping[str, Callable[[str, Owner], None]] = {
    "machines": remove_machine,
    "sensors": remove_sensor,
}
