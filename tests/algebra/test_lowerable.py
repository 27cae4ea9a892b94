"""What may be selected in front of the lanes, and why the rest may not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.lowerable import lowerable, reason_against
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.streamsql import compile_query

READING = Relation(
    "reading",
    (
        Column("did", Type.INT),
        Column("room", Type.TEXT, nullable=True),
        Column("celsius", Type.FLOAT, "°C"),
    ),
    kind=SourceKind.STREAM,
    rate_hz=1e6,
)
CATALOG = Catalog.of([READING])


def plan(sql: str, relation: Relation = READING):
    return compile_query(sql, Catalog.of([relation])).plan


def test_the_selections_of_all_readers_are_joined_by_or() -> None:
    (found,) = lowerable(
        [
            plan("SELECT did FROM reading [RANGE 10 SECONDS] WHERE celsius > 60 AND did < 5"),
            plan("SELECT r.did FROM reading [RANGE 5 SECONDS] r WHERE r.room = 'attic'"),
        ],
        CATALOG.relations,
    )
    assert found.relation == READING
    assert "reading brings 1e+06 rows/s" in found.reason
    wanted = compile_predicate(found.predicate, READING.columns)
    rows = [(1, None, 61.0), (9, "hall", 61.0), (9, "attic", 2.0), (1, None, 60.0)]
    assert [wanted(row) for row in rows] == [True, False, True, False]


@pytest.mark.parametrize(
    ("sql", "change", "why"),
    [
        ("SELECT did FROM reading [RANGE 9 SECONDS]", {}, "reads all rows"),
        ("SELECT did FROM reading [ROWS 3] WHERE did > 4", {}, "reads all rows"),
        ("SELECT did FROM reading [RANGE 9 SECONDS] WHERE did > 4", {"key": ("did",)}, "newest"),
        ("SELECT did FROM reading [RANGE 9 SECONDS] WHERE did > 4", {"rate_hz": 9.0}, "9 rows/s"),
        ("SELECT did FROM reading [RANGE 9 SECONDS] WHERE did + 1 > 4", {}, "more than compar"),
        ("SELECT did FROM reading [RANGE 9 SECONDS] WHERE did > celsius", {}, "more than compar"),
        ("SELECT did FROM reading [RANGE 9 SECONDS] WHERE did > 4.5", {}, "more than compar"),
        ("SELECT 1 AS one", {}, "nobody reads"),
    ],
)
def test_what_must_stay_in_the_lanes(sql, change, why) -> None:
    relation = replace(READING, **change)
    read = plan(sql, relation)
    assert why in str(reason_against(relation, [read]))
    assert lowerable([read], {"reading": relation}) == ()


def test_a_table_is_not_lowered() -> None:
    table = replace(READING, kind=SourceKind.TABLE)
    assert "no stream" in str(reason_against(table, []))
