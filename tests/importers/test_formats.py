"""Every format, on the small buildings beside this file: what was counted by hand is found."""

from __future__ import annotations

import shutil
import zipfile

import pytest

from smartcis.importers.derive import derive
from smartcis.importers.drawing import Finding
from smartcis.importers.errors import BrokenFile, ImportRefused, UnsafeArchive
from smartcis.importers.formats import IMPORTERS, drawing_of
from smartcis.importers.geometry.check import trespasses
from tests.bench.buildings import OURS, counts, found_in

MINE = sorted(name for name, one in counts().items() if one["path"] == "ours")


@pytest.fixture(scope="module")
def plans():
    read: dict[str, object] = {}

    def plan(name):
        if name not in read:
            drawing = drawing_of(OURS / name)
            read[name] = drawing, derive(drawing)
        return read[name]

    return plan


@pytest.mark.parametrize("name", MINE)
def test_what_was_counted_is_found_and_reached(plans, name):
    drawing, plan = plans(name)
    counted = counts()[name]
    assert counted["format"] in plan.format
    assert found_in(drawing, plan) == {
        key: counted[key] for key in ("levels", "spaces", "doors", "walled")
    }
    assert plan.unreached == {}
    assert trespasses(plan.spaces, plan.graph) == []
    assert plan.entrances


def test_each_format_has_a_building():
    formats = {counts()[name]["format"] for name in MINE}
    assert len(formats) == len(IMPORTERS)


def test_names_in_any_language_stay(plans):
    _, station = plans("station")
    assert {level.name for level in station.levels} == {"地上階", "中二階", "二階"}
    assert "倉庫" in {space.name for space in station.spaces}
    _, library = plans("bibliotheque.json")
    assert "Room N0 0" in {space.name for space in library.spaces}


def test_what_was_mended_is_listed(plans):
    _, station = plans("station")
    mended = {note.where for note in station.notes if note.finding is Finding.REPAIRED}
    assert {"g", "g-N1", "u-S1"} <= mended
    assert [note.where for note in station.notes if note.finding is Finding.DROPPED] == ["lost"]


def test_lengths_are_metres_whatever_the_file_is_in(plans):
    for name in MINE:
        _, plan = plans(name)
        corridor = max(
            (space for space in plan.spaces if space.category == "walkway"),
            key=lambda space: space.polygon.area,
        )
        west, south, east, north = corridor.polygon.bounds
        assert 19 < east - west < 21, name
        assert 1.5 < north - south < 2.5, name


def test_labels_name_rooms_between_walls(plans):
    _, workshop = plans("workshop")
    names = {space.name: space.category for space in workshop.spaces}
    assert names["WC 1"] == "restroom"
    assert "N3 0" in names


def test_a_model_says_where_on_earth_it_is(plans):
    _, clinic = plans("clinic.ifc")
    assert clinic.origin == (13.4, 52.5)


def test_steps_drawn_as_a_line_join_levels(plans):
    _, school = plans("school.osm")
    ways = {edge.way for edge in school.graph.edges}
    assert {"stairs", "lift"} <= ways


@pytest.mark.parametrize("name", MINE)
def test_a_building_may_come_zipped(tmp_path, name):
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        source = OURS / name
        for one in sorted(source.rglob("*")) if source.is_dir() else [source]:
            archive.write(one, f"inside/{one.name}")
    assert len(drawing_of(packed).spaces) == len(drawing_of(OURS / name).spaces)


def test_an_archive_that_climbs_or_swells_is_refused(tmp_path):
    climbing, swelling = tmp_path / "climbing.zip", tmp_path / "swelling.zip"
    with zipfile.ZipFile(climbing, "w") as archive:
        archive.writestr("../unit.json", "{}")
    with zipfile.ZipFile(swelling, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("unit.json", b" " * 50_000_000)
    for path in (climbing, swelling):
        with pytest.raises(UnsafeArchive) as refused:
            drawing_of(path)
        assert refused.value.code == "smartcis.import.unsafe_archive"


def test_entities_of_xml_are_refused(tmp_path):
    path = tmp_path / "laughing.osm"
    path.write_text('<?xml version="1.0"?><!DOCTYPE osm [<!ENTITY a "ha">]><osm>&a;</osm>')
    with pytest.raises(UnsafeArchive):
        drawing_of(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("half.osm", b"<osm><node id='1'"),
        ("empty.osm", b"<osm></osm>"),
        ("empty.json", b'{"elements": []}'),
        ("none.geojson", b'{"type": "FeatureCollection", "features": []}'),
        ("half.zip", b"PK\x03\x04"),
        ("plan.ifc", b"ISO-10303-21;\nHEADER;\nrubbish"),
        ("cells.gml", b"<IndoorFeatures xmlns='gml'/>"),
    ],
)
def test_what_holds_no_building_is_refused(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ImportRefused) as refused:
        derive(drawing_of(tmp_path / name))
    assert refused.value.code.startswith("smartcis.import.")


def test_a_model_cut_short_is_refused_by_name(tmp_path):
    whole = (OURS / "clinic.ifc").read_bytes()
    cut = tmp_path / "cut.ifc"
    cut.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(BrokenFile, match="cut short"):
        drawing_of(cut)


def test_a_folder_with_one_spoilt_file_tells_of_it(tmp_path):
    shutil.copytree(OURS / "workshop", tmp_path / "workshop")
    (tmp_path / "workshop" / "floor-1.geojson").write_text("{")
    drawing = drawing_of(tmp_path / "workshop")
    assert any(note.where == "floor-1.geojson" for note in drawing.notes)
    assert len(derive(drawing).levels) == 1
