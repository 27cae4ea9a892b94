"""Host: what an optimizer may ask of a network that runs fragments; ours is `SensorNetwork`.

A fragment is a plan over device streams, as `federation.split` cuts it, with a sampling period and
a join method. A host refuses honestly: `UnsupportedFragment` names the node and the reason, and
the optimizer leaves it to the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.network.energy import Account


class FragmentHost(Protocol):
    """A sensor network, simulated or real."""

    def refusal(self, fragment: Fragment) -> str:
        """Say why a fragment cannot run here, in one clause; empty if it can."""
        ...

    def deploy(self, fragment: Fragment) -> QueryHandle:
        """Send a fragment into the network; its answers gather in the handle.

        Raises:
            UnsupportedFragment: motes cannot run it.
        """
        ...

    def change(self, handle: QueryHandle, fragment: Fragment) -> None:
        """Put another fragment instead of a running one, under the same handle.

        Raises:
            UnknownQuery: it was removed.
            UnsupportedFragment: motes cannot run the new one; the old one runs on.
        """
        ...

    def remove(self, handle: QueryHandle) -> None:
        """End a query.

        Raises:
            UnknownQuery: it was removed already.
        """
        ...

    def query_account(self, handle: QueryHandle) -> Account:
        """Returns the frames, bytes and radio energy a query has cost so far."""
        ...

    def query_at(self, handle: QueryHandle, name: str) -> tuple[int, float]:
        """Returns the bytes a mote sent and the energy it spent for a query."""
        ...

    def join_nodes(self, handle: QueryHandle) -> dict[str, int]:
        """Returns how many groups of partners join where: at a mote by name, or at `base`."""
        ...

    def links(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Returns expected transmissions per pair of motes: as estimated, and as they are."""
        ...

    def parents(self) -> Mapping[str, str]:
        """Give, by living mote, the mote or base station it sends to; empty for none."""
        ...

    def forwarders(self) -> frozenset[str]:
        """The motes behind which others were ever heard: they pass on what floods outwards."""
        ...

    def hops(self) -> Mapping[str, int]:
        """Returns the links between each mote with a route and its base station."""
        ...

    def message_mj(self, payload_bytes: int, mote: str) -> float:
        """Returns the energy of handing one payload to a mote: both ends, one attempt."""
        ...
