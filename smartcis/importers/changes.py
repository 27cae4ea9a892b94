"""Changes: what an import did to each table, and how to take it back.

    with recorded() as changes: store(…)        undo(changes)

Covers the venue and every table that refers to it, however many keys away: what a deleted room
takes with it comes back with the room.

Law: an import and its undo leave every row as it was; what people changed since stays.
Source: own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
from django.db import models, transaction

from smartcis.importers.errors import StillUsed
from smartcis.models import Source, Venue
from smartcis.models.source import PKS_AT_ONCE, batched

Row = dict[str, Any]
Rows = dict[Any, Row]
"""Values of the concrete fields by primary key."""
NAMED = 10  # of what stands in the way


@dataclass(frozen=True, slots=True)
class TableImport:
    """What happened to one table.

    Args:
        created: primary keys.
        deleted: whole rows by primary key.
        updated: by primary key each changed field's value before and after.
    """

    created: tuple[Any, ...] = ()
    deleted: Mapping[Any, Row] = field(default_factory=dict)
    updated: Mapping[Any, Mapping[str, tuple[Any, Any]]] = field(default_factory=dict)


@dataclass(slots=True)
class Changes:
    """What happened to all tables, by the name of the model; those that changed."""

    tables: dict[str, TableImport] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Returns them as bytes."""
        said = {
            name: [list(one.created), [*one.deleted.items()], [*one.updated.items()]]
            for name, one in self.tables.items()
        }
        return zlib.compress(json.dumps(said, default=str).encode())

    @classmethod
    def unpacked(cls, data: bytes) -> Changes:
        """Returns what `packed` gave."""
        said = json.loads(zlib.decompress(data))
        return cls(
            {
                name: TableImport(tuple(created), dict(deleted), dict(updated))
                for name, (created, deleted, updated) in said.items()
            }
        )


@contextmanager
def recorded() -> Iterator[Changes]:
    """Notes what a transaction's block changes; the notes are there when it ends."""
    found = Changes()
    before = _everything()
    yield found
    after = _everything()
    for name, held in before.items():
        holds = after[name]
        change = TableImport(
            created=tuple(pk for pk in holds if pk not in held),
            deleted={pk: row for pk, row in held.items() if pk not in holds},
            updated={
                pk: differing
                for pk, row in held.items()
                if pk in holds and (differing := _differing(row, holds[pk]))
            },
        )
        if change.created or change.deleted or change.updated:
            found.tables[name] = change


@transaction.atomic
def undo(changes: Changes) -> None:
    """Makes every table what it was before the changes.

    Raises:
        StillUsed: something that came since stands on what would go.
    """
    ordered = [model for model in tables() if model.__name__ in changes.tables]
    _refuse_used(changes, ordered)
    leaves = [model for model in ordered if not _referring(model)]
    for model in leaves:
        _remove(model, changes.tables[model.__name__].created)
    for model in ordered:
        _restore(model, changes.tables[model.__name__])
    for model in reversed(ordered):
        if model not in leaves:
            _remove(model, changes.tables[model.__name__].created)


def tables() -> list[type[models.Model]]:
    """Returns the venue's table and all that refer to it; whatever a table refers to is before."""
    graph: nx.DiGraph[type[models.Model]] = nx.DiGraph()
    waiting: list[type[models.Model]] = [Venue]
    while waiting:
        model = waiting.pop()
        graph.add_node(model)
        referring = _referring(model)
        waiting += [other for other in referring if other not in graph]
        graph.add_edges_from((model, other) for other in referring)
    return list(nx.lexicographical_topological_sort(graph, key=lambda model: model.__name__))


def _referring(model: type[models.Model]) -> dict[type[models.Model], list[str]]:
    """Returns the models that refer to one, each with the fields that do."""
    found: dict[type[models.Model], list[str]] = {}
    for relation in model._meta.get_fields(include_hidden=True):  # noqa: SLF001  # public despite its name
        if isinstance(relation, models.ForeignObjectRel) and isinstance(
            relation.field, models.ForeignKey
        ):
            found.setdefault(relation.related_model, []).append(relation.field.attname)
    return found


def _everything() -> dict[str, Rows]:
    return {model.__name__: _rows(_held(model)) for model in tables()}


def _held(model: type[models.Model]) -> models.QuerySet[Any]:
    """Returns the rows that an import can touch: of what sources alone have, those in a room."""
    rows = model._default_manager.all()  # noqa: SLF001  # the documented way to a model's manager
    names = {one.name for one in model._meta.fields if one.remote_field}  # noqa: SLF001  # public despite its name
    if "source" not in names or names & {"unit", "machine"}:
        return rows
    return rows.filter(source__in=Source.objects.exclude(unit=None, machine=None))


def _rows(held: models.QuerySet[Any]) -> Rows:
    names = [one.attname for one in held.model._meta.concrete_fields]  # noqa: SLF001  # public despite its name
    key = held.model._meta.pk.attname  # noqa: SLF001  # same
    return {row[key]: row for row in held.values(*names)}


def _differing(before: Row, after: Row) -> dict[str, tuple[Any, Any]]:
    return {name: (value, after[name]) for name, value in before.items() if after[name] != value}


def _refuse_used(changes: Changes, ordered: Sequence[type[models.Model]]) -> None:
    for model in ordered:
        created = changes.tables[model.__name__].created
        for other, names in _referring(model).items():
            change = changes.tables.get(other.__name__, TableImport())
            ours = {*change.created, *change.updated}
            later = [
                one
                for name in names
                for keys in batched(created, PKS_AT_ONCE)
                for one in other._default_manager.filter(**{f"{name}__in": keys})  # noqa: SLF001  # the documented way to a model's manager
                if one.pk not in ours
            ]
            if later:
                raise StillUsed(
                    f"{len(later)} {other._meta.verbose_name_plural} came since"  # noqa: SLF001  # public despite its name
                    " and stand on what would go",
                    found=", ".join(str(one) for one in later[:NAMED]),
                    attempt="move or remove them first",
                )


def _restore(model: type[models.Model], change: TableImport) -> None:
    """Brings back what was deleted, and changes back what nobody has changed since."""
    manager = model._default_manager  # noqa: SLF001  # the documented way to a model's manager
    fields = {one.attname: one for one in model._meta.concrete_fields}  # noqa: SLF001  # public despite its name
    rows = [
        model(**{name: fields[name].to_python(value) for name, value in row.items()})
        for row in change.deleted.values()
    ]
    manager.bulk_create(rows, batch_size=500)
    stamps = [name for name, one in fields.items() if getattr(one, "auto_now", False)]
    for one, row in zip(rows, change.deleted.values(), strict=True):
        for name in stamps:  # creating set it to now
            setattr(one, name, fields[name].to_python(row[name]))
    if rows and stamps:
        manager.bulk_update(rows, stamps, batch_size=200)
    changed, names = [], set[str]()
    pk_field = model._meta.pk  # noqa: SLF001  # public despite its name
    wanted = {pk_field.to_python(pk): differing for pk, differing in change.updated.items()}
    for keys in batched(wanted, PKS_AT_ONCE):
        for one in manager.filter(pk__in=keys):
            for name, (before, after) in wanted[one.pk].items():
                if getattr(one, name) == fields[name].to_python(after):
                    setattr(one, name, fields[name].to_python(before))
                    names.add(name)
            changed.append(one)
    if names:
        manager.bulk_update(changed, sorted(fields[name].name for name in names), batch_size=200)


def _remove(model: type[models.Model], created: Iterable[Any]) -> None:
    for keys in batched(created, PKS_AT_ONCE):
        model._default_manager.filter(pk__in=keys).delete()  # noqa: SLF001  # the documented way to a model's manager
