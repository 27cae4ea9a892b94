"""Look at the messages of a source as they come: who recognises them, what a mapping would read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.models import Source
from smartcis.models.accesses import note_access
from smartcis.models.sensor_kinds import kind_named
from smartcis.readings.units import converted
from smartcis.sources.recent import recent_messages
from smartcis.wrappers.config import zone
from smartcis.wrappers.payloads.families import CHOICES
from smartcis.wrappers.payloads.propose import Proposal, proposals
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.payloads.reader import PayloadReader
from smartcis.wrappers.protocol import Measured, Measurements, PayloadMapping

SHOWN = 1_000  # characters of a payload


@dataclass(frozen=True, slots=True)
class LookedAt:
    """One message, and what is made of it.

    Args:
        family: who reads it, for people.
        measured: what is read, each in words.
        fault: why nothing is.
        proposals: mappings for its numbers.
    """

    message: Message
    text: str
    family: str
    measured: Sequence[str]
    fault: str
    proposals: Sequence[Proposal]


def look_at_messages(
    source: Source, owner: Owner, *, mapping: PayloadMapping | None = None
) -> list[LookedAt]:
    """Returns the newest message of each topic, newest first, as the source reads them.

    The look is noted.

    Args:
        owner: staff.
        mapping: reads them instead, to be tried; what it does not fit is left out.

    Raises:
        Refused: the owner is no staff.
        BadConfig: the mapping cannot be.
    """
    owner.require_staff("look at messages")
    # A message may name a tag.
    note_access(owner.user_id, owner.account, gettext_noop("looked at"), f"messages of {source.pk}")
    settings = source.reader_settings()
    clocks = zone(settings.config["zone"]) if settings.config.get("zone") else None
    tried = settings.mappings if mapping is None else (mapping,)
    reader = PayloadReader(tried, "#", clocks)
    names, found = dict(CHOICES), []
    # What tells of others comes before what they say: configurations, births.
    for one in sorted(recent_messages(source.pk), key=lambda one: _late(one.topic)):
        family = reader.family_of(one)
        if mapping is not None and family != mapping.family:
            continue
        measured, fault = _read(reader, one)
        text = one.data.decode(errors="backslashreplace").replace("\0", "\\x00")[:SHOWN]
        found.append(LookedAt(one, text, names[family], measured, fault, proposals(one)))
    return sorted(found, key=lambda looked: -looked.message.at_s)


def _late(topic: str) -> bool:
    return not (topic.endswith("/config") or "BIRTH/" in topic)


def _read(reader: PayloadReader, message: Message) -> tuple[list[str], str]:
    try:
        batch = reader.read(message)
        if isinstance(batch, Measurements):
            return [_said(one) for one in batch.measured], ""
        return [str(one)[:SHOWN] for one in batch.readings], ""
    except AspenError as fault:
        return [], f"{fault.message} ({fault.found})" if fault.found else fault.message


def _said(one: Measured) -> str:
    kind = kind_named(one.quantity)
    value = converted(one.value, one.unit, kind.unit)
    return f"{one.sid or one.device}: {kind.name} {value:g} {kind.unit}".strip()
