"""Push readings: a gateway hands over what its devices measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.actions.support.pushing import digest_of_call, pushing_sources
from smartcis.errors import Refused
from smartcis.ingest.pressure import check_pressure
from smartcis.ingest.readings import append_readings
from smartcis.models import Sensor, Source
from smartcis.sources.memory import calls_of


def push_readings(readings: Sequence[Any], owner: Owner, *, key: str = "") -> int:
    """Appends readings to the log, all or none.

    Args:
        readings: see `smartcis.ingest.readings.append_readings`.
        owner: staff, or a gateway with a token.
        key: idempotency key, empty for none.

    Returns:
        The log position.

    Raises:
        Refused: the owner is neither, or a sensor belongs to what its sources do not stand for.
        BadReading: naming the index of the first bad one; nothing was appended.
        KeyReused: other readings came under the key; nothing was appended.
        Overrun: the engine is far behind; nothing was appended, come back later.
    """
    sources = pushing_sources(owner)
    check_pressure(composition.log(), composition.results())
    own = f"{owner.token.pk if owner.token else owner.account}:{key}"  # two may count from 1
    log = composition.log()
    with calls_of(sources, log):
        if owner.token is not None and owner.token.sources:
            _require_own_sensors(sources, readings)
        digest = digest_of_call(key, readings)
        return append_readings(log, readings, key=own if key else "", digest=digest)


def _require_own_sensors(sources: Sequence[Source], readings: Sequence[Any]) -> None:
    """Refuses readings of sensors that stand where no source of the token does."""
    if any(not one.machine_id and not one.unit_id for one in sources):
        return
    named = [one.get("sid") for one in readings if isinstance(one, Mapping)]
    sids = {sid for sid in named if isinstance(sid, str)}
    here = Q(machine__in=[one.machine_id for one in sources if one.machine_id])
    here |= Q(unit__in=[one.unit_id for one in sources if one.unit_id and not one.machine_id])
    for sid in Sensor.objects.filter(sid__in=sids).exclude(here).values_list("sid", flat=True)[:1]:
        raise Refused(
            f"sensor {sid} is not where the sources of this token are",
            found=sid,
            exists=[one.source for one in sources],
            attempt="ask staff for a token of another source",
        )
