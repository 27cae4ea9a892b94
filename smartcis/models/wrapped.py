"""Sources: what feeds the building from outside, how each is read, and how it was last heard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aspen.model.schema import Row
from smartcis.models.building import Unit
from smartcis.models.equipment import Machine
from smartcis.models.queries import MaintainedView
from smartcis.models.sensor_kinds import between_seconds
from smartcis.models.source import SourceModel, cascade_at_once
from smartcis.wrappers.declared import declared
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.kinds import KINDS, kind_of
from smartcis.wrappers.protocol import PayloadMapping, Settings
from smartcis.wrappers.pulse import dead_s, late_s

LONGEST_PERIOD_S = 24 * 3600.0
SHORTEST_PERIOD_S = 1.0


def source_kinds() -> tuple[tuple[str, Any], ...]:
    """Returns all kinds to choose from; by name, so that a new one needs no migration."""
    return tuple((key, _(label)) for key, label in Source.KINDS)


class Source(SourceModel):
    """Something outside that a wrapper reads.

    Args:
        kind: which wrapper reads it.
        config: what that wrapper needs, by field name.
        unit: the room it speaks for, if it speaks for one.
        machine: the machine it speaks for, if it speaks for one.
        period_s: expected seconds between two words of it; what is polled is asked so often.
        enabled: switched off, it is not read, and what it said is withdrawn.
    """

    KINDS = tuple((kind.key, kind.label) for kind in KINDS)

    relations = ("source",)
    rows_need = ("machine",)

    source = models.SlugField(primary_key=True, max_length=60)
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, choices=source_kinds, db_index=True)
    config = models.JSONField(default=dict, blank=True)
    unit = models.ForeignKey(
        Unit,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="sources",
        verbose_name="room",
    )
    machine = models.ForeignKey(
        Machine, null=True, blank=True, on_delete=models.CASCADE, related_name="sources"
    )
    period_s = models.FloatField(default=60.0)
    enabled = models.BooleanField(default=True)
    added_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(SourceModel.Meta):
        ordering = ("source",)

    def __str__(self) -> str:
        return self.name or self.source

    @property
    def rid(self) -> str:
        """The room it speaks for, empty for none."""
        if self.unit_id:
            return self.unit_id
        return self.machine.unit_id if self.machine is not None else ""

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `source` of one that is read."""
        if not self.enabled:
            return
        yield (
            "source",
            (
                self.source,
                self.kind,
                self.name,
                self.rid or None,
                self.machine_id,
                late_s(self.period_s),
                dead_s(self.period_s),
                self.added_at.timestamp(),
            ),
        )

    def reader_settings(self, memory: dict[str, Any] | None = None) -> Settings:
        """Returns what its wrapper needs to know.

        Args:
            memory: what the wrapper left there the last time; it writes into it.

        Raises:
            BadConfig: the stored fields do not fit its kind.
        """
        config = kind_of(self.kind).checked(self.config)
        if self.kind == "mqtt" and not config["url"]:
            config["url"] = settings.MQTT_URL
        return Settings(
            source=self.source,
            config=config,
            period_s=self.period_s,
            rid=self.rid,
            mid=self.machine_id or "",
            added_s=self.added_at.timestamp(),
            client_id=f"{settings.NAME}-{self.source}",
            mappings=self.payload_mappings(),
            folder=settings.VAR / "sources",
            memory={} if memory is None else memory,
            reads=view_reads,
        )

    def payload_mappings(self) -> tuple[PayloadMapping, ...]:
        """Returns how messages of a broker's topics are read."""
        stored = self.mappings.all() if self.kind == "mqtt" else ()
        return tuple(one.said() for one in stored if one.enabled)

    def _check_relation(self) -> None:
        """Refuses a declaration that contradicts a view, another source, or its own past.

        Raises:
            BadConfig: saying which.
        """
        if self.kind != "table":
            return
        relation = declared(self.config)
        if MaintainedView.objects.filter(name=relation.name).exists():
            raise BadConfig(f"there is a view {relation.name!r}", found=relation.name)
        tables = Source.objects.filter(kind="table")
        for other in tables:
            known = declared(other.config)
            if known.name != relation.name and other.pk == self.pk:
                raise BadConfig(
                    "a source keeps feeding the relation it began with",
                    found=relation.name,
                    exists=[known.name],
                    attempt="add another source",
                )
            if known.name == relation.name and known.columns != relation.columns:
                raise BadConfig(
                    f"{relation.name} is declared with other columns by {other.pk!r}",
                    found=", ".join(relation.names),
                    exists=known.names,
                    attempt="choose another name",
                )

    def clean(self) -> None:
        """Refuses what no wrapper could read.

        Raises:
            ValidationError: per field, in words an operator understands.
        """
        faults: dict[str, Any] = {}
        try:
            kind = kind_of(self.kind)
            self.config = kind.checked(self.config or {})
            kind(self.reader_settings())  # it refuses what it cannot work with
            self._check_relation()
        except BadConfig as fault:
            faults["config"] = fault.render()
        if not SHORTEST_PERIOD_S <= self.period_s <= LONGEST_PERIOD_S:
            faults["period_s"] = between_seconds(SHORTEST_PERIOD_S, LONGEST_PERIOD_S)
        if faults:
            raise ValidationError(faults)


def view_reads() -> dict[str, list[str]]:
    """Returns what each maintained view reads, by its name."""
    return dict(MaintainedView.objects.values_list("name", "sources"))


class SourceState(models.Model):
    """What a polled source's reader remembers from one poll to the next.

    Args:
        asked_s: when it was asked last; 0 for never.
        since_s: when it was first heard of this run.
        heard_s: when it was heard last.
        beat_s: when that was last said in the log.
        refused: messages of it that could not be used, since it was added.
        warnings: what of its last word could not be used, a sentence each.
        memory: what its wrapper left there.
    """

    source = models.OneToOneField(
        Source, on_delete=models.CASCADE, primary_key=True, related_name="state"
    )
    asked_s = models.FloatField(default=0.0)
    since_s = models.FloatField(default=0.0)
    heard_s = models.FloatField(default=0.0)
    beat_s = models.FloatField(default=0.0)
    reason = models.CharField(max_length=300, blank=True)
    refused = models.PositiveBigIntegerField(default=0)
    warnings = models.JSONField(default=list)
    memory = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.source_id}: {self.reason or 'ok'}"


class SourceRow(SourceModel):
    """A row of a declared relation that a source holds and no table of ours does.

    Args:
        relation: one that the source's settings declare.
        key: stays with the row while its values change.
        row: in column order.
    """

    rows_need = ("source",)

    source = models.ForeignKey(Source, on_delete=cascade_at_once, related_name="held")
    relation = models.CharField(max_length=60)
    key = models.CharField(max_length=300)
    row = models.JSONField()

    class Meta(SourceModel.Meta):
        ordering = ("source", "relation", "key")
        constraints = (
            models.UniqueConstraint(fields=("source", "relation", "key"), name="held_once"),
        )

    def __str__(self) -> str:
        return f"{self.relation} {self.key}"

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row."""
        yield self.relation, tuple(self.row)
