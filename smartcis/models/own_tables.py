"""Relations people declare by CREATE TABLE and CREATE STREAM, and the rows of their tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from aspen.log.entry import Declare, decode, encode
from aspen.model.schema import Relation, Row, Value
from smartcis.models.source import SourceModel, cascade_at_once


class OwnRelation(models.Model):
    """A relation that somebody declared.

    Args:
        user: whose it is; staff may change it too, and everybody may query it.
        declaration: as the log spells it.
    """

    name = models.CharField(max_length=60, primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="own_relations"
    )
    declaration = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def relation(self) -> Relation:
        """The relation as queries see it."""
        entry = decode(json.dumps(self.declaration).encode())
        assert isinstance(entry, Declare)
        return entry.relation


class OwnRow(SourceModel):
    """A row of such a table; equal rows are there as often as they were inserted.

    Args:
        key: of the row's key columns; the row's own primary key where the table has none.
        digest: finds equal rows.
    """

    relation = models.ForeignKey(OwnRelation, on_delete=cascade_at_once, related_name="held")
    key = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, db_index=True)
    row = models.JSONField()

    class Meta(SourceModel.Meta):
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("relation", "key"), name="own_row_once"),)

    def __str__(self) -> str:
        return f"{self.relation_id} {self.row}"

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row."""
        yield self.relation_id, tuple(self.row)


def declaration_of(relation: Relation) -> dict[str, Any]:
    """Returns a relation's declaration as it is stored."""
    body: dict[str, Any] = json.loads(encode(Declare(0.0, relation)))
    return body


def digest_of(values: Sequence[Value]) -> str:
    """Returns a fingerprint of values: equal for equal ones of equal types."""
    text = json.dumps(list(values), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
