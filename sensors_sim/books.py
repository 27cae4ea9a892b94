"""Books: what is known of a sensor network from outside: energy, bytes, links, the tree.

Law: looking changes nothing.
"""

from __future__ import annotations

from aspen.motes.hardware import ACK_BYTES
from sensors_sim.errors import BadWorld
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.innet.registry import Registry
from sensors_sim.network.energy import Account
from sensors_sim.network.ether import Ether
from sensors_sim.network.events import Events
from sensors_sim.network.mote import Mote

FRAME_SIZE_BYTES = 40  # a usual frame, for the true quality of a link


class Books:
    """The readable side of a network."""

    def __init__(self, events: Events, registry: Registry, ether: Ether) -> None:
        self.events = events
        self.motes = registry.motes
        self.ledger = ether.ledger
        self._registry = registry
        self._ether = ether

    @property
    def now_s(self) -> float:
        """Simulated seconds since the network was switched on."""
        return self.events.now_s

    def energy_mj(self, name: str) -> float:
        """Returns what a mote has spent so far."""
        return self._mote(name).energy_mj(self.events.now_s)

    def battery_left_mj(self, name: str) -> float:
        """Returns what a mote's battery still holds; infinite on mains."""
        return self._mote(name).battery_left_mj(self.events.now_s)

    @property
    def alive(self) -> frozenset[str]:
        """Names of the motes and base stations that live."""
        return frozenset(mote.spec.mote for mote in self.motes if mote.alive)

    def query_account(self, handle: QueryHandle) -> Account:
        """Returns the frames, bytes and radio energy a query has cost so far."""
        return self.ledger.of_query(handle.query)

    def query_at(self, handle: QueryHandle, name: str) -> tuple[int, float]:
        """Returns the bytes a mote sent and the energy it spent for a query, computing included."""
        sent_bytes, energy_mj = self._mote(name).by_query.get(handle.query, (0, 0.0))
        return int(sent_bytes), energy_mj

    def links(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Returns, per pair of motes, the expected transmissions as estimated and as they are."""
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for mote in self.motes:
            for index, known in mote.neighbours.items():
                out, back = mote.links.get(index), self.motes[index].links.get(mote.index)
                if out is not None and back is not None:
                    true = 1.0 / (out.share(FRAME_SIZE_BYTES) * back.share(ACK_BYTES))
                    found[mote.spec.mote, self.motes[index].spec.mote] = (known.etx, true)
        return found

    def parents(self) -> dict[str, str]:
        """Returns the tree: each living mote's parent, empty for none."""
        return {
            mote.spec.mote: self._registry.name(mote.parent) if mote.parent >= 0 else ""
            for mote in self.motes
            if mote.alive and not mote.base
        }

    def forwarders(self) -> frozenset[str]:
        """The motes behind which others were ever heard: they pass on what floods outwards."""
        return frozenset(m.spec.mote for m in self.motes if m.alive and m.down)

    def hops(self) -> dict[str, int]:
        """Returns the links between each mote with a route and its base station."""
        return {mote.spec.mote: mote.hops for mote in self.motes if mote.alive and mote.parent >= 0}

    @property
    def installed(self) -> dict[str, int]:
        """The version of the programs on each living mote."""
        return {m.spec.mote: m.installed for m in self.motes if m.alive}

    def _mote(self, name: str) -> Mote:
        index = self._registry.index.get(name)
        if index is None:
            raise BadWorld(
                "there is no such mote", found=name, exists=list(self._registry.index)[:5]
            )
        return self.motes[index]
