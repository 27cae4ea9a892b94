"""The shapes change as many rows as they say, and the line is fitted and drawn."""

from __future__ import annotations

import pytest

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from tests.bench.peers.cases import QUERIES
from tests.bench.peers.ours import CATALOG, VIEW
from tests.bench.slope import CHAIN, SHAPES, measure, slope
from tests.bench.slope_figure import draw


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("rows", [300, 3_000])
def test_a_deletion_changes_as_many_rows_however_large_the_view(shape, rows) -> None:
    tables, links = shape.make(rows)
    lane = Lane()

    def take(*entries):
        return lane.apply(list(enumerate(entries, start=lane.position + 1)))

    take(*(Declare(0.0, relation) for relation in CATALOG))
    loaded = tuple(Change(name, 1, row) for name in tables for row in tables[name])
    plan = compile_query(QUERIES[shape.query], CATALOG).plan
    take(Transaction(0.0, loaded), Register(0.0, VIEW, plan_text(plan)))
    assert abs(len(lane.rows(VIEW)) - rows) < 2 * CHAIN * CHAIN
    (change,) = take(Transaction(0.0, (Change("link", -1, links[-1]),)))
    assert sum(weight < 0 for weight in change.delta.values()) == CHAIN


def test_a_point_has_its_rows_and_times() -> None:
    point = measure(SHAPES[0], 300, 5)
    assert point["rows"] == 275
    assert min(point["deletion_p50_ms"], point["insertion_p50_ms"], point["load_s"]) > 0


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_the_slope_is_the_power_by_which_time_follows_rows(power) -> None:
    points = [(10.0**n, 3 * 10.0 ** (n * power)) for n in range(3, 7)]
    assert slope(points) == pytest.approx(power, abs=1e-9)


def test_the_same_points_are_drawn_alike(tmp_path) -> None:
    series, slopes = {"one": [(1e3, 0.1), (1e4, 0.2)]}, {"one": 0.3}
    for name in ("first.svg", "second.svg"):
        draw(tmp_path / name, series, slopes)
    first = (tmp_path / "first.svg").read_bytes()
    assert first == (tmp_path / "second.svg").read_bytes()
    assert b"slope +0.30" in first
