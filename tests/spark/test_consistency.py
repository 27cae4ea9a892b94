"""Nobody ever sees an answer that is right for no log prefix, whoever dies in between.

The money of a bank is moved about while workers and sockets are killed; every state that any page
was ever in is compared with the from-scratch answer at the log position the page was told.
"""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async
from live.bank import ALWAYS_EMPTY, QUERIES, Bank
from live.reader import Reader
from live.sockets import story
from spark import product

from aspen.results.engine_status import read_status
from smartcis import composition
from smartcis.live import consumers

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

PAGES = (  # views, messages before the socket dies
    (tuple(QUERIES), 0),
    (("total", "zero", "difference"), 12),
    (("credit", "debit", "drift", "half"), 9),
    (("reach", "credit", "unheard"), 5),
)


async def play(session, config, bank, *, rounds, steps):
    """Move money while workers and sockets die; compare all that was ever shown."""
    await sync_to_async(bank.begin)()
    readers = [Reader(views, seed, stays) for seed, (views, stays) in enumerate(PAGES)]
    results = composition.results()
    with product.running(config, session):
        following = [asyncio.create_task(reader.run()) for reader in readers]
        for number in range(rounds):
            for step in range(steps):
                await asyncio.to_thread(bank.step)
                if number and step == steps // 2:
                    pid = read_status(composition.server(), config.results_name).lane_pids[0]
                    os.kill(pid, signal.SIGKILL)
            await asyncio.to_thread(product.caught_up, results, bank.log)
        expected = bank.answers(bank.transfers)
        for reader in readers:
            await reader.settle(expected)
        await asyncio.gather(*following)
    shown = [one for reader in readers for one in reader.shown]
    for one in shown:
        assert one.rows == bank.answers_at(one.position)[one.view], one
    assert {one.view for one in shown} == set(QUERIES)
    assert not any(one.rows for one in shown if one.view in ALWAYS_EMPTY)
    assert all(reader.deltas for reader in readers)


def engine_config(config, building, **changes):
    """Let the engine work for the building that Django's parts speak of."""
    return replace(config, log_name=building, results_name=building, **changes)


@story
async def test_money_is_never_made_nor_lost(session, config, building, monkeypatch):
    monkeypatch.setattr(consumers, "HEARTBEAT_S", 0.2)
    # Small epochs, so that there are many cuts; small snapshots, so that workers rebuild from them.
    config = engine_config(config, building, entries_per_batch=3, compact_entries=15)
    await play(session, config, Bank(composition.log()), rounds=2, steps=18)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
@story
async def test_money_is_never_made_nor_lost_for_long(session, config, building, monkeypatch, seed):
    monkeypatch.setattr(consumers, "HEARTBEAT_S", 0.2)
    config = engine_config(
        config, building, entries_per_batch=1 + 3 * seed, compact_entries=40, keep_entries=60
    )
    bank = Bank(composition.log(), accounts=12, seed=seed)
    await play(session, config, bank, rounds=12, steps=60)
