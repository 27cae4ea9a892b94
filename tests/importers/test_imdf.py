"""Broken archives are refused by the feature's name."""

from __future__ import annotations

import json

import pytest

from smartcis.importers.errors import BrokenFeature, BrokenFile, MissingFile, UnknownLevel
from smartcis.importers.imdf import read_imdf


def spoil(folder, kind, change):
    path = folder / f"{kind}.json"
    data = json.loads(path.read_text())
    change(data["features"])
    path.write_text(json.dumps(data))


def test_a_whole_archive_is_read(corridor_house):
    imdf = read_imdf(corridor_house)
    assert len(imdf.units) == 11
    assert (imdf.slug, imdf.name) == ("house", "Test house")


def test_a_missing_folder_says_what_belongs_there(tmp_path):
    with pytest.raises(MissingFile) as refused:
        read_imdf(tmp_path / "nowhere")
    assert "unit.json" in refused.value.attempt


def test_a_missing_file_is_named(corridor_house):
    (corridor_house / "unit.json").unlink()
    with pytest.raises(MissingFile, match=r"unit\.json"):
        read_imdf(corridor_house)


@pytest.mark.parametrize("text", ["{", "[]", '{"features": 3}', "\udcff"])
def test_a_broken_file_is_named(corridor_house, text):
    (corridor_house / "unit.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BrokenFile) as refused:
        read_imdf(corridor_house)
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
    ],
)
def test_a_unit_that_is_no_area_is_named(corridor_house, geometry):
    spoil(corridor_house, "unit", lambda units: units[3].update(geometry=geometry))
    with pytest.raises(BrokenFeature) as refused:
        read_imdf(corridor_house)
    assert refused.value.found == "unit-N2"


def test_a_unit_on_no_level_is_named(corridor_house):
    spoil(corridor_house, "unit", lambda units: units[3]["properties"].update(level_id="gone"))
    with pytest.raises(UnknownLevel) as refused:
        read_imdf(corridor_house)
    assert refused.value.found == "unit-N2"
    assert refused.value.exists


def test_a_level_without_ordinal_is_named(corridor_house):
    spoil(corridor_house, "level", lambda levels: levels[0]["properties"].pop("ordinal"))
    with pytest.raises(BrokenFeature, match="ordinal"):
        read_imdf(corridor_house)


def test_a_feature_without_id_is_counted_out(corridor_house):
    spoil(corridor_house, "unit", lambda units: units[3].pop("id"))
    with pytest.raises(BrokenFeature) as refused:
        read_imdf(corridor_house)
    assert refused.value.found == "unit[3]"


def test_an_id_that_stands_twice_is_named(corridor_house):
    spoil(corridor_house, "unit", lambda units: units.append(units[0]))
    with pytest.raises(BrokenFeature, match="twice"):
        read_imdf(corridor_house)
