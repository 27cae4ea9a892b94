"""Readings by the log time they count from."""

from __future__ import annotations

import pytest

from smartcis.ingest import readings as module
from smartcis.ingest.readings import transactions, validate
from smartcis.ingest.valid import ValidReading
from smartcis.readings.errors import BadReading

NOW_S = 1_000.25


@pytest.mark.parametrize(
    ("age_s", "at_s"),
    [(0.0, NOW_S), (9.5, NOW_S), (10.0, NOW_S), (10.5, 989.0), (-0.5, NOW_S)],
)
def test_a_reading_kept_for_more_than_ten_seconds_counts_from_its_second(age_s, at_s):
    reading = ValidReading("seat_reading", ("m1", 80.0, NOW_S - age_s), NOW_S - age_s)
    (entry,) = transactions([reading], NOW_S)
    assert (entry.at_s, [change.row for change in entry.changes]) == (at_s, [reading.row])


def test_readings_of_one_second_are_one_entry_and_older_ones_come_first():
    times_s = (NOW_S, 980.75, 980.25, 985.0)
    readings = [ValidReading("seat_reading", (str(t), t), t) for t in times_s]
    entries = transactions(readings, NOW_S)
    assert [entry.at_s for entry in entries] == [980.0, 985.0, NOW_S]
    assert [len(entry.changes) for entry in entries] == [2, 1, 1]


@pytest.mark.parametrize(("count", "said"), [(2, "no sensor"), (3, "at most 2"), (4, "at most 2")])
def test_more_readings_at_once_than_are_taken_are_refused_whole(monkeypatch, count, said):
    monkeypatch.setattr(module, "READINGS_AT_ONCE", 2)
    reading = {"sid": "nobody", "value": 1.0, "unit": "kg", "at_s": NOW_S}
    with pytest.raises(BadReading) as error:
        validate([reading] * count, {}, now_s=NOW_S)
    assert said in str(error.value)
