"""Channels: FIFO whatever the sizes, every byte counted, a budget that ends what would not end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.experiments.network.exchange import Exchange, Item, TurnedOut
from tests.experiments.network.fact import link
from tests.experiments.network.network import QueryNetwork
from tests.experiments.network.sizes import PACKET_BYTES


class Listener:
    """Keeps what it hears, with the time."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.heard: list[tuple[float, Item]] = []

    def turn(self, items: Sequence[Item]) -> None:
        self.heard += [(self.exchange.now_s, item) for item in items]


@given(sizes=st.lists(st.integers(0, 10_000), min_size=1, max_size=20))
def test_a_channel_keeps_the_order_and_counts_the_bytes(sizes):
    exchange = Exchange(lambda _from, _to: 0.5, bandwidth_bytes_per_s=1_000.0)
    listener = Listener(exchange)
    exchange.takers += [listener, listener]
    for number, size in enumerate(sizes):
        exchange.send(0, 1, [("item", number)], size)
    exchange.run()
    total = sum(sizes) + PACKET_BYTES * len(sizes)
    assert [item for _, item in listener.heard] == [("item", n) for n in range(len(sizes))]
    assert exchange.now_s == pytest.approx(0.5 + total / 1_000.0)
    assert (exchange.meter.bytes, exchange.meter.packets) == (total, len(sizes))
    assert exchange.meter.items == {"item": len(sizes)}


def test_a_budget_ends_what_sends_on_and_on():
    network = QueryNetwork("absorption-eager", 12)
    network.exchange.cpu_budget_s = 0.05
    with pytest.raises(TurnedOut, match="still send"):
        network.insert(link(a, b) for a in range(9) for b in range(9))


def test_counts_depend_on_nothing_but_the_inputs():
    meters = []
    for _ in range(2):
        network = QueryNetwork("absorption-lazy", 5)
        facts = [link(a, (a * 7 + b) % 23) for a in range(23) for b in range(1, 4)]
        took_s = network.insert(facts) + network.delete(facts[::3])
        meters.append((took_s, network.meter.items, network.meter.bytes_from))
    assert meters[0] == meters[1]
