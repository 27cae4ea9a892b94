"""Set mappings: how the messages of a broker are read, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from smartcis.access.owner import Owner
from smartcis.errors import Invalid
from smartcis.models import Source, SourceMapping
from smartcis.models.lookup import found


@transaction.atomic
def set_mappings(
    source_id: str, wanted: Sequence[Mapping[str, Any]], owner: Owner
) -> list[SourceMapping]:
    """Replaces the mappings of a source; it is read by them within seconds.

    Args:
        wanted: fields of `SourceMapping`, by name.
        owner: staff.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such source.
        Invalid: the source is no broker, or a mapping cannot be; none was changed.
    """
    owner.require_staff("change sources")
    source = found(Source, source_id, "source")
    if wanted and source.kind != "mqtt":
        raise Invalid("only brokers have mappings", found=source.kind, exists=["mqtt"])
    source.mappings.all().delete()
    made = []
    for number, fields in enumerate(wanted):
        mapping = SourceMapping(source=source, **fields)
        try:
            mapping.full_clean()
        except ValidationError as fault:
            raise Invalid(f"mapping {number}: {' '.join(fault.messages)}") from fault
        mapping.save()
        made.append(mapping)
    return made
