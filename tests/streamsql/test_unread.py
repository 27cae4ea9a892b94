"""What a text says and binding does not read is refused by name, whatever node it stands at."""

from __future__ import annotations

import pytest
from golden.catalog import CATALOG
from sqlglot import exp

from aspen.errors import AspenError
from aspen.streamsql import compile_query, parse
from aspen.streamsql.errors import BadName, Unsupported
from aspen.streamsql.unread import NO_MATTER, READ, refuse_unread

RECURSION = "WITH RECURSIVE r(a, b) {} AS (SELECT rid, 1 FROM room UNION SELECT a, b FROM r) {} "

ALL_NODES = """
WITH RECURSIVE w(rid, n) AS (SELECT rid, 0 FROM room UNION SELECT w.rid, 1 FROM w)
SELECT DISTINCT r.rid AS a, -1 AS b, (1 + 2 - 3) * 4 / 5 % 6 AS c, 7 DIV 2 AS d, r.name || 'x' AS e,
  CASE WHEN TRUE THEN NULL ELSE 1 END AS f, CAST('1' AS INT) AS g, TRY_CAST('1' AS INT) AS h,
  SUBSTRING(r.name, 1, 2) AS i, TRIM(BOTH 'x' FROM r.name) AS j, UPPER(r.name) AS k
FROM room r LEFT JOIN w ON w.rid = r.rid
WHERE NOT (r.rid <> 'a' AND r.rid < 'b' OR r.rid <= 'c' OR r.rid > 'd') AND r.rid >= 'e'
  AND w.n BETWEEN 1 AND 2 AND r.name LIKE 'a!%' ESCAPE '!' AND r.name ILIKE 'b'
  AND r.name IS NOT NULL AND r.name IS DISTINCT FROM 'c' AND r.rid IS NOT DISTINCT FROM 'd'
  AND EXISTS (SELECT rid FROM w) AND (r.rid, r.name) IN (('a', 'b'))
  AND r.rid = ANY (SELECT rid FROM w) AND r.rid <> ALL (SELECT rid FROM w)
ORDER BY a DESC NULLS LAST LIMIT 3 OFFSET 1
---
SELECT rid, COUNT(*) FILTER (WHERE name = 'x') AS n FROM room GROUP BY rid HAVING COUNT(*) > 1
EXCEPT SELECT rid, 1 AS n FROM room INTERSECT (VALUES ('a', 1)) UNION ALL (SELECT 'b', 2)
---
SELECT rid FROM room ORDER BY rid FETCH FIRST 3 ROWS ONLY
---
SELECT rid, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY name) AS n FROM room
GROUP BY GROUPING SETS (ROLLUP (rid, name), CUBE (rid))
---
SELECT r.rid, LAG(r.name) IGNORE NULLS OVER w AS a,
  LEAD(r.name RESPECT NULLS) OVER (w ROWS 1 PRECEDING) AS b
FROM room r, LATERAL (SELECT r.name AS n) s
WINDOW w AS (PARTITION BY r.rid ORDER BY r.name) QUALIFY a = 'x'
---
SELECT EXTRACT(HOUR FROM TIMESTAMP '2026-11-23' + INTERVAL 5 MINUTE) AS hour,
  TIMESTAMP '2026-11-23 10:00' AT TIME ZONE 'Europe/Berlin' AS moment,
  CAST(1.25 AS DECIMAL(5, 1)) AS x
---
SELECT [1, 2][1] AS a, [1, 2][1:2] AS b, CAST([] AS INT[]) AS c, 1 IN v.many AS d
FROM (SELECT [1] AS many) v
---
SELECT sid FROM temperature_reading [PARTITION BY sid ROWS 1]
"""

DROPPED = (
    RECURSION.format("USING KEY (a)", "") + "SELECT a, b FROM r",
    RECURSION.format("", "SEARCH DEPTH FIRST BY a SET o") + "SELECT a, b FROM r",
    RECURSION.format("", "CYCLE a SET c USING p") + "SELECT a, b FROM r",
    "SELECT CAST(rid AS VARCHAR(3)) AS x FROM room",
    "SELECT CAST(rid AS INT FORMAT 'x') AS x FROM room",
    "SELECT rid FROM room ORDER BY rid WITH FILL",
    "SELECT a.rid FROM room a STRAIGHT_JOIN room b ON a.rid = b.rid",
    "SELECT rid FROM room ORDER BY rid FETCH FIRST 3 ROWS WITH TIES",
)


def nodes():
    for text in ALL_NODES.split("---"):
        (statement,) = parse(text)
        yield from statement.query.walk()


def test_every_node_that_is_read_is_met_by_texts_that_bind():
    for text in ALL_NODES.split("---"):
        compile_query(text, CATALOG)
    met = {type(node) for node in nodes()}
    assert {kind.__name__ for kind in set(READ) - met} == set()
    for kind, read in READ.items():
        assert read <= {*kind.arg_types, "stream_window"}, kind


def test_every_argument_that_is_not_read_is_refused():
    refused = 0
    for node in nodes():
        for name in set(type(node).arg_types) - READ[type(node)]:
            if (type(node), name) in NO_MATTER or node.args.get(name):
                continue
            node.set(name, exp.Var(this="something"))
            with pytest.raises(Unsupported):
                refuse_unread(node.root())
            node.set(name, None)
            refused += 1
    assert refused > 100


def test_every_node_that_is_not_read_is_refused():
    others = {kind for kind in exp.ALL_FUNCTIONS if kind not in READ}
    for kind in others:
        with pytest.raises(Unsupported):
            refuse_unread(exp.Select(expressions=[kind()]))
    assert len(others) > 100


@pytest.mark.parametrize("text", DROPPED)
def test_what_would_be_dropped_is_refused_with_its_place(text):
    with pytest.raises(Unsupported) as refused:
        compile_query(text, CATALOG)
    assert refused.value.position is not None
    assert refused.value.attempt


def test_two_queries_of_a_with_have_two_names():
    with pytest.raises(BadName, match="two queries of the WITH"):
        compile_query("WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT x FROM a", CATALOG)


def test_bounds_of_between_symmetric_stand_in_either_order():
    bounds = "SELECT rid FROM room WHERE {}"
    symmetric = bounds.format("rid BETWEEN SYMMETRIC 'b' AND 'a'")
    spelt = bounds.format("rid BETWEEN 'b' AND 'a' OR rid BETWEEN 'a' AND 'b'")
    assert compile_query(symmetric, CATALOG).plan == compile_query(spelt, CATALOG).plan


def test_fetch_is_a_limit():
    text = "SELECT rid FROM room ORDER BY rid {}"
    fetched = compile_query(text.format("FETCH FIRST 3 ROWS ONLY"), CATALOG)
    assert fetched.plan == compile_query(text.format("LIMIT 3"), CATALOG).plan
    with pytest.raises(AspenError):
        compile_query(text.format("FETCH FIRST 3 PERCENT ROWS ONLY"), CATALOG)
