"""The same with the real processes, web, Celery, Spark, simulator, and a client on the socket."""

from __future__ import annotations

import time
from functools import partial

import pytest
from waiting import until

from tests.bench.client import Client
from tests.bench.rig import running

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.timeout(1_800)]

WAIT_S = 420.0
BYTES_AGAINST_WAITING = "bytes=1,energy=0,latency=0.0025"
"""A metric by which bright rooms are asked for inside the network while few are bright."""
BRIGHT = """
    SELECT l.rid, l.lux FROM light_reading [PARTITION BY sid ROWS 1 RANGE 120 SECONDS] l
    WHERE l.lux > 300.0
"""
JOINED = """
    SELECT l.rid, l.sid, t.sid AS other
    FROM light_reading [PARTITION BY sid ROWS 1 RANGE 120 SECONDS] l
    JOIN temperature_reading [PARTITION BY sid ROWS 1 RANGE 120 SECONDS] t ON t.rid = l.rid
    WHERE l.lux > 300.0 AND t.celsius > 0.0
"""
OFF, ON = 40.0, 800.0


wait_for = partial(until, patience_s=WAIT_S, pause_s=0.5)


@pytest.fixture(scope="module")
def product():
    with running(settings={"SMARTCIS_PLACEMENT_WEIGHTS": BYTES_AGAINST_WAITING}) as rig:
        yield rig


def lights(rig, lux):
    for sensor in list(rig.items("sensors/?kind=light&page_size=500")):
        constant = {"waveform": "constant", "parameters": {"value": lux, "noise": 0.0}}
        rig.call("PATCH", f"sensors/{sensor['sid']}/", constant)


@pytest.fixture
def follow(product):
    """Submit a query and follow it."""
    clients = []

    def begin(sql):
        query = product.call("POST", "queries/", {"sql": sql})
        client = Client(product.url, (query["view"],))
        client.start()
        clients.append(client)
        return f"queries/{query['id']}/placement/", client.heard[query["view"]]

    yield begin
    for client in clients:
        client.stop()


def rows(heard):
    return {row: many for row, many in dict(heard.rows).items() if many}


def settled(product, path, where):
    placement = product.get(path)
    return placement["where"] == where and not placement["moving"]


def test_the_lights_decide_where_bright_rooms_are_found(product, follow):
    lights(product, OFF)
    path, heard = follow(BRIGHT)

    def told():
        return product.get(path)

    wait_for(lambda: settled(product, path, "network"), told)
    assert rows(heard) == {}
    lights(product, ON)
    sensors = sum(1 for _ in product.items("sensors/?kind=light&page_size=500"))
    wait_for(lambda: settled(product, path, "engine"), told)
    wait_for(lambda: sum(rows(heard).values()) == sensors, lambda: rows(heard))
    assert {lux for _, lux in rows(heard)} == {ON}
    lights(product, OFF)
    wait_for(lambda: settled(product, path, "network"), told)
    wait_for(lambda: rows(heard) == {}, lambda: rows(heard))
    assert heard.faults == []
    assert all(many >= 0 for many in heard.rows.values())


def test_a_join_moves_in_and_out_and_its_rows_stay(product, follow):
    lights(product, ON)
    path, heard = follow(JOINED)
    product.call("PATCH", path, {"where": "engine"})
    wait_for(lambda: settled(product, path, "engine"), lambda: product.get(path))
    wait_for(lambda: len(rows(heard)) > 5, lambda: rows(heard))
    wanted = None
    while wanted != rows(heard):  # the last sensors report
        wanted = rows(heard)
        time.sleep(40.0)
    for where in ("network", "engine"):
        product.call("PATCH", path, {"where": where})
        wait_for(lambda there=where: settled(product, path, there), lambda: product.get(path))
        wait_for(lambda: rows(heard) == wanted, lambda: rows(heard))
    assert heard.faults == []
