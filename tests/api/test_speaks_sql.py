"""Whatever SQL is sent where SQL is taken, it is answered or refused in words: no error 500."""

from __future__ import annotations

import json

import pytest
from api.test_api import FIELDS, Caller
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from streamsql import random_sql

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.questions.asking import NoAnswer

pytestmark = [pytest.mark.database, pytest.mark.django_db]

TABLES = st.sampled_from(
    [
        *("machine", "door", "room", "routing_edge", "clock", "own", "nothing"),
        *(
            "t",
            "u",
            "free_machine",
            "nearest_destination",
            "route_request",
            "visitor",
            '"door"',
            "d",
        ),
        "seat_reading [RANGE 30 SECONDS]",
        "light_reading [PARTITION BY sid ROWS 1 RANGE 120 SECONDS]",
        "cpu_reading [PARTITION BY mid, n ROWS -1]",
        "seat_reading",
    ]
)
COLUMNS = st.sampled_from(
    [
        *("mid", "rid", "door_id", "state", "x_m", "node", "n", "t", "*", "nope"),
        "door.state",
        "a.mid",
    ]
)
LITERALS = st.sampled_from(
    [
        *("NULL", "TRUE", "FALSE", "0", "-1", "1.5", "1e999", "-1e400", "1e-400", "9" * 30),
        *("''", "'open'", "'it''s'", "'ü😀'", "'%_'", "'9'", "'nan'", "'infinity'", "x'00'"),
        *("INTERVAL '5 seconds'", "DATE '2026-01-01'", "ARRAY[1]", "?", "$1", ":a", "1::TEXT"),
    ]
)
FUNCTIONS = st.sampled_from(
    [
        *("lower", "upper", "abs", "round", "coalesce", "nullif", "length", "substr", "concat"),
        *("count", "sum", "avg", "min", "max", "stddev", "sqrt", "ln", "power", "mod", "floor"),
        *("now", "random", "cast", "greatest", "trim", "replace", "json_extract", "no_such"),
    ]
)
OPERATORS = st.sampled_from(
    [*("+", "-", "*", "/", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "LIKE", "IS", "->>", "&")]
)


@st.composite
def expressions(draw, depth: int = 2) -> str:
    if depth == 0 or draw(st.booleans()):
        return draw(COLUMNS | LITERALS)
    inner = expressions(depth=depth - 1)
    match draw(st.integers(0, 11)):
        case 0 | 1:
            return f"{draw(FUNCTIONS)}({', '.join(draw(st.lists(inner, max_size=3)))})"
        case 2 | 3:
            return f"({draw(inner)} {draw(OPERATORS)} {draw(inner)})"
        case 4:
            return f"CASE WHEN {draw(inner)} THEN {draw(inner)} ELSE {draw(inner)} END"
        case 5:
            return (
                f"CAST({draw(inner)} AS {draw(st.sampled_from(['INT', 'TEXT', 'FLOAT', 'BLOB']))})"
            )
        case 6:
            return f"({draw(queries(depth=depth - 1))})"
        case 7:
            return f"{draw(inner)} IN ({draw(queries(depth=depth - 1))})"
        case 8:
            return f"NOT EXISTS ({draw(queries(depth=depth - 1))})"
        case 9:
            return f"{draw(inner)} BETWEEN {draw(inner)} AND {draw(inner)}"
        case 10:
            return f"{draw(inner)} IS NOT NULL"
        case _:
            over = draw(st.sampled_from(["", "PARTITION BY mid", "ORDER BY 1 ROWS 2 PRECEDING"]))
            return f"{draw(FUNCTIONS)}({draw(inner)}) OVER ({over})"


@st.composite
def queries(draw, depth: int = 2) -> str:
    inner = expressions(depth=max(depth - 1, 0))
    kind = draw(st.integers(0, 14))
    if kind > 9:  # one that has a meaning, and perhaps more around it
        right = draw(random_sql.queries(depth=1))
        return draw(st.sampled_from([right, f"SELECT q.*, {draw(inner)} FROM ({right}) q"]))
    if kind == 0:
        rows = draw(st.lists(st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2))
        return "VALUES " + ", ".join(f"({', '.join(row)})" for row in rows)
    if kind == 1 and depth:
        both = [draw(queries(depth=depth - 1)) for _ in range(2)]
        return draw(st.sampled_from([" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "])).join(
            both
        )
    if kind == 2 and depth:
        step = draw(queries(depth=depth - 1))
        recursive = draw(st.sampled_from(["", "RECURSIVE "]))
        return f"WITH {recursive}d(n) AS ({draw(queries(depth=0))} UNION {step}) SELECT n FROM d"
    parts = [f"SELECT {draw(st.sampled_from(['', 'DISTINCT ']))}"]
    parts.append(", ".join(draw(st.lists(inner, min_size=1, max_size=3))))
    if draw(st.integers(0, 8)):
        source = draw(TABLES)
        parts.append(f" FROM {source}{draw(st.sampled_from(['', ' a', ' door']))}")
        if draw(st.booleans()):
            join = draw(st.sampled_from([", ", " JOIN ", " LEFT JOIN ", " NATURAL JOIN "]))
            condition = draw(st.sampled_from(["", f" ON {draw(inner)}", " USING (mid)"]))
            parts.append(f"{join}{draw(TABLES)}{condition}")
    clauses = {
        " WHERE ": inner,
        " GROUP BY ": inner,
        " HAVING ": inner,
        " ORDER BY ": inner.map(lambda text: f"{text} DESC NULLS LAST"),
        " LIMIT ": inner,
    }
    for clause, what in clauses.items():
        if not draw(st.integers(0, 2)):
            parts.append(clause + draw(what))
    return "".join(parts)


@st.composite
def changes(draw) -> str:
    table, inner = draw(TABLES), expressions(depth=1)
    where = draw(st.sampled_from(["", f" WHERE {draw(inner)}"]))
    match draw(st.integers(0, 3)):
        case 0:
            columns = draw(st.sampled_from(["", " (n, t)", " (n, n)", " (nope)", " ()"]))
            return f"INSERT INTO {table}{columns} {draw(queries(depth=1))}"
        case 1:
            rows = draw(st.lists(st.lists(inner, min_size=1, max_size=5), min_size=1, max_size=2))
            return f"INSERT INTO {table} VALUES " + ", ".join(f"({', '.join(r)})" for r in rows)
        case 2:
            return f"UPDATE {table} SET {draw(COLUMNS)} = {draw(inner)}{where}"
        case _:
            return f"DELETE FROM {table}{where}"


@st.composite
def statements(draw) -> str:
    query = queries()
    match draw(st.integers(0, 9)):
        case 0 | 7:
            return f"ONCE {draw(query)}"
        case 1:
            return f"CREATE VIEW {draw(TABLES)} AS {draw(query)}"
        case 2:
            columns = draw(st.sampled_from(["(n INT, t TEXT)", "(n INT, n INT)", "()", "(n BLOB)"]))
            kind = draw(st.sampled_from(["TABLE", "STREAM", "TEMP TABLE", "INDEX"]))
            return f"CREATE {kind} {draw(TABLES)} {columns}"
        case 3:
            kind = draw(st.sampled_from(["TABLE", "VIEW IF EXISTS", "SCHEMA"]))
            return f"DROP {kind} {draw(TABLES)}"
        case 4:
            sink = draw(st.sampled_from(["DISPLAY 'k1'", "ALARM 'a'", "WEBHOOK 'x'", "FILE 'f'"]))
            return f"{draw(query)} OUTPUT TO {sink}"
        case 5 | 6:
            return draw(changes())
        case _:
            return draw(query)


@st.composite
def texts(draw) -> str:
    """A statement, sometimes with a word lost, doubled or replaced."""
    words = draw(statements()).split(" ")
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + 1] = draw(
            st.sampled_from([[], [words[place]] * 2, ["("], [";"], ["--"], ["'"], ["\t\n"], ["ü"]])
        ) or [""]
    return " ".join(words)


@pytest.fixture
def callers(building, house, monkeypatch, settings) -> list[Caller]:
    for name in ("QUOTAS", "RATES"):
        free = {kind: dict.fromkeys(most, 0) for kind, most in getattr(settings, name).items()}
        setattr(settings, name, free)
    settings.ANSWER_S = 0.0
    for question in ("what_if", "why", "why_not", "weak_points"):
        monkeypatch.setattr(f"smartcis.actions.ask_{question}.ask", _not_asked)
    deploy_standing_queries({})
    found = [Caller()]
    for name in ("ann", "gate"):
        user = User.objects.create_user(name, is_staff=name == "gate")
        _, token = issue_token("t", scope="account", user=user)
        found.append(Caller(authorization=f"Token {token}"))
    tables = {**random_sql.TABLES, "own": (("n", "INT"), ("t", "TEXT"))}
    for table, columns in tables.items():
        listed = ", ".join(" ".join(column) for column in columns)
        made = found[1]("POST", "queries/", {"sql": f"CREATE TABLE {table} ({listed})"})
        assert made.status_code == 200, made.content
    return found


def _not_asked(*_args: object) -> None:
    """Stands for the engine: the question was read, and that is all."""

    raise NoAnswer("nobody is there")


def answered(caller: Caller, method: str, path: str, body: dict | None = None) -> None:
    """Send a request whose effects are taken back; it is answered, or refused in words."""
    with transaction.atomic():
        answer = caller(method, path, body)
        transaction.set_rollback(True)
    if answer.status_code < 400:
        return
    assert answer.status_code < 500 or answer.status_code == 503, (path, body, answer.content)
    assert answer.headers["Content-Type"] == "application/problem+json", answer.content
    problem = json.loads(answer.content)
    assert set(problem) == FIELDS
    assert problem["code"]
    assert problem["message"]


MANY = settings(
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@given(texts(), st.integers(0, 2))
@example("SELECT rid, count(*) + 1 AS n FROM machine GROUP BY rid", 0)
@MANY
def test_any_text_is_answered_wherever_texts_are_taken(callers, text, who):
    assume(not any("\ud800" <= c <= "\udfff" for c in text))
    caller = callers[who]
    answered(caller, "POST", "queries/check/", {"sql": text})
    answered(caller, "POST", "queries/explain/", {"sql": text})
    answered(caller, "POST", "queries/", {"sql": text})


@given(changes(), st.integers(0, 2))
@example("INSERT INTO door VALUES ('X', lower('OPEN'), 1.0, 1.0, lower('L0'))", 0)
@example("INSERT INTO own VALUES (1e999, 'a')", 1)
@example("INSERT INTO own VALUES ('1e999', 'a')", 1)
@example("UPDATE door SET x_m = 1e999", 0)
@MANY
def test_any_change_is_made_asked_about_or_refused(callers, text, who):
    answered(callers[who], "POST", "queries/", {"sql": text})
    answered(callers[who], "POST", "queries/what-if/", {"view": "door_state", "updates": text})


CELLS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
ROWS = st.dictionaries(
    st.sampled_from(["mid", "rid", "node", "state", "door_id", ""]) | st.text(max_size=3),
    CELLS | st.lists(CELLS, max_size=2),
    max_size=3,
)
VIEWS = st.sampled_from(["door_state", "free_machine", "nearest_destination", "nothing", "", "own"])


@given(VIEWS, ROWS, st.lists(CELLS | st.just([]), max_size=4), st.integers(0, 2))
@MANY
def test_any_row_may_be_asked_about(callers, view, row, values, who):
    """The questions reach no engine: each waits for an answer that is none."""
    caller = callers[who]
    answered(caller, "POST", "queries/why-not/", {"view": view, "row": row})
    answered(caller, "POST", "queries/why/", {"view": view, "row": values})
    answered(caller, "POST", "queries/weak-points/", {"view": view, "row": row, "by": [*row]})


@given(
    st.sampled_from(["rows/", "deliveries/", "placement/", ""]),
    st.sampled_from(["door_state", "nothing", "%00", "%ff", "%ed%a0%80", "..", "'", "a%0ab"]),
    st.sampled_from(["", "?limit=x", "?limit=-1", "?limit=99999999999999999999", "?format=%00"]),
    st.integers(0, 2),
)
@MANY
def test_any_name_may_stand_in_a_path(callers, part, name, query, who):
    answered(callers[who], "GET", f"queries/{name}/{part}{query}")
