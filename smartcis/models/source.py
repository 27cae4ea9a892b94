"""Source models: Django tables whose rows are rows of StreamSQL relations.

Law: after each commit, the fold of all outbox entries equals `rows()` over the table.
Every way Django writes is covered: save, delete (also by cascade), and the query set's update,
delete, bulk_create and bulk_update. Raw SQL is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

from django.core import checks
from django.db import models, transaction
from django.db.models.deletion import Collector, get_candidate_relations_to_delete
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from aspen.errors import AspenError
from aspen.model.schema import Row
from smartcis.catalog import CATALOG
from smartcis.models.changes import noted
from smartcis.models.outbox import Changes, record

S = TypeVar("S", bound="SourceModel")

PKS_AT_ONCE = 10_000  # below every database's limit of parameters


class UnsupportedWrite(AspenError, code="smartcis.models.unsupported_write"):
    """A way of writing that would bypass the log."""


class SourceQuerySet(models.QuerySet[S]):
    """A query set whose writes reach the outbox in the same transaction."""

    def update(self, **kwargs: Any) -> int:
        """Updates, and records each row before and after.

        Raises:
            UnsupportedWrite: a new primary key would make it another row.
        """
        if {"pk", self.model._meta.pk.name} & set(kwargs):  # noqa: SLF001  # public despite its name
            raise UnsupportedWrite(
                f"update of {self.model.__name__} cannot change its primary key",
                attempt="delete the object and create another",
            )
        count = 0
        with transaction.atomic(using=self.db, savepoint=False):
            for keys in batched(self.values_list("pk", flat=True), PKS_AT_ONCE):
                before = self.model.rows_of(keys, using=self.db)
                with noted(self.model, keys, self.db):
                    # Only the rows just locked: others may have come to match meanwhile.
                    count += super(SourceQuerySet, self.filter(pk__in=keys)).update(**kwargs)
                after = self.model.rows_of(keys, using=self.db)
                record([*_signed(before, -1), *_signed(after, 1)], using=self.db)
        return count

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[S], *args: Any, **kwargs: Any) -> list[S]:
        """Inserts many, and records their rows.

        Raises:
            UnsupportedWrite: with a conflict clause nobody knows which rows were written.
        """
        if kwargs.get("ignore_conflicts") or kwargs.get("update_conflicts"):
            raise UnsupportedWrite(
                f"bulk_create of {self.model.__name__} cannot resolve conflicts",
                attempt="look the rows up first, then bulk_create and bulk_update",
            )
        with transaction.atomic(using=self.db, savepoint=False):
            with noted(self.model, (), self.db) as keys:
                made = super().bulk_create(objs, *args, **kwargs)
                keys += [one.pk for one in made]
            rows = self.model.rows_of([one.pk for one in made], using=self.db)
            record(_signed(rows, 1), using=self.db)
        return made

    bulk_create.alters_data = True  # type: ignore[attr-defined]

    def delete(self) -> tuple[int, dict[str, int]]:
        """Deletes, and records the rows; those to which nothing refers go without being loaded."""
        refers = get_candidate_relations_to_delete(self.model._meta)  # type: ignore[arg-type]  # noqa: SLF001  # public despite its name
        if any(refers):
            return super().delete()
        with transaction.atomic(using=self.db, savepoint=False):
            count = self._raw_delete(self.db)
        return count, {self.model._meta.label: count} if count else {}  # noqa: SLF001  # the same

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def _raw_delete(self, using: str | None) -> int:
        """Records and delete; Django's deletions call it for what goes without signals."""
        count, using = 0, using or self.db
        for keys in batched(self.using(using).order_by().values_list("pk", flat=True), PKS_AT_ONCE):
            record(_signed(self.model.rows_of(keys, using=using), -1), using=using)
            chosen = self.model._base_manager.using(using).filter(pk__in=keys)  # noqa: SLF001  # the manager Django itself writes through
            with noted(self.model, keys, using):
                count += super(SourceQuerySet, chosen)._raw_delete(using)  # type: ignore[misc]
        return count


def cascade_at_once(
    collector: Collector, field: models.Field[Any, Any], sub_objs: Any, using: str
) -> None:
    """Deletes all rows that refer to one, in one statement: an `on_delete` of source models.

    For models to which nothing refers; CASCADE deletes each row by itself.
    """
    del field, using
    collector.fast_deletes.append(sub_objs)


cascade_at_once.lazy_sub_objs = True  # type: ignore[attr-defined]  # it needs none of them loaded


SourceManager = models.Manager.from_queryset(SourceQuerySet)


class SourceModel(models.Model):
    """A table that feeds relations of the catalog.

    A subclass names its `relations`, and in `attributes` those of their columns that are called
    otherwise here. What is reached through a foreign key listed in `rows_need` must not change
    without this row being saved.
    """

    relations: ClassVar[tuple[str, ...]] = ()
    attributes: ClassVar[Mapping[str, str]] = {}
    rows_need: ClassVar[tuple[str, ...]] = ()

    objects = SourceManager()

    class Meta:
        abstract = True
        base_manager_name = "objects"  # ON DELETE SET NULL writes through the base manager

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the rows this object contributes, each with its relation's name."""
        return ((relation, values(self)) for relation, values in _readers(type(self)))

    @classmethod
    def rows_of(cls, keys: Sequence[Any], *, using: str) -> list[tuple[str, Row]]:
        """Reads the rows of the stored objects with these primary keys, locking them.

        The lock orders concurrent writers of a row as their outbox entries are ordered.
        """
        base = cls._base_manager.using(using).select_for_update(of=("self",))
        found: list[tuple[str, Row]] = []
        for part in batched(keys, PKS_AT_ONCE):
            stored = base.select_related(*(cls.rows_need or (None,))).filter(pk__in=part)
            found += [row for one in stored for row in one.rows()]
        return found

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Deletes it, and notes who did."""
        using = kwargs.get("using") or "default"
        with transaction.atomic(using=using), noted(type(self), [self.pk], using):
            return super().delete(*args, **kwargs)

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        """Writes the row, and records what it was and is."""
        using = kwargs.get("using") or "default"
        with transaction.atomic(using=using):
            keys = [] if self.pk is None else [self.pk]
            before = self.rows_of(keys, using=using)
            with noted(type(self), keys, using) as known:
                super().save_base(*args, **kwargs)
                known.extend([] if keys else [self.pk])
            after = self.rows_of([self.pk], using=using)
            record([*_signed(before, -1), *_signed(after, 1)], using=using)

    @classmethod
    def check(cls, **kwargs: Any) -> list[checks.CheckMessage]:
        """Refuses a subclass whose managers would write past the outbox."""
        managers = {
            "E001": (cls._base_manager, "Meta must inherit SourceModel.Meta"),
            "E002": (cls._default_manager, "the default manager must be a SourceManager"),
        }
        return [
            *super().check(**kwargs),
            *(
                checks.Error(f"{cls.__name__}: {fault}", obj=cls, id=f"smartcis.{code}")
                for code, (manager, fault) in managers.items()
                if not isinstance(manager.all(), SourceQuerySet)
            ),
        ]


@contextmanager
def followed(objects: models.QuerySet[S]) -> Iterator[None]:
    """Records how rows change by what they reach through a foreign key of `rows_need`.

    Args:
        objects: whose rows; they are not written themselves. Runs inside a transaction.
    """
    model, using = objects.model, objects.db
    keys = list(objects.values_list("pk", flat=True))
    before = model.rows_of(keys, using=using)
    yield
    record([*_signed(before, -1), *_signed(model.rows_of(keys, using=using), 1)], using=using)


def batched(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Cuts values into lists of at most `size`."""
    whole = list(values)
    for start in range(0, len(whole), size):
        yield whole[start : start + size]


@cache
def _readers(model: type[SourceModel]) -> Sequence[tuple[str, Callable[[SourceModel], Row]]]:
    """Returns for each relation of a model what reads its row off an object."""
    found = []
    for name in model.relations:
        columns = CATALOG.get(name).names
        found.append((name, attrgetter(*(model.attributes.get(one, one) for one in columns))))
    return found


def _signed(rows: Iterable[tuple[str, Row]], weight: int) -> Changes:
    return [(relation, weight, row) for relation, row in rows]


@receiver(pre_delete)
def _record_delete(instance: models.Model, using: str, **kwargs: Any) -> None:
    """Records the rows of an object about to go, inside the deletion's own transaction."""
    if not isinstance(instance, SourceModel):
        return
    if kwargs.get("origin") is instance:
        # The caller's object may differ from the stored row; a query set's was just read.
        rows = instance.rows_of([instance.pk], using=using)
    else:
        rows = list(instance.rows())
    record(_signed(rows, -1), using=using)
