"""EXPLAIN: text and data say the same, under whatever metric, limit and measurement is given."""

from __future__ import annotations

import json

import pytest
from federation_support.building import CATALOG, EXAMPLE_14, KNOWN, SEAT_LIGHT_TEMPERATURE
from federation_support.explaining import explain, journeys
from hypothesis import given
from hypothesis import strategies as st

from federation.cost import BadWeights, Cost, Weights, read_weights
from federation.explain import Assumed
from federation.sites import SensorSite

BY_LATENCY = Weights(0.0, 0.0, 1.0, 0.0)


def told(text, **given_):
    (journey,) = journeys(text, CATALOG, Assumed(KNOWN, **given_))
    return journey


def chosen(journey):
    return [
        alternative["parts"]
        for question in journey.data["questions"]
        for alternative in question["alternatives"]
        if alternative["chosen"]
    ]


@pytest.mark.parametrize("text", [EXAMPLE_14, SEAT_LIGHT_TEMPERATURE])
def test_data_is_json_and_says_what_the_text_says(text):
    journey = told(text)
    data = json.loads(json.dumps(journey.data))
    for question in data["questions"]:
        assert question["about"] in journey.text
        assert sum(one["chosen"] for one in question["alternatives"]) == 1
        for one in question["alternatives"][:12]:
            assert " + ".join(one["parts"]) in journey.text
            assert one["chosen"] or one["verdict"].startswith("lost: ")
        weighed = [one["weighed"] for one in question["alternatives"]]
        assert weighed == sorted(weighed)
    for piece in data["pieces"]:
        assert piece["title"] in journey.text
        assert all(line in journey.text for line in piece["sql"].splitlines())
    assert explain(text, CATALOG, KNOWN) == journey.text


def test_the_graph_ends_at_the_goal_with_the_chosen_cost():
    (question,) = [q for q in told(EXAMPLE_14).data["questions"] if q["graph"]]
    graph = question["graph"]
    assert graph["cost"] == pytest.approx(question["alternatives"][0]["weighed"])
    assert graph["nodes"][0]["expr"] == "m+ms+sr+ss"
    for node in graph["nodes"]:
        assert [way["verdict"] for way in node["ways"]].count("chosen") == 1


def test_whoever_cannot_wait_gets_rows_as_they_are_measured():
    by_energy = told(EXAMPLE_14, weights=Weights(0.0, 1.0, 0.0, 0.0))
    by_latency = told(EXAMPLE_14, weights=BY_LATENCY)
    assert any("join" in part for parts in chosen(by_energy) for part in parts)
    assert ["sr as measured", "ss as measured"] in [sorted(one) for one in chosen(by_latency)]
    assert by_latency.data["weights"]["latency"] == 1.0


def test_a_limit_of_joins_is_kept_and_told():
    journey = told(SEAT_LIGHT_TEMPERATURE, sensors=SensorSite(joins=1))
    refused = [one for q in journey.data["questions"] for one in q["refused"]]
    assert any("may hold 1 joins" in one["why"] for one in refused)


def test_what_a_running_piece_takes_stands_beside_the_estimate():
    name = next(p["title"].split()[0] for p in told(EXAMPLE_14).data["pieces"] if p["estimate"])
    journey = told(EXAMPLE_14, measured={name: Cost(12.5, 3.25, 9000.0)})
    (piece,) = [one for one in journey.data["pieces"] if one["measured"]]
    assert piece["measured"]["energy_mj_per_s"] == 3.25
    assert "measured: 12.5 B/s, 3.250 mJ/s" in journey.text


def test_estimates_say_where_their_shares_come_from():
    (piece,) = [one for one in told(EXAMPLE_14).data["pieces"] if one["estimate"]]
    assert {one["origin"] for one in piece["estimate"]["keeps"]} == {"guessed"}
    assert piece["estimate"]["network"] == "guessed"


weights = st.dictionaries(st.sampled_from(sorted(Weights.words())), st.floats(0, 1e6), max_size=4)


@given(weights)
def test_weights_read_from_words_are_those_words(given_):
    found = read_weights(", ".join(f"{name}={value!r}" for name, value in given_.items()))
    for name in Weights.words():
        assert getattr(found, name) == given_.get(name, getattr(Weights(), name))


@pytest.mark.parametrize("text", ["mass=1", "energy", "energy=-1", "energy=heavy", "energy=inf"])
def test_words_that_are_no_weights_are_refused(text):
    with pytest.raises(BadWeights) as caught:
        read_weights(text)
    assert caught.value.code == "federation.bad_weights"
