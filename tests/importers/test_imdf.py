"""IMDF: what is required, what is used, and what happens to what is broken."""

from __future__ import annotations

import json

import pytest

from smartcis.importers.derive import derive
from smartcis.importers.drawing import Finding
from smartcis.importers.errors import BrokenFile, MissingFile, UnknownFormat
from smartcis.importers.formats import drawing_of
from tests.importers.conftest import unit, write_archive


def spoil(folder, kind, change):
    path = folder / f"{kind}.json"
    data = json.loads(path.read_text())
    change(data["features"])
    path.write_text(json.dumps(data))


def noted(plan, finding):
    return {note.where: note.why for note in plan.notes if note.finding is finding}


def test_a_whole_archive_is_read(corridor_house):
    drawing = drawing_of(corridor_house)
    assert len(drawing.spaces) == 11
    assert (drawing.slug, drawing.name) == ("house", "Test house")


def test_a_missing_path_is_said(tmp_path):
    with pytest.raises(MissingFile, match="nowhere"):
        drawing_of(tmp_path / "nowhere")


def test_what_is_of_no_format_is_told_which_there_are(tmp_path):
    (tmp_path / "plan.dwg").write_bytes(b"AC1032")
    with pytest.raises(UnknownFormat) as refused:
        drawing_of(tmp_path)
    assert any("IMDF" in name for name in refused.value.exists)


def test_a_missing_file_is_named(corridor_house):
    (corridor_house / "unit.json").unlink()
    with pytest.raises(MissingFile, match="unit"):
        drawing_of(corridor_house)


@pytest.mark.parametrize("text", ["{", "[]", '{"features": 3}', "\udcff"])
def test_a_broken_file_is_named(corridor_house, text):
    (corridor_house / "unit.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BrokenFile) as refused:
        drawing_of(corridor_house)
    assert refused.value.found == "unit.json"


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 0]]]},
        {"type": "Polygon"},
        {"type": "Nonsense", "coordinates": [1]},
        {"type": "Polygon", "coordinates": [[["a", "b"], ["c", "d"], ["e", "f"], ["a", "b"]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [0, 1], [1, 1e300], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[8, 8], [8, 8.1], [8.1, 8], [8, 8]]]},
    ],
)
def test_a_unit_that_is_no_area_of_the_venue_is_left_out_by_name(corridor_house, geometry):
    spoil(corridor_house, "unit", lambda units: units[3].update(geometry=geometry))
    plan = derive(drawing_of(corridor_house))
    assert "unit-N2" in noted(plan, Finding.DROPPED)
    assert len([space for space in plan.spaces if not space.derived]) == 10
    assert not plan.unreached


def test_a_unit_on_no_level_is_put_on_the_only_one(corridor_house):
    spoil(corridor_house, "unit", lambda units: units[3]["properties"].update(level_id="gone"))
    plan = derive(drawing_of(corridor_house))
    assert "unit-N2" in noted(plan, Finding.CONCLUDED)
    assert "N2" in {space.rid for space in plan.spaces}


def test_a_unit_on_no_level_of_several_is_left_out(tmp_path):
    units = [unit("a", (0, 0, 4, 4), level="l0"), unit("b", (0, 0, 4, 4), level="gone")]
    plan = derive(drawing_of(write_archive(tmp_path, units, levels=[("l0", 0), ("l1", 1)])))
    assert "gone" in noted(plan, Finding.DROPPED)["unit-b"]


def test_a_level_without_ordinal_is_known_by_its_name_or_refused(corridor_house):
    def nameless(levels):
        levels[0]["properties"]["name"] = {"en": "West"}

    spoil(corridor_house, "level", lambda levels: levels[0]["properties"].pop("ordinal"))
    plan = derive(drawing_of(corridor_house))
    assert [level.ordinal for level in plan.levels] == [0]
    spoil(corridor_house, "level", nameless)
    with pytest.raises(BrokenFile, match="ordinal"):
        drawing_of(corridor_house)


def test_a_mezzanine_lies_between_its_neighbours(tmp_path):
    units = [
        unit(f"stairs {level}", (0, 0, 4, 4), "stairs", level=level) for level in ("g", "m", "u")
    ]
    units += [
        unit(f"hall {level}", (4, 0, 8, 4), "walkway", level=level) for level in ("g", "m", "u")
    ]
    levels = [("g", 0), ("m", 0.5), ("u", 1)]
    plan = derive(drawing_of(write_archive(tmp_path, units, levels=levels)))
    assert [level.level_id for level in plan.levels] == ["L0", "L0.5", "L1"]
    assert not plan.unreached


def test_two_levels_of_one_ordinal_are_one(tmp_path):
    units = [
        unit("east", (0, 0, 4, 4), "walkway", level="l0"),
        unit("west", (4, 0, 4, 4), level="other"),
    ]
    folder = write_archive(tmp_path, units, levels=[("l0", 0), ("other", 0)])
    plan = derive(drawing_of(folder))
    assert len(plan.levels) == 1
    assert "other" in noted(plan, Finding.REPAIRED)["l0"]
    assert not plan.unreached


def test_a_feature_without_id_is_called_by_its_place(corridor_house):
    spoil(corridor_house, "unit", lambda units: units[3].pop("id"))
    assert "unit.json, feature 4" in {space.key for space in drawing_of(corridor_house).spaces}


def test_an_id_that_stands_twice_is_two_things(corridor_house):
    spoil(corridor_house, "unit", lambda units: units[4].update(id=units[3]["id"]))
    plan = derive(drawing_of(corridor_house))
    assert "unit-N2" in noted(plan, Finding.REPAIRED)
    assert not plan.unreached


def test_occupants_name_units_and_walls_are_no_rooms(corridor_house):
    def nameless(units):
        for one in units:
            if one["id"] == "unit-N1":
                one["properties"]["name"] = None
            if one["id"] == "unit-S4":
                one["properties"]["category"] = "structure"

    spoil(corridor_house, "unit", nameless)
    anchor = {"id": "anchor", "properties": {"unit_id": "unit-N1"}, "geometry": None}
    occupant = {"id": "o", "properties": {"anchor_id": "anchor", "name": {"de": "Bäckerei"}}}
    for kind, feature in (("anchor", anchor), ("occupant", occupant)):
        feature |= {"type": "Feature", "geometry": None}
        collection = {"type": "FeatureCollection", "features": [feature]}
        (corridor_house / f"{kind}.json").write_text(json.dumps(collection))
    plan = derive(drawing_of(corridor_house))
    rooms = {space.feature_id: space for space in plan.spaces}
    assert (rooms["unit-N1"].rid, rooms["unit-N1"].name) == ("Baeckerei", "Bäckerei")
    assert "unit-S4" not in rooms
