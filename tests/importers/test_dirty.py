"""Dirty drawings: whatever shapes and words come in, a building or a refusal comes out."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smartcis.importers.derive import derive
from smartcis.importers.errors import ImportRefused
from smartcis.importers.formats import drawing_of
from smartcis.importers.geometry.check import trespasses
from smartcis.importers.run import run
from smartcis.models import Level, OutboxEntry, RoutingEdge, RoutingNode, Unit, Venue
from smartcis.models.outbox import _Committed
from tests.importers.conftest import PER_M

TABLES = (Venue, Level, Unit, RoutingNode, RoutingEdge)

# Corners on a coarse grid: shapes share walls, overlap, double back and cross themselves.
corner = st.tuples(st.integers(0, 12), st.integers(0, 8))
crooked = st.lists(corner, min_size=1, max_size=7)
upright = st.builds(
    lambda x, y, w, h: [(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)],
    st.integers(0, 12),
    st.integers(0, 8),
    st.integers(0, 6),
    st.integers(0, 6),
)
ring = st.one_of(upright, upright, crooked)
words = st.sampled_from(
    [
        *("room", "corridor", "stairs", "elevator", "wall", "door", "column", "entrance", "level"),
        *("building", "desk", "zork", "", None, 7, "Büro", "path"),
    ]
)
floors = st.sampled_from([0, 1, "0", "EG", "1;2", "0.5", "-1", "west", None, True, [0, 1], 99, ""])
names = st.sampled_from([None, "", "A", "Ä/1", "会議室", "x" * 300, {"de": "Raum"}, {"en": 3}, 12])


def shape(kind, points):
    at = [[x * PER_M, y * PER_M] for x, y in points]
    match kind:
        case "Polygon":
            return {"type": kind, "coordinates": [[*at, at[0]]]}
        case "MultiPolygon":
            return {"type": kind, "coordinates": [[[*at, at[0]]], [[*at[::-1], at[-1]]]]}
        case "LineString":
            return {"type": kind, "coordinates": at}
        case "Point":
            return {"type": kind, "coordinates": at[0]}
        case _:
            return kind


geometries = st.builds(
    shape,
    st.sampled_from(["Polygon"] * 6 + ["MultiPolygon", "LineString", "Point", "Nonsense", None]),
    ring,
)
features = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.just("Feature"),
            "geometry": geometries,
            "properties": st.fixed_dictionaries({"type": words, "level": floors, "name": names}),
        },
        optional={"id": st.sampled_from(["a", "b", 3, None])},
    ),
    min_size=1,
    max_size=14,
)


def written(folder, drawn):
    path = folder / "plan.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": drawn}))
    return path


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=features)
def test_a_dirty_plan_is_a_building_or_a_refusal(tmp_path_factory, drawn):
    path = written(tmp_path_factory.mktemp("dirty"), drawn)
    try:
        plan = derive(drawing_of(path))
    except ImportRefused:  # anything else is a fault
        return
    assert plan.levels
    assert trespasses(plan.spaces, plan.graph) == []
    assert len({space.rid for space in plan.spaces}) == len(plan.spaces)
    assert all(note.what and note.why for note in plan.notes)


def everything():
    return {model.__name__: sorted(map(str, model.objects.values_list())) for model in TABLES}


@pytest.mark.database
@pytest.mark.django_db
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(drawn=features)
def test_a_preview_changes_nothing_and_twice_is_once(tmp_path_factory, monkeypatch, drawn):
    monkeypatch.setattr(_Committed, "listeners", ())
    path = written(tmp_path_factory.mktemp("dirty"), drawn)
    before, entries = everything(), OutboxEntry.objects.count()
    try:
        preview = run(path, preview=True)
    except ImportRefused:
        with pytest.raises(ImportRefused):
            run(path, replace=True)
        assert (everything(), OutboxEntry.objects.count()) == (before, entries)
        return
    assert (everything(), OutboxEntry.objects.count()) == (before, entries)
    first = run(path, replace=True)
    assert len(first.plan.spaces) == len(preview.plan.spaces)
    after, entries = everything(), OutboxEntry.objects.count()
    assert run(path).stored.nothing
    assert (everything(), OutboxEntry.objects.count()) == (after, entries)
