"""One reading of each sensor and minute is kept for an hour."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspen.log.entry import Transaction
from smartcis import composition
from smartcis.ingest.hour import EVERY_S, PAST, Sampling
from smartcis.ingest.readings import append_readings
from smartcis.ingest.valid import ValidReading

NOW_S = 1_795_000_000.0
times = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 600)), max_size=60)


@given(times)
def test_law_each_sensor_has_its_first_reading_of_each_minute_and_no_other(met):
    met = sorted(met, key=lambda one: one[1])
    readings = [
        ValidReading("temperature_reading", (sid, "room", float(at), NOW_S + at), NOW_S + at)
        for sid, at in met
    ]
    kept = Sampling().of(readings)
    assert Counter((row.row[0], row.at_s // EVERY_S) for row in kept) == Counter(
        {(one.row[0], one.at_s // EVERY_S) for one in readings}
    )
    first: dict = {}
    for one in readings:
        first.setdefault((one.row[0], one.at_s // EVERY_S), (one.row[0], one.row[2], one.at_s))
    assert [one.row for one in kept] == list(first.values())
    assert {one.relation for one in kept} <= {PAST}


def test_nobody_is_followed():
    heard = ValidReading("rfid_reading", ("tag", "hall", 1, -60.0, NOW_S), NOW_S)
    assert Sampling().of([heard]) == []


@pytest.mark.django_db
def test_what_is_kept_is_appended_with_its_reading(house, building):
    assert building
    reading = {"sid": "m1.seat", "value": 70, "unit": "kg", "at_s": NOW_S + 7_200}
    log = composition.log()
    append_readings(log, [reading], now_s=NOW_S + 7_200)
    entries = [entry for _, entry in log.read(0, log.head()) if isinstance(entry, Transaction)]
    rows = {change.relation: change.row for change in entries[-1].changes}
    assert rows[PAST] == ("m1.seat", 70.0, NOW_S + 7_200)
    assert rows["seat_reading"][1] == "m1.seat"
