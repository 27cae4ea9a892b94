"""Export and import are inverse: over the same building nothing changes; elsewhere it is the same.

Not in the tables, and so not in an export: walls, columns, paths, and what is furnished.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shapely.geometry import Polygon

from smartcis.exporters.formats import EXPORTERS
from smartcis.exporters.stored import stored_drawing
from smartcis.importers.run import run
from smartcis.importers.store import clear
from smartcis.models import Building, Door, Level, RoutingNode, Unit, Venue
from smartcis.models.outbox import _Committed
from tests.bench.buildings import OURS
from tests.importers.conftest import entrance, opening, unit, write_archive

pytestmark = [pytest.mark.database, pytest.mark.django_db]
FILES = (
    *("amt.geojson", "bibliotheque.json", "clinic.ifc", "laboratory.gml", "school.osm"),
    *("station", "workshop"),
)


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    monkeypatch.setattr(_Committed, "listeners", ())


def model():
    """What the importer's model says of the building, except for shapes and places."""
    return {
        "venue": list(Venue.objects.values_list("slug", "name", "attribution")),
        "buildings": sorted(Building.objects.values_list("feature_id", "name")),
        "levels": sorted(
            Level.objects.values_list("level_id", "feature_id", "ordinal", "name", "short_name")
        ),
        "units": sorted(
            Unit.objects.values_list("rid", "level", "feature_id", "name", "category", "derived")
        ),
        "reached": sorted(Unit.objects.filter(unreached="").values_list("rid", flat=True)),
        "doors": Counter(Door.objects.values_list("inner", "outer", "derived")),
        "entrances": Counter(
            RoutingNode.objects.filter(kind="entrance").values_list("unit", "name", "derived")
        ),
    }


def outlines():
    return {one.rid: Polygon(one.polygon[0], one.polygon[1:]) for one in Unit.objects.all()}


def door_places():
    found = defaultdict(list)
    for one in Door.objects.all():
        found[one.inner_id, one.outer_id].append((one.x_m, one.y_m))
    return found


def comes_back(folder):
    """Exports the building that is there, imports it here and elsewhere."""
    before, shapes, places = model(), outlines(), door_places()
    files = []
    for exporter in EXPORTERS:
        path = folder / f"export{exporter.endings[0]}"
        path.write_bytes(exporter.write(stored_drawing()))
        files.append(path)
        report = run(path)
        written = {name: one.updated for name, one in report.changes.tables.items()}
        assert report.stored.nothing, (vars(report.stored), written)
    for path in files:
        clear()
        run(path)
        assert model() == before
        for rid, shape in outlines().items():
            assert shapely.hausdorff_distance(shape.boundary, shapes[rid].boundary) <= 0.002
        for pair, points in door_places().items():
            assert all(min(math.dist(at, old) for old in places[pair]) <= 0.05 for at in points)


@pytest.mark.parametrize("name", FILES)
def test_every_example_comes_back(name, tmp_path):
    run(OURS / name)
    comes_back(tmp_path)


@settings(
    deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rooms=st.lists(
        st.tuples(
            st.integers(2, 6),
            st.integers(2, 6),
            st.sampled_from(("room", "office", "walkway", "restroom")),
        ),
        min_size=1,
        max_size=5,
    ),
    levels=st.integers(1, 2),
    gap=st.sampled_from((0, 1, 2)),
    doors=st.booleans(),
)
def test_any_building_comes_back(rooms, levels, gap, doors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    units, openings = [], []
    for level in range(levels):
        key, x = f"level-{level}", 0
        for number, (width, depth, category) in enumerate(rooms):
            units.append(unit(f"{level}.{number}", (x, 7, width, depth), category, key))
            if doors:
                openings.append(opening(x + width / 2, 7, key) | {"id": f"door-{level}-{number}"})
            x += width + gap
        units.append(unit(f"corridor-{level}", (0, 5, x, 2), "walkway", key))
        units.append(unit(f"stairs-{level}", (-3, 5, 3, 2), "stairs", key))
    keys = [(f"level-{level}", level) for level in range(levels)]
    clear()
    run(write_archive(folder / "house", units, [entrance(1, 5)], keys, openings))
    comes_back(folder)
