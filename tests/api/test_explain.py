"""Explaining over REST and the shell: the optimizer's decision as data, under one's own metric."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

SQL = """
SELECT l.rid, l.lux, t.celsius
FROM light_reading [PARTITION BY sid ROWS 1] l, temperature_reading [PARTITION BY sid ROWS 1] t
WHERE l.rid = t.rid AND l.lux < 10.0 AND t.celsius > 30.0
"""
IMPATIENT = "energy=0, bytes=0, latency=1, cpu=0"
FRUGAL = "energy=1, bytes=0, latency=0, cpu=0"

pytestmark = pytest.mark.django_db


def chosen(explained):
    """Returns the parts of the chosen way for the streams to reach the engine."""
    ways = explained["questions"][0]["alternatives"]
    return [part for one in ways if one["chosen"] for part in one["parts"]]


def asked(client, **how):
    return client.post(
        "/api/v1/queries/explain/", json.dumps({"sql": SQL} | how), "application/json"
    )


def test_the_metric_decides_and_the_answer_tells_it(client, building):
    frugal = asked(client, weights=FRUGAL).json()["explained"]
    impatient = asked(client, weights=IMPATIENT).json()["explained"]
    assert sorted(chosen(impatient)) == ["l as measured", "t as measured"]
    assert sorted(chosen(frugal)) != sorted(chosen(impatient))
    assert frugal["weights"]["energy"] == 1
    assert any(piece["estimate"] for piece in frugal["pieces"])
    assert frugal["questions"][0]["graph"]["nodes"]


@pytest.mark.parametrize(("joins", "three"), [(None, True), (0, True), (1, False)])
def test_a_limit_of_joins_keeps_more_of_them_out(client, building, joins, three):
    sql = SQL.replace("l,", "l, door_reading [PARTITION BY sid ROWS 1] d,", 1).replace(
        "WHERE", "WHERE d.rid = l.rid AND", 1
    )
    explained = asked(client, sql=sql, weights=FRUGAL, joins=joins).json()["explained"]
    names = [p for q in explained["questions"] for o in q["alternatives"] for p in o["parts"]]
    assert any("join l, t" in name for name in names)
    assert any("join d, l, t" in name for name in names) == three


def test_weights_that_are_none_are_a_problem_with_what_exists(client, building):
    answer = asked(client, weights="mass=1")
    assert answer.status_code == 400
    assert answer.json()["code"] == "federation.bad_weights"
    assert "energy" in answer.json()["exists"]


def test_the_shell_explains_as_json_too(building, capsys):
    call_command("explain", SQL, "--weights", IMPATIENT, "--json")
    explained = json.loads(capsys.readouterr().out)
    assert sorted(chosen(explained)) == ["l as measured", "t as measured"]
    with pytest.raises(CommandError, match="no such weight"):
        call_command("explain", SQL, "--weights", "mass=1")
