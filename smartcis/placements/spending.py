"""Spending: what the motes spend for each piece, written beside it from time to time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F

from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.sensor_network import SensorNetwork
from smartcis.models import NetworkPiece

EVERY_S = 20.0


@dataclass(frozen=True, slots=True)
class _Noted:
    at_s: float
    energy_mj: float
    sent_bytes: int


class Spending:
    """Reads the network's accounts of pieces.

    Law: what is written adds up over restarts; a rate is that of the time since the last note.
    """

    def __init__(self, network: SensorNetwork) -> None:
        self._network = network
        self._noted: dict[str, _Noted] = {}

    def begin(self, name: str) -> None:
        """Begins an account."""
        self._noted[name] = _Noted(self._network.now_s, 0.0, 0)

    def note(self, name: str, handles: Iterable[QueryHandle]) -> None:
        """Writes what was spent since the last time, unless that was a moment ago."""
        last, now_s = self._noted[name], self._network.now_s
        if now_s - last.at_s < EVERY_S:
            return
        # By mote and not by frame: samples and computing count too.
        accounts = [
            self._network.query_at(handle, mote.spec.mote)
            for handle in handles
            for mote in self._network.motes
            if not mote.base
        ]
        now = _Noted(now_s, sum(mj for _, mj in accounts), sum(sent for sent, _ in accounts))
        spent_mj, sent_bytes = now.energy_mj - last.energy_mj, now.sent_bytes - last.sent_bytes
        self._noted[name] = now
        NetworkPiece.objects.filter(name=name).update(
            energy_mj=F("energy_mj") + spent_mj,
            sent_bytes=F("sent_bytes") + sent_bytes,
            mj_per_s=spent_mj / (now_s - last.at_s),
            bytes_per_s=sent_bytes / (now_s - last.at_s),
        )

    def forget(self, name: str) -> None:
        """Forgets a piece that was removed."""
        self._noted.pop(name, None)
