"""Accept proposals: place the devices of which the building's description leaves no doubt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.place_device import place_device
from smartcis.models import SeenDevice, Sensor
from smartcis.sources.proposed import proposed_places


@dataclass(frozen=True, slots=True)
class AcceptedProposals:
    """What came of it.

    Args:
        placed: devices.
        doubts: why others were not, a sentence each.
    """

    placed: int
    doubts: tuple[str, ...]


def accept_proposals(devices: Iterable[SeenDevice], owner: Owner) -> AcceptedProposals:
    """Places those of the devices that have a proposal without doubt, and are not placed yet.

    Args:
        owner: staff.

    Raises:
        Refused: the owner is no staff.
    """
    owner.require_staff("place devices")
    seen = {one.pk: one for one in devices if not one.unit_id and not one.machine_id}
    placed, doubts = 0, []
    for pk, proposal in proposed_places(seen.values()).items():
        one = seen[pk]
        sids = one.sids().values()
        if proposal.doubt or Sensor.objects.filter(sid__in=sids).exists():
            doubts.append(_unplaced(one, proposal.doubt or "some of its sensors are placed"))
            continue
        try:
            with transaction.atomic():
                place_device(one, owner, rid=proposal.rid)
        except AspenError as fault:
            doubts.append(_unplaced(one, fault.message))
        else:
            placed += 1
    return AcceptedProposals(placed, tuple(doubts))


def _unplaced(one: SeenDevice, why: str) -> str:
    return f"{one} is not placed: {why}"
