"""Kinds of sensor: one row is enough for the catalog, the readings, the simulator and the price."""

from __future__ import annotations

import pytest

from aspen.motes.kinds import DEVICE_KINDS, device_kind, sample_mj
from federation.sites import MOTES, SensorSite
from sensors_sim.errors import BadParameters
from sensors_sim.waveforms import WAVEFORMS, checked
from smartcis.catalog import CATALOG
from smartcis.placements.device_streams import DEVICE_STREAMS
from smartcis.queries import standing_queries


@pytest.mark.parametrize("kind", DEVICE_KINDS, ids=lambda kind: kind.key)
def test_a_row_is_enough(kind) -> None:
    relation = CATALOG.get(kind.stream)
    assert relation.device == kind.key
    value = relation.columns[relation.index(kind.measures)]
    assert value.unit == kind.unit
    assert (kind.key in MOTES) == kind.can_be_asked
    assert (kind.stream in DEVICE_STREAMS) == kind.on_air
    assert (SensorSite().sampling_refusal(relation) == "") == kind.can_be_asked
    assert kind.least_period_s <= kind.period_s <= kind.greatest_period_s
    assert sample_mj(kind.key) >= 0.0
    assert any(_fits(key, kind) for key in WAVEFORMS)


def _fits(key, kind) -> bool:
    try:
        checked(key, kind, {})
    except BadParameters as fault:
        return "needs" in fault.message
    return True


def test_every_stream_that_can_be_asked_for_is_counted() -> None:
    text = standing_queries()["stream_rate.streamsql"]
    for kind in DEVICE_KINDS:
        assert (f"FROM {kind.stream} " in text) == kind.can_be_asked, kind.stream


def test_humidity_is_measured_like_any_other_kind() -> None:
    kind = device_kind("humidity")
    assert kind.relation.names == ("rid", "sid", "humidity_pct", "at_s")
    assert sample_mj("humidity") == pytest.approx((0.55 + 1.8) * 3.0 * 0.080)
    assert checked("sine", kind, {"middle": 46, "amplitude": 9})["middle"] == 46.0
    with pytest.raises(BadParameters, match="at most 100"):
        checked("constant", kind, {"value": 101})
