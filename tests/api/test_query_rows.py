"""A query's rows as files; naming, sharing, limits, and the ways in which a text may be run."""

from __future__ import annotations

import csv
import io
import json

import pytest
from api.test_api import Caller, refused, running
from api.test_statements import account, submit
from hypothesis import example, given
from hypothesis import strategies as st

from aspen.model.arrays import Array
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.api.locate_rows import located_by, locator
from smartcis.api.query_export import FORMULA, CsvRenderer, ExportTable
from smartcis.importers.geometry.projection import Projection

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
READINGS = (
    "SELECT m.mid, m.host, CASE WHEN m.mid = 'm1' THEN NULL ELSE 'a \"b\", c' END AS note "
    "FROM machine m ORDER BY mid"
)


@pytest.fixture
def visitor(building, house) -> Caller:
    deploy_standing_queries({})
    return Caller()


def text_of(answer) -> str:
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content).decode()


def test_a_result_as_csv(visitor, engine):
    with running(engine):
        kept = submit(visitor, READINGS, 201, name="Hosts / all")
        path = f"queries/{kept['id']}/rows/"
        answer = visitor("GET", f"{path}?format=csv")
        text = text_of(answer)
        asked = visitor("GET", path, HTTP_ACCEPT="text/csv")
        assert text_of(asked) == text
        assert text_of(visitor("GET", f"{path}?format=csv&limit=1")).count("\r\n") == 2
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Hosts-all.csv"'
    assert text == 'mid,host,note\r\nm1,host-m1,\r\nm2,host-m2,"a ""b"", c"\r\n'


def test_what_is_asked_once_may_be_a_file(visitor, engine):
    with running(engine):
        sql = {"sql": f"ONCE {READINGS}"}
        answer = visitor("POST", "queries/", sql, HTTP_ACCEPT="text/csv")
        kept = visitor("POST", "queries/", {"sql": READINGS}, HTTP_ACCEPT="text/csv")
        odd = {"sql": "SELECT hots FROM machine"}
        refused(
            visitor("POST", "queries/", odd, HTTP_ACCEPT="text/csv"),
            400,
            "aspen.bind.unknown_column",
        )
    assert text_of(answer).startswith("mid,host,note\r\nm1,host-m1,\r\n")
    assert (kept.status_code, kept.headers["Content-Type"]) == (201, "application/json")
    refused(visitor("GET", "queries/", HTTP_ACCEPT="text/csv"), 406, "smartcis.api.not_acceptable")


def test_units_stand_in_the_header():
    table = ExportTable(
        "t", (("sid", "TEXT", ""), ("celsius", "FLOAT", "°C")), [("s1", 21.5)], 1, 0.0
    )
    assert "".join(CsvRenderer.lines(table)) == "sid,celsius [°C]\r\ns1,21.5\r\n"


def test_an_array_is_one_cell():
    table = ExportTable("t", (("at", "FLOAT[]", "s"),), [(Array((1.5, None)),)], 1, 0.0)
    assert "".join(CsvRenderer.lines(table)) == 'at [s]\r\n"[1.5, NULL]"\r\n'


WORDS = st.text() | st.text("='@ x\t-")


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5))
@example([("", "'\n")])
def test_csv_is_read_back(rows):
    table = ExportTable("t", (("a", "TEXT", ""), ("b", "TEXT", "")), rows, 1, 0.0)
    text = "".join(CsvRenderer.lines(table))
    read = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [[plain(cell) for cell in row] for row in read] == [list(row) for row in rows]


def plain(cell: str) -> str:
    """What a cell's text was before a spreadsheet was kept from computing it."""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell[1:]) else cell


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", " =", "\r=", "\uff1d", "'=", "'' @"])
def test_no_text_is_a_formula(sign):
    rows = [(f"{sign}HYPERLINK(0)", -1.5)]
    table = ExportTable("t", (("=a", "TEXT", ""), ("b", "FLOAT", "")), rows, 1, 0.0)
    text = "".join(CsvRenderer.lines(table))
    head, (cell, number) = csv.reader(io.StringIO(text, newline=""))
    assert (head, cell, number) == (["'=a", "b"], f"'{sign}HYPERLINK(0)", "-1.5")


def test_a_decimal_below_zero_is_a_number_and_no_formula():
    columns = (("price", "DECIMAL(5,2)", ""), ("a", "TEXT", ""))
    table = ExportTable("t", columns, [("-3.00", "-3.00")], 1, 0.0)
    assert "".join(CsvRenderer.lines(table)) == "price,a\r\n-3.00,'-3.00\r\n"


def test_a_result_as_geojson(visitor, engine):
    with running(engine):
        kept = submit(visitor, "SELECT m.mid, m.host FROM machine m ORDER BY mid", 201)
        assert kept["located_by"] == "mid"
        answer = visitor("GET", f"queries/{kept['id']}/rows/?format=geojson")
        body = json.loads(text_of(answer))
    assert answer.headers["Content-Type"] == "application/geo+json; charset=utf-8"
    assert (body["type"], body["total"]) == ("FeatureCollection", 2)
    assert [column["name"] for column in body["columns"]] == ["mid", "host"]
    first = body["features"][0]
    assert first["properties"]["host"] == "host-m1"
    assert first["properties"]["level_id"] == "L0"
    x_m, y_m = first["properties"]["x_m"], first["properties"]["y_m"]
    lon, lat = Projection(0, 0).degrees(x_m, y_m)
    assert first["geometry"]["coordinates"] == [round(lon, 7), round(lat, 7)]


def test_rows_without_a_place_are_no_map(visitor, engine):
    with running(engine):
        kept = submit(visitor, "SELECT COUNT(*) AS n FROM machine", 201)
        assert kept["located_by"] is None
        answer = visitor("GET", f"queries/{kept['id']}/rows/?format=geojson")
        body = refused(answer, 400, "smartcis.actions.invalid")
    assert "rid" in body["exists"]
    assert body["try"]


def test_a_file_is_refused_as_rows_are(visitor):
    for kind in ("csv", "geojson"):
        refused(
            visitor("GET", f"queries/nothing/rows/?format={kind}"),
            404,
            "smartcis.live.unknown_view",
        )
    refused(visitor("GET", "queries/x/rows/?format=pdf"), 404, "smartcis.api.not_found")


def test_only_staff_export_other_visitors_walks(visitor, engine):
    staff = account("gate", is_staff=True)
    with running(engine):
        kept = submit(staff, "SELECT session, node FROM route_request", 201)
        path = f"queries/{kept['id']}/rows/?format=csv"
        assert text_of(staff("GET", path)) == "session,node\r\n"
        refused(visitor("GET", path), 403, "smartcis.live.forbidden")


@pytest.mark.parametrize(
    ("columns", "row", "place"),
    [
        (("mid", "rid"), ("m1", "B"), (2.0, 2.0)),
        (("rid",), ("B",), (8.0, 8.0)),
        (("node", "n"), (1, 5), (5.0, 5.0)),
        (("door_id",), ("A.d1",), (3.0, 3.0)),
        (("x_m", "mid", "y_m", "level_id"), (1, "m2", 2.5, "L0"), (1.0, 2.5)),
        (("x_m", "y_m", "level_id"), (None, 2.5, "L0"), None),
        (("mid",), ("m9",), None),
        (("mid",), ("a\0b",), None),
        (("node",), (2**70,), None),
        (("node",), ("1",), None),
        (("name",), ("m1",), None),
    ],
)
def test_where_a_row_is(house, building, columns, row, place):
    found = locator(columns, [row])(row)
    assert (None if found is None else (found.x_m, found.y_m)) == place
    assert found is None or found.level_id == "L0"


def test_metres_of_the_building_are_columns_together():
    assert located_by(["level_id", "x_m"]) is None
    assert located_by(["level_id", "x_m", "rid"]) == "rid"
    assert located_by(["y_m", "level_id", "rid", "x_m"]) == "point"


def test_a_query_is_named_by_its_owner_alone(visitor):
    other = Caller()
    kept = submit(visitor, "SELECT mid FROM machine", 201)
    path = f"queries/{kept['id']}/"
    named = visitor("PATCH", path, {"name": "  Mine "}).json()
    assert (named["name"], named["mine"]) == ("Mine", True)
    body = refused(other("PATCH", path, {"name": "Theirs"}), 403, "smartcis.actions.refused")
    assert "fork" in body["try"]
    seen = other("GET", path).json()
    assert (seen["name"], seen["mine"], seen["sql"]) == ("Mine", False, kept["sql"])
    refused(other("DELETE", path), 403, "smartcis.actions.refused")
    refused(visitor("PATCH", path, {"name": "x" * 81}), 400, "smartcis.api.invalid")
    refused(visitor("PATCH", "queries/none/", {"name": "x"}), 404, "smartcis.actions.not_found")
    assert visitor("PATCH", path, {"name": ""}).json()["name"] is None


def test_ones_own_queries_and_the_quota(visitor, settings):
    settings.QUOTAS = settings.QUOTAS | {"queries": {"browser": 2}}
    other = Caller()
    submit(other, "SELECT rid FROM room", 201)
    assert visitor("GET", "queries/?mine=1").json()["results"] == []
    mine = [submit(visitor, f"SELECT mid, {n} AS n FROM machine", 201)["id"] for n in (1, 2)]
    listed = visitor("GET", "queries/?mine=1").json()["results"]
    assert [one["id"] for one in listed] == mine[::-1]
    limits = visitor("GET", "queries/limits/").json()
    assert (limits["queries"], limits["queries_at_most"], limits["may_query"]) == (2, 2, True)
    third = visitor("POST", "queries/", {"sql": "SELECT host FROM machine"})
    assert "once" in refused(third, 409, "smartcis.actions.quota_reached")["try"]
    assert (
        account("gate", is_staff=True)("GET", "queries/limits/").json()["queries_at_most"] is None
    )


def test_who_asks_too_much_is_told_so_and_others_go_on(visitor, engine, settings):
    settings.QUERY_STEPS = settings.QUESTION_STEPS = 5
    heavy = "SELECT a.mid, b.mid AS other, c.mid AS third FROM machine a, machine b, machine c"
    with running(engine):
        modest = submit(visitor, READINGS, 201)
        kept = submit(visitor, heavy, 201)
        body = refused(
            visitor("GET", f"queries/{kept['id']}/rows/"), 409, "aspen.views.work_exceeded"
        )
        assert "5 steps" in body["message"]
        assert "select before you join" in body["try"]
        shown = visitor("GET", f"queries/{kept['id']}/").json()
        assert shown["error"]["code"] == "aspen.views.work_exceeded"
        once = visitor("POST", "queries/", {"sql": f"ONCE {heavy}"})
        assert refused(once, 409, "aspen.views.work_exceeded")["message"] == body["message"]
        assert visitor("GET", f"queries/{modest['id']}/rows/").json()["total"] == 2


def test_what_is_left_of_the_rate(visitor, settings):
    settings.RATES = settings.RATES | {"check": {"browser": 2}}  # half a minute for each

    def left() -> int:
        rates = visitor("GET", "queries/limits/").json()["rates"]
        return next(one["left"] for one in rates if one["scope"] == "check")

    before = left()
    visitor("POST", "queries/check/", {"sql": "SELECT mid FROM machine"})
    assert left() == before - 1


def test_who_is_throttled_hears_when_to_come_back(visitor, settings):
    settings.RATES = settings.RATES | {"check": {"browser": 1}}
    for _ in range(2):
        answer = visitor("POST", "queries/check/", {"sql": "SELECT mid FROM machine"})
    body = refused(answer, 429, "smartcis.limits.reached")
    assert body["try"].startswith("again in ")
    assert 0 < body["retry_s"] <= 60
    assert body["exists"] == ["up to 1 a minute for this browser"]


def test_how_a_query_is_shared_and_why(visitor, engine):
    with running(engine):
        tenant = submit(visitor, "SELECT host FROM machine WHERE mid = 'm1'", 201)
        trunk = submit(visitor, "SELECT host FROM machine", 201)
        sql = "ONCE SELECT q.view, q.sharing FROM sys.queries q"
        told = dict(submit(visitor, sql)["rows"])
    assert (tenant["sharing"], trunk["sharing"]) == ("tenant", "trunk")
    assert "m1" in tenant["sharing_reason"]
    assert trunk["sharing_reason"]
    assert {one["view"]: one["sharing"] for one in (tenant, trunk)}.items() <= told.items()


@pytest.mark.parametrize(
    ("sql", "live", "once"),
    [
        ("SELECT mid FROM machine", "", ""),
        ("ONCE SELECT mid FROM machine", "ONCE", ""),
        ("CREATE VIEW v AS SELECT mid FROM machine", "", "CREATE VIEW"),
        ("SELECT mid FROM machine OUTPUT TO ALARM a", "", "OUTPUT TO"),
        ("DROP TABLE lunch", "changes something", "changes something"),
    ],
)
def test_a_text_says_in_which_ways_it_may_be_run(building, house, sql, live, once):
    staff = account("gate", is_staff=True)
    body = staff("POST", "queries/check/", {"sql": sql}).json()
    assert body["ok"], body
    for said, expected in ((body["ways"]["live"], live), (body["ways"]["once"], once)):
        assert expected in said
        assert bool(expected) == bool(said)
