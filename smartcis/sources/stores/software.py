"""Software as a list page has it, without what people entered here.

Law: afterwards the source's installations are the given ones, less those somebody else holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from aspen.model.schema import Row
from smartcis.models import Machine, SoftwareInstall
from smartcis.models.equal import make_equal
from smartcis.wrappers.errors import BadRow


def store_software(source: str, _relation: str, rows: Mapping[str, Row]) -> int:
    """Makes a source's installations equal to `rows`: `(mid, software)`.

    Returns:
        How many were added or removed.

    Raises:
        BadRow: a machine that does not exist; nothing was changed.
    """
    wanted = {(str(mid), str(software)) for mid, software in rows.values()}
    machines = {mid for mid, _ in wanted}
    known = set(Machine.objects.filter(pk__in=machines).values_list("pk", flat=True))
    if machines - known:
        raise BadRow(f"there is no machine {min(machines - known)!r}", found=min(machines - known))
    with transaction.atomic():
        # Installed once: what somebody entered by hand stays theirs.
        others = SoftwareInstall.objects.filter(machine_id__in=machines).exclude(source_id=source)
        taken = set(others.values_list("machine_id", "software"))
        held = SoftwareInstall.objects.filter(source_id=source)
        own = {"source_id": source, "simulated": False}
        pairs = dict.fromkeys(sorted(wanted - taken), own)
        return sum(make_equal(held, pairs, "machine_id", "software"))
