"""Look: what the motes tell of themselves, kept where the optimizer can read it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from federation.network import Device, Network
from sensors_sim.motes import DeviceStream
from sensors_sim.sensor_network import SensorNetwork
from smartcis.models import NetworkState

EVERY_S = 60.0
FIRST_S = 20.0  # by then the tree has formed
WORST_ETX = 3.0  # nobody would choose such a link
OLD = timedelta(minutes=15)


class Look:
    """Writes a network's tree, links and sensors down from time to time."""

    def __init__(self, network: SensorNetwork, streams: Mapping[str, DeviceStream]) -> None:
        self._network = network
        self._streams = streams
        self._due_s = FIRST_S

    def turn(self) -> None:
        """Writes it down if it is time."""
        if self._network.now_s < self._due_s:
            return
        self._due_s = self._network.now_s + EVERY_S
        NetworkState.objects.update_or_create(
            pk=NetworkState.ONLY,
            defaults={"state": self.state(), "seen_at": timezone.now()},
        )

    def state(self) -> dict[str, Any]:
        """Returns all of it, as JSON may hold it."""
        living = [mote.spec for mote in self._network.motes if mote.alive and not mote.base]
        return {
            "wakes_s": {spec.mote: spec.wake_s for spec in living},
            "parents": self._network.parents(),
            "links": [
                [one, other, round(etx, 3)]
                for (one, other), (etx, _) in self._network.links().items()
                if etx <= WORST_ETX
            ],
            "devices": [
                [
                    sensor.sid,
                    sensor.stream,
                    spec.mote,
                    self._streams[sensor.stream].relation.device,
                    dict(sensor.attributes),
                ]
                for spec in living
                for sensor in spec.sensors
            ],
        }


def seen_network() -> Network | None:
    """Returns the network as it was lately seen, None if nobody looked."""
    seen = NetworkState.objects.filter(
        pk=NetworkState.ONLY, seen_at__gte=timezone.now() - OLD
    ).first()
    if seen is None:
        return None
    return Network.known(
        seen.state["wakes_s"],
        seen.state["parents"],
        {(one, other): etx for one, other, etx in seen.state["links"]},
        [Device(*fields) for fields in seen.state["devices"]],
    )
