"""Times: their texts order as they do, and what is computed of them is what DuckDB computes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache
from operator import itemgetter

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.errors import AspenError
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SchemaError, Type
from aspen.model.times import READERS, spelt, spelt_time
from aspen.runtime.rows import RowCheck
from aspen.streamsql import compile_query
from aspen.streamsql.errors import TypeMismatch, UnitMismatch
from aspen.views.evaluate_once import evaluate_once

VISIT = Relation(
    "visit",
    (
        Column("a", Type.TIMESTAMP),
        Column("b", Type.TIMESTAMP),
        Column("d", Type.DATE),
        Column("e", Type.DATE),
        Column("c", Type.TIME),
        Column("z", Type.TIMESTAMPTZ),
        Column("n", Type.INT),
        Column("s", Type.FLOAT, "s"),
        Column("w", Type.TEXT),
        Column("kg", Type.FLOAT, "kg"),
    ),
)
CATALOG = Catalog.of([VISIT])
PARTS = (
    *("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"),
    *("microsecond", "dow", "isodow", "doy", "isoyear", "yearweek", "decade", "century"),
)
LENGTHS = [*PARTS[:10], "decade", "century"]
CODES = "%a %A %w %u %d %-d %b %B %m %-m %y %Y %H %I %p %M %S %f %g %j %U %W %V %G %% %-I %-H %c"
COMPUTED = (
    *(f"EXTRACT({part} FROM {x})" for part in PARTS for x in "adz"),
    *(f"date_trunc('{part}', {x})" for part in LENGTHS for x in "adz"),
    *(f"date_diff('{part}', a, b)" for part in LENGTHS),
    *(f"date_sub('{part}', a, b)" for part in LENGTHS),
    *("a - b", "d - e", "a - d", "d + n", "n + d", "d - n", "d + c", "c + INTERVAL '90 minutes'"),
    *("a + n * INTERVAL '7 minutes'", "d - n * INTERVAL 5 HOUR", "z + INTERVAL '1 day 02:03:04.5'"),
    *("a + INTERVAL '1 month'", "d - INTERVAL '1 year 2 months'", "z - INTERVAL '1 month 3 days'"),
    *("a + INTERVAL (n) MONTHS", "date_add(a, INTERVAL '5 quarters')", "a - INTERVAL (n) DAYS"),
    *("a < b", "a = d", "d <= a", "z > a", "d = '2001-02-03'", "a >= '2001-02-03T04:05'"),
    *(
        "greatest(a, b)",
        "least(d, a)",
        "coalesce(a, d)",
        "a BETWEEN d AND b",
        "d IN (e, '1999-1-2')",
    ),
    *("epoch(a)", "epoch(d)", "epoch(c)", "epoch_ms(d)", "epoch_us(a)", "hour(c)"),
    *(f"CAST({x} AS {kind})" for x in "adz" for kind in ("TIMESTAMP", "DATE", "TIMESTAMPTZ")),
    *("CAST(a AS TIME)", "CAST(a AS TEXT)", "CAST(z AS TEXT)", "'at ' || c"),
    *(f"strftime({x}, '{CODES}')" for x in "ad"),
    *("dayname(a)", "monthname(z)", "last_day(d)", "make_date(year(a), 1 + n % 12, 28)"),
    *("make_timestamp(2000, 1, 1, n % 24, 59, 1.25)", "to_timestamp(epoch(a))"),
    *("time_bucket(INTERVAL '5 minutes', a)", "time_bucket(INTERVAL '3 days', d)"),
    "time_bucket(INTERVAL '1 week', z)",
)
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC")
LATELY_ALONE = (*(f"{x} AT TIME ZONE '{zone}'" for x in "az" for zone in ZONES),)

moments = st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1))  # noqa: DTZ001  # clocks of UTC
lately = st.datetimes(datetime(1980, 1, 1), datetime(2036, 1, 1))  # noqa: DTZ001  # as above
odd = st.sampled_from(((3, 29), (10, 25))).map(lambda day: datetime(2026, *day, 2, 30))  # noqa: DTZ001  # as above


def held(value):
    """Returns what Python has for a value as rows hold it."""
    match value:
        case datetime(tzinfo=None):
            return spelt(value)
        case datetime():
            return spelt(value.astimezone(UTC).replace(tzinfo=None)) + "+00"
        case date():
            return value.isoformat()
        case time():
            return spelt_time(value)
        case timedelta():
            return value.total_seconds()
    return value


@lru_cache
def planned(text):
    return compile_query(f"SELECT {text} FROM visit", CATALOG).plan


def ours(text, row):
    contents = {"visit": {row: 1}}
    ((found,),) = [evaluate_once(planned(text), CATALOG.relations.values(), contents)]
    return found


@pytest.fixture(scope="module")
def duck():
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    columns = ", ".join(
        f"{c.name} {'DOUBLE' if c.type is Type.FLOAT else c.type.value}" for c in VISIT.columns
    )
    connection.execute(f"CREATE TABLE visit ({columns})")
    yield connection
    connection.close()


def same(duck, texts, row):
    kept = tuple(map(held, row))
    marks = ", ".join("?" * len(kept))
    duck.execute("DELETE FROM visit")
    duck.execute(f"INSERT INTO visit VALUES ({marks})", kept)  # marks alone
    texts = [f"{text} AS v{number}" for number, text in enumerate(texts)]
    wanted = duck.execute(f"SELECT {', '.join(texts)} FROM visit").fetchone()  # ours
    found = ours(", ".join(texts), kept)
    differ = [
        (text, one, held(other))
        for text, one, other in zip(texts, found, wanted, strict=True)
        if one != held(other)
    ]
    assert differ == []


def rows(instants):
    return st.tuples(
        *(instants, instants, instants.map(datetime.date), instants.map(datetime.date)),
        *(st.times(), instants.map(lambda t: t.replace(tzinfo=UTC)), st.integers(0, 400)),
        *(st.just(60.0), st.just("2026-01-01"), st.just(1.0)),
    )


@settings(max_examples=25, deadline=None)
@given(rows(moments))
def test_differential_what_is_computed_of_times(duck, row):
    same(duck, COMPUTED, row)


@settings(max_examples=25, deadline=None)
@given(rows(lately | odd))
def test_differential_times_in_zones(duck, row):
    same(duck, LATELY_ALONE, row)


@pytest.mark.parametrize("kind", [kind for kind in Type if kind.is_time])
@given(st.lists(st.datetimes() | lately.map(lambda t: t.replace(microsecond=0)), min_size=2))
def test_texts_order_as_their_times_do(kind, times):
    python = {
        Type.DATE: datetime.date,
        Type.TIME: datetime.time,
        Type.TIMESTAMPTZ: lambda t: t.replace(tzinfo=UTC),
    }.get(kind, lambda t: t)
    pairs = [(python(one), held(python(one))) for one in times]
    in_time, as_texts = sorted(pairs, key=itemgetter(0)), sorted(pairs, key=itemgetter(1))
    assert [text for _, text in in_time] == [text for _, text in as_texts]
    assert all(READERS[kind.value](text) == text for _, text in pairs)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),  # noqa: DTZ001  # with a zone below
    st.sampled_from(["T", " "]),
    st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))) | st.just(UTC),
)
def test_a_moment_is_read_as_python_reads_it(wall, between, zone):
    moment = wall.replace(tzinfo=zone)
    texts = [moment.isoformat(between), moment.isoformat(between).replace("+00:00", "Z")]
    for text in texts:
        assert READERS["TIMESTAMPTZ"](text) == held(moment)
        assert READERS["TIMESTAMP"](text) == held(wall)
        assert READERS["DATE"](text) == held(wall.date())


@given(st.text(max_size=30) | st.from_regex(r"\A[\d:T+. /-]{6,30}\Z"))
def test_what_is_no_time_reads_as_none(text):
    for read in READERS.values():
        found = read(text)
        assert found is None or read(found) == found


@pytest.mark.parametrize(
    "text",
    [
        *("a = 'soon'", "d < '2026-02-30'", "c = '25:00'", "DATE 'x'", "TIMESTAMP '2026'"),
        *("a = w", "a = 5", "a + 5", "d + 1.5", "a + b", "a - 'x'", "5 - a", "a * 2", "a + kg"),
        *("SUM(a)", "AVG(d)", "CAST(a AS INT)", "CAST(s AS TIMESTAMP)", "INTERVAL '1 month'"),
        *(
            "c + INTERVAL '1 month'",
            "INTERVAL '5 blinks'",
            "a - INTERVAL '5 days ago'",
            "n + INTERVAL '1 month'",
            "upper(a)",
        ),
        *(
            "EXTRACT(blink FROM a)",
            "date_trunc('dow', a)",
            "EXTRACT(year FROM c)",
            "date_part(w, a)",
        ),
        *("strftime(a, '%Q')", "strftime(a, w)", "a AT TIME ZONE 'Nowhere'", "dayname(n)", "NOT a"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(text):
    with pytest.raises((TypeMismatch, UnitMismatch)) as refused:
        compile_query(f"SELECT {text} AS v FROM visit", CATALOG)
    assert refused.value.position is not None
    assert refused.value.attempt


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a - b > INTERVAL '5 minutes'", True),
        ("s < INTERVAL 2 MINUTE", True),
        ("EXTRACT(EPOCH FROM a - b)", 3600.0),
        ("AVG(a - b)", 3600.0),
        ("CAST(w AS DATE) < d", True),
        ("a + s", "2026-11-23 12:01:00"),
        ("c - TIME '12:00'", 0.5),
        ("DATE '9999-12-31' + 1", None),
        ("DATE '0001-01-01' - INTERVAL '1 month'", None),
        ("make_date(2026, 2, 30)", None),
        ("CAST(w || 'x' AS TIMESTAMP)", None),
        ("a AT TIME ZONE (w || '')", None),
        ("time_bucket(0.0, a)", None),
        ("to_timestamp(1e300)", None),
    ],
)
def test_spans_are_seconds_and_what_is_no_time_is_null(text, value):
    row = ("2026-11-23 12:00:00", "2026-11-23 11:00:00", "2026-11-23", "2026-11-24")
    row = (*row, "12:00:00.5", "2026-11-23 12:00:00+00", 3, 60.0, "2026-01-01", 1.0)
    assert ours(f"{text} AS v", row) == (value,)


@pytest.mark.parametrize(
    ("kind", "spelling", "kept"),
    [
        (Type.DATE, "2026-1-2", "2026-01-02"),
        (Type.TIME, "7:05", "07:05:00"),
        (Type.TIMESTAMP, "2026-01-02T07:05:00.250", "2026-01-02 07:05:00.25"),
        (Type.TIMESTAMPTZ, "2026-01-02T07:05:00+01:00", "2026-01-02 06:05:00+00"),
    ],
)
def test_a_row_keeps_the_one_spelling_of_a_time(kind, spelling, kept):
    check = RowCheck(Relation("r", (Column("t", kind), Column("v", Type.FLOAT))))
    assert check((spelling, 1)) == (kept, 1.0)
    assert check((kept, 1.0)) == (kept, 1.0)
    with pytest.raises(SchemaError, match="this text is none"):
        check(("soon", 1.0))
    with pytest.raises(AspenError, match="holds"):
        check((5, 1.0))
