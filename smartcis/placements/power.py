"""Power: what each mote spends for each submitted query, as rows of `query_power`.

Law: over all views that read something, the shares of its power add up to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from django.db import transaction
from django.utils import timezone

from aspen.model.schema import Row
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.sensor_network import SensorNetwork
from smartcis.models import MaintainedView
from smartcis.models.outbox import enqueue
from smartcis.placements.device_streams import streams_of
from smartcis.queries import LISTENING

RELATION = "query_power"
EVERY_S = 60.0
LEAST_MW = 0.0005  # less is nothing to be seen

Handles = Callable[[], Mapping[str, list[QueryHandle]]]


class MotePower:
    """Reads the motes' accounts once a minute and tells of them.

    Args:
        handles: gives what runs for each piece, and for each stream that is sent as measured.
    """

    def __init__(self, network: SensorNetwork, handles: Handles) -> None:
        self._network = network
        self._handles = handles
        self._read_s = network.now_s
        self._spent: dict[tuple[int, int], dict[str, tuple[int, float]]] = {}

    def turn(self) -> None:
        """Publishes the last minute, once it is over."""
        if self._network.now_s - self._read_s < EVERY_S:
            return
        rows = self.rows()
        if rows:
            with transaction.atomic():
                enqueue({"changes": [[RELATION, 1, *row] for row in rows]})

    def rows(self) -> list[Row]:
        """Returns the rows since the last call."""
        elapsed_s = self._network.now_s - self._read_s
        self._read_s = self._network.now_s
        found: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
        handles = self._handles()
        running = {(one.query, one.version) for part in handles.values() for one in part}
        self._spent = {key: spent for key, spent in self._spent.items() if key in running}
        for part, readers in _readers().items():
            asked = [view for view, submitted in readers.items() if submitted]
            for handle in handles.get(part, ()) if asked else ():
                for sid, (sent, spent_mj) in self._since(handle).items():
                    for view in asked:
                        found[view, sid][0] += spent_mj / len(readers) / elapsed_s
                        found[view, sid][1] += sent / len(readers) / elapsed_s
        at_s = round(timezone.now().timestamp(), 3)
        return [
            (view, sid, round(power_mw, 4), round(bytes_per_s, 3), at_s)
            for (view, sid), (power_mw, bytes_per_s) in sorted(found.items())
            if power_mw >= LEAST_MW
        ]

    def _since(self, handle: QueryHandle) -> dict[str, tuple[int, float]]:
        key = (handle.query, handle.version)
        before = self._spent.get(key, {})
        now: dict[str, tuple[int, float]] = {}
        news: dict[str, tuple[int, float]] = {}
        for mote in self._network.motes:
            if mote.base:
                continue  # wired: what it spends is nobody's battery
            sent, spent_mj = now[mote.spec.mote] = self._network.query_at(handle, mote.spec.mote)
            last_sent, last_mj = before.get(mote.spec.mote, (0, 0.0))
            if spent_mj > last_mj:
                news[mote.spec.mote] = (sent - last_sent, spent_mj - last_mj)
        self._spent[key] = now
        return news


def _readers() -> dict[str, dict[str, bool]]:
    """Returns who reads each piece and each device stream, and whether somebody submitted it."""
    views = MaintainedView.objects.filter(error__isnull=True).exclude(name__in=LISTENING)
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for view in views.select_related("placement"):
        placement = getattr(view, "placement", None)
        pieces = placement.running if placement is not None and placement.holds else []
        for part in (*pieces, *streams_of(view.running_text)):
            found[part][view.name] = not view.standing
    return found
