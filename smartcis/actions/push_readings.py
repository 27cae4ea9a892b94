"""Push readings: a gateway hands over what its devices measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.errors import Refused
from smartcis.ingest.pressure import check_pressure
from smartcis.ingest.readings import append_readings
from smartcis.sources.memory import calls_of


def push_readings(readings: Sequence[Any], owner: Owner, *, key: str = "") -> int:
    """Appends readings to the log, all or none.

    Args:
        readings: see `smartcis.ingest.readings.append_readings`.
        owner: staff, or a gateway with a staff token.
        key: idempotency key, empty for none.

    Returns:
        The log position.

    Raises:
        Refused: the owner is no staff.
        BadReading: naming the index of the first bad one; nothing was appended.
        Overrun: the engine is far behind; nothing was appended, come back later.
    """
    if not owner.staff:
        raise Refused(
            "only gateways with a token may push readings",
            attempt="send Authorization: Token …",
        )
    check_pressure(composition.log(), composition.results())
    own = f"{owner.user_id}:{key}" if key else ""  # two gateways may count from 1
    log = composition.log()
    with calls_of(owner.account, log):
        return append_readings(log, readings, key=own)
