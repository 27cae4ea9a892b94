"""Runner: brings what the motes run in line with the placements, and their answers into the log.

    placements ──► deploy, remove ──► answers ──► publish
    a move in:   deploy → installed everywhere → first whole answer → arrive
    a move back: raw streams wake → every living sensor heard → arrive → pieces retire

Law: a view is switched over only when what it will read is whole, and never shows half of it.
Whoever dies half-way: the tables say what runs and what is wanted; the next runner begins there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import structlog
from django.db import OperationalError

from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from sensors_sim.innet.answers import NetworkAnswer
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.motes import DeviceStream
from sensors_sim.network.mote import Mote
from sensors_sim.sensor_network import SensorNetwork
from smartcis.models import NetworkPiece, Placement
from smartcis.placements.device_streams import streams_of
from smartcis.placements.look import Look
from smartcis.placements.power import MotePower
from smartcis.placements.probes import Probes
from smartcis.placements.spending import Spending
from smartcis.placements.store import (
    arrive,
    forget_outdated,
    give_up,
    idle_pieces,
    publish,
    retire,
)
from smartcis.placements.translate import mote_fragment

SETTLE_S = 30.0  # motes without a route are waited for so long, then for those with one
INSTALL_S = 180.0  # flooding takes seconds; who has no program by then will not get one
HEARD_S = 180.0  # the slowest sensors report within two minutes; who did not is dead

logger = structlog.get_logger(__name__)


@dataclass(eq=False)
class DeployedPiece:
    """A piece the motes run.

    Args:
        since_s: simulated time it was sent at.
        period_s: between two epochs.
        streams: what it asks.
        ready_s: simulated time from which every mote that can be reached runs it; None until then.
        first: its newest whole answer, while it is not live.
    """

    handle: QueryHandle
    since_s: float
    period_s: float
    streams: frozenset[str]
    live: bool
    ready_s: float | None = None
    first: NetworkAnswer | None = None


class PieceRunner:
    """Runs the pieces of the placements on one network.

    Args:
        network: the motes.
        streams: the relations they fill.
        raw: what runs for each stream that is sent row by row; it changes.
    """

    def __init__(
        self,
        network: SensorNetwork,
        streams: Mapping[str, DeviceStream],
        raw: Mapping[str, QueryHandle],
    ) -> None:
        self.deployed: dict[str, DeployedPiece] = {}
        self._network = network
        self._streams = streams
        self._spending = Spending(network)
        self._probes = Probes(network)
        self._look = Look(network, streams)
        self._raw = raw
        self._power = MotePower(network, self._handles)
        self._heard: dict[str, set[str]] = {}
        self._awake_s: dict[str, float] = {}
        self._moves: dict[str, frozenset[str]] = {}
        self._behind = False

    # What runs.

    def follow(self) -> None:
        """Brings the network in line with the tables; if they are busy, at the next turn."""
        self._behind = True
        try:
            self._follow()
        except OperationalError as fault:
            logger.warning("placements not read", reason=str(fault))
        else:
            self._behind = False

    def _follow(self) -> None:
        forget_outdated()
        idle = idle_pieces()
        if idle:
            retire(idle)
        pieces = {piece.name: piece for piece in NetworkPiece.objects.all()}
        for name in self.deployed.keys() - pieces.keys():
            deployed = self.deployed.pop(name)
            self._spending.forget(name)
            self._probes.end(name)
            self._network.remove(deployed.handle)
            logger.info("piece removed", piece=name)
        for name, piece in pieces.items():
            if name in self.deployed:
                self.deployed[name].live = piece.live
            else:
                self._deploy(piece)
            if piece.live and name in self.deployed and name not in self._probes:
                self._probes.begin(name, read_plan(piece.plan_text), piece.period_s)
        self._moves = {
            one.pk: streams_of(one.view.wanted_text) - streams_of(one.view.running_text)
            for one in _moving()
        }

    def _deploy(self, piece: NetworkPiece) -> None:
        try:
            handle = self._network.deploy(mote_fragment(piece))
        except AspenError as refused:
            logger.warning("piece refused", piece=piece.name, reason=refused.message)
            self._give_up(piece.name, f"the motes cannot run it: {refused.message}")
            return
        streams = frozenset(one.stream for one in handle.compiled.program.inputs)
        self.deployed[piece.name] = DeployedPiece(
            handle, self._network.now_s, piece.period_s, streams, piece.live
        )
        self._spending.begin(piece.name)
        logger.info("piece deployed", piece=piece.name, method=piece.method)

    def _give_up(self, name: str, trouble: str) -> None:
        for placement in _moving():
            if name in placement.wanted:
                give_up(placement.pk, trouble)

    # What was heard.

    def acquired(self, streams: Collection[str] | None) -> None:
        """Takes note of which device streams are sent row by row from now on; None for all."""
        awake = set(self._streams) if streams is None else set(streams) & set(self._streams)
        for gone in self._heard.keys() - awake:
            del self._heard[gone], self._awake_s[gone]
        for name in awake - self._heard.keys():
            self._heard[name] = set()
            self._awake_s[name] = self._network.now_s

    def heard(self, sids: Iterable[str]) -> None:
        """Takes note of sensors whose readings are in the log."""
        known = set(sids)
        for heard in self._heard.values():
            heard.update(known)

    # Time passes.

    def turn(self) -> None:
        """Takes the answers that came, publish them, and lets those views move that can."""
        if self._behind:
            self.follow()
        try:
            self._turn()
            self._look.turn()
            self._power.turn()
        except OperationalError as fault:
            # The table is busy or away: the next answer's difference holds this one's too.
            logger.warning("answers not published", reason=str(fault))

    def _turn(self) -> None:
        for name, deployed in list(self.deployed.items()):
            answers = deployed.handle.take()
            if deployed.ready_s is None:
                self._look_whether_ready(name, deployed)
            if not answers or deployed.ready_s is None:
                continue
            newest = answers[-1]
            if newest.at_s < deployed.ready_s:
                continue
            if deployed.live:
                publish(name, newest)
                self._note(name, deployed)
            else:
                deployed.first = newest
        for view, streams in list(self._moves.items()):
            if self._may_move(view, streams):
                self._move(view)

    def _handles(self) -> dict[str, list[QueryHandle]]:
        pieces = {
            name: [one.handle, *self._probes.handles(name)] for name, one in self.deployed.items()
        }
        return {**pieces, **{stream: [handle] for stream, handle in self._raw.items()}}

    def _note(self, name: str, deployed: DeployedPiece) -> None:
        self._spending.note(name, [deployed.handle, *self._probes.handles(name)])
        counted = self._probes.take(name)
        if counted:
            piece = NetworkPiece.objects.filter(name=name)
            for measured in piece.values_list("measured", flat=True):
                piece.update(measured={**measured, **counted})

    def _look_whether_ready(self, name: str, deployed: DeployedPiece) -> None:
        now_s, version = self._network.now_s, deployed.handle.version
        installed, routes = self._network.installed, self._network.hops()
        carriers = self._carriers(deployed.streams)
        waited_s = now_s - deployed.since_s
        if waited_s > SETTLE_S:
            carriers = [mote for mote in carriers if mote.spec.mote in routes]
        ready = [mote for mote in carriers if installed.get(mote.spec.mote, 0) >= version]
        routed = waited_s > SETTLE_S or all(mote.spec.mote in routes for mote in carriers)
        if len(ready) == len(carriers) and routed:
            deployed.ready_s = now_s
        elif waited_s > INSTALL_S:
            if deployed.live:
                deployed.ready_s = now_s  # it runs: what the others say is better than nothing
            else:
                missing = len(carriers) - len(ready)
                self._give_up(name, f"{missing} of {len(carriers)} motes did not get the program")

    def _may_move(self, view: str, streams: frozenset[str]) -> bool:
        placement = Placement.objects.filter(pk=view).first()
        if placement is None or not placement.moving:
            return False
        pieces = [self.deployed.get(name) for name in placement.wanted]
        if any(one is None or not (one.live or one.first) for one in pieces):
            return False
        return all(self._is_whole(stream) for stream in streams)

    def _is_whole(self, stream: str) -> bool:
        """Returns whether the log has heard of every living sensor of a stream since it is sent."""
        heard = self._heard.get(stream)
        if heard is None:
            return stream not in self._streams  # no stream of motes: its devices never sleep
        if self._network.now_s - self._awake_s[stream] > HEARD_S:
            return True
        return all(
            sensor.sid in heard
            for mote in self._carriers(frozenset((stream,)))
            for sensor in mote.spec.sensors
            if sensor.stream == stream
        )

    def _carriers(self, streams: frozenset[str]) -> list[Mote]:
        return [
            mote
            for mote in self._network.motes
            if mote.alive and any(sensor.stream in streams for sensor in mote.spec.sensors)
        ]

    def _move(self, view: str) -> None:
        answers = {name: one.first for name, one in self.deployed.items() if one.first is not None}
        if arrive(view, answers):
            logger.info("query moved", view=view)
        self.follow()


def _moving() -> list[Placement]:
    return [one for one in Placement.objects.select_related("view") if one.moving]
