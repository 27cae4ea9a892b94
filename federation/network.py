"""Network: what the optimizer knows of the motes: who hands frames to whom, and who measures what.

    base ◄─1.0─ m1 ◄─1.3─ m2 {seat 7}      way(m2) = 1.3 frames to m1, which sleeps, 1.0 to the base

Measured networks are read off a host's tree and links; of one that nobody has looked at, a tree of
rooms is guessed, and every estimate made over it says so.

Law: `expected(m, p)` grows with every link's expected transmissions, wake interval and with p.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from aspen.model.schema import Value
from aspen.motes.hardware import GREATEST_HOPS, WAKE_S
from aspen.motes.protocol import FAIR_ETX
from federation.radio import TX_MA, RadioFrame, broadcast, total, tries, unicast

BASE = ""
GUESSED_ETX = 1.1  # own guess: parents are chosen among good links
GUESSED_HEARERS = 8.0  # own guess: a room and its neighbours
ROOMS_BELOW = 2  # own guess: rooms whose frames one room forwards


@dataclass(frozen=True, slots=True)
class MoteNode:
    """A mote.

    Args:
        parent: the mote it hands its frames to, `BASE` for a base station.
        etx: expected transmissions of a usual frame to the parent, acknowledgement included.
        wake_s: between two of its own looks at the channel; 0 when it always listens.
        hearers: motes expected to receive a broadcast of it.
    """

    parent: str = BASE
    etx: float = 1.0
    wake_s: float = WAKE_S
    hearers: float = GUESSED_HEARERS


@dataclass(frozen=True, slots=True)
class Device:
    """A sensor on a mote.

    Args:
        kind: what `radio.sample_mj` knows it by.
        attributes: columns of the stream that never change for it.
    """

    sid: str
    stream: str
    mote: str
    kind: str = ""
    attributes: Mapping[str, Value] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Network:
    """The motes with a way to a base station, and their sensors.

    Args:
        nodes: by name; base stations are not among them.
        near: expected transmissions between motes that know each other, besides the tree.
        bases: base stations; each passes keys on too.
        tx_ma: current of the radios while sending.
        measured: whether somebody looked, or this is a guess.
        forwarders: motes that are known to pass floods on, besides those on the ways of today.
    """

    nodes: Mapping[str, MoteNode]
    devices: tuple[Device, ...]
    near: Mapping[tuple[str, str], float] = field(default_factory=dict)
    bases: int = 1
    tx_ma: float = TX_MA
    measured: bool = True
    forwarders: frozenset[str] = frozenset()

    @classmethod
    def known(
        cls,
        wakes_s: Mapping[str, float],
        parents: Mapping[str, str],
        links: Mapping[tuple[str, str], float],
        devices: Iterable[Device],
        tx_ma: float = TX_MA,
        forwarders: Iterable[str] = (),
    ) -> Network:
        """Take what a network tells of itself.

        Args:
            wakes_s: wake interval of every mote that is no base station.
            parents: by mote; a parent that `wakes_s` does not know is a base station.
            links: expected transmissions by pair of motes, as they estimate them.
            devices: those on motes without a way are left out: they reach nobody.
        """
        heard: dict[str, float] = defaultdict(float)
        for (mote, _), etx in links.items():
            heard[mote] += etx**-0.5  # a broadcast needs one way of the two
        rooted = {mote for mote in wakes_s if _rooted(mote, parents, wakes_s)}
        nodes = {
            mote: MoteNode(
                parents[mote] if parents[mote] in wakes_s else BASE,
                links.get((mote, parents[mote]), GUESSED_ETX),
                wakes_s[mote],
                heard[mote],
            )
            for mote in sorted(rooted)
        }
        bases = {parents[mote] for mote in rooted} - set(wakes_s)
        near = {pair: etx for pair, etx in links.items() if etx < FAIR_ETX and {*pair} <= rooted}
        reachable = tuple(one for one in devices if one.mote in rooted)
        told = frozenset(forwarders) & rooted
        return cls(nodes, reachable, near, max(1, len(bases)), tx_ma, forwarders=told)

    @classmethod
    def guessed(cls, streams: Mapping[str, tuple[str, int, Sequence[str]]]) -> Network:
        """Guess a network of which only the number of sensors is known.

        One mote per sensor, spread evenly over as many rooms as the rarest stream has sensors; a
        room's first mote forwards for the room and for two rooms behind it. Sensors of one room
        agree in every fixed column but their own key, so equal columns join within rooms.

        Args:
            streams: kind of device, number of sensors, and fixed columns, by stream.
        """
        many = max(1, min((count for _, count, _ in streams.values()), default=1))
        nodes: dict[str, MoteNode] = {}
        devices: list[Device] = []
        heads: dict[int, str] = {}
        near: dict[tuple[str, str], float] = {}
        members: dict[int, list[str]] = defaultdict(list)
        for stream, (kind, count, fixed) in sorted(streams.items()):
            for number in range(count):
                room = number % many
                mote = f"{stream} {number}"
                if room in heads:
                    parent = heads[room]
                else:
                    parent = heads.get((room + 1) // ROOMS_BELOW - 1, BASE)
                    heads[room] = mote
                nodes[mote] = MoteNode(parent, GUESSED_ETX)
                for other in members[room]:
                    near[mote, other] = near[other, mote] = GUESSED_ETX
                members[room].append(mote)
                attributes: dict[str, Value] = dict.fromkeys(fixed, f"room {room}")
                devices.append(Device(mote, stream, mote, kind, attributes))
        return cls(nodes, tuple(devices), near, measured=False)

    def of(self, stream: str) -> tuple[Device, ...]:
        """Returns the sensors of a stream."""
        return self._by_stream.get(stream, ())

    def lasts(self, stream: str, column: str) -> bool:
        """Say whether a column never changes for a sensor of a stream."""
        devices = self.of(stream)
        return bool(devices) and column in devices[0].attributes

    @cached_property
    def _by_stream(self) -> Mapping[str, tuple[Device, ...]]:
        found: dict[str, list[Device]] = defaultdict(list)
        for one in self.devices:
            found[one.stream].append(one)
        return {stream: tuple(devices) for stream, devices in found.items()}

    def way(self, mote: str) -> tuple[str, ...]:
        """Returns the motes from one up to the last before the base, itself first."""
        return self._way(mote)

    @cached_property
    def _way(self) -> Callable[[str], tuple[str, ...]]:
        @cache
        def way(mote: str) -> tuple[str, ...]:
            parent = self.nodes[mote].parent
            return (mote,) if parent == BASE else (mote, *way(parent))

        return way

    @cached_property
    def _price(self) -> Callable[[str, str, float], RadioFrame]:
        return cache(self._moved)

    def to_base(self, mote: str, payload_bytes: float) -> RadioFrame:
        """Returns what bringing a payload from a mote to a base station is expected to take."""
        return self.move(mote, BASE, payload_bytes)

    def move(self, src: str, target: str, payload_bytes: float) -> RadioFrame:
        """What moving a payload from a mote to another, or to the base, is expected to take.

        A neighbour that is heard well is spoken to directly; all others along the tree, up to
        where both ways meet and down again.
        """
        return self._price(src, target, payload_bytes)

    def _moved(self, src: str, target: str, payload_bytes: float) -> RadioFrame:
        if src == target:
            return RadioFrame()
        up = self.way(src)
        down = () if target == BASE else self.way(target)
        frames = []
        for mote in up:
            if mote in down:
                break
            direct = self.near.get((mote, target)) if target != BASE else None
            if direct is not None:
                frames.append(self._hop(direct, self.nodes[target].wake_s, payload_bytes))
                return total(frames)
            frames.append(self.hop(mote, payload_bytes))
        turned = next((mote for mote in up if mote in down), BASE)
        for mote in down:
            if mote == turned:
                break
            frames.append(self._hop(self.nodes[mote].etx, self.nodes[mote].wake_s, payload_bytes))
        return total(frames)

    def hop(self, mote: str, payload_bytes: float) -> RadioFrame:
        """Returns what handing a payload to a mote's parent is expected to take."""
        node = self.nodes[mote]
        wake_s = 0.0 if node.parent == BASE else self.nodes[node.parent].wake_s
        return self._hop(node.etx, wake_s, payload_bytes)

    def _hop(self, etx: float, wake_s: float, payload_bytes: float) -> RadioFrame:
        return unicast(payload_bytes, wake_s, self.tx_ma).times(tries(etx))

    def flood(self, payload_bytes: float, forwarders: Iterable[str]) -> RadioFrame:
        """Returns what telling everybody takes, once: every base and every forwarder speaks.

        Returns:
            Bytes and energy of all; how long the deepest waits.
        """
        spoken = [self._call(mote, payload_bytes) for mote in forwarders]
        base = broadcast(payload_bytes, GUESSED_HEARERS, self._sleepiest_s, self.tx_ma)
        spoken += [base] * self.bases
        depth = max(Counter(len(self.way(mote)) for mote in self.nodes), default=0)
        return replace(total(spoken), lasts_ms=depth * base.lasts_ms)

    @cached_property
    def _sleepiest_s(self) -> float:
        return max((node.wake_s for node in self.nodes.values()), default=0.0)

    def _call(self, mote: str, payload_bytes: float) -> RadioFrame:
        return broadcast(payload_bytes, self.nodes[mote].hearers, self._sleepiest_s, self.tx_ma)


def _rooted(mote: str, parents: Mapping[str, str], motes: Mapping[str, float]) -> bool:
    for _ in range(GREATEST_HOPS):
        parent = parents.get(mote, "")
        if not parent:
            return False
        if parent not in motes:
            return True
        mote = parent
    return False
