"""Tables of another database, SQLite's or PostgreSQL's: rows by difference, queries over them."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from wrappers.conftest import changes_of, settings_of

from aspen.model.schema import Column, Type
from aspen.streamsql.statement import read_statement
from smartcis.access.owner import SYSTEM
from smartcis.actions.register_query import register_query
from smartcis.compiling.live_catalog import live_catalog
from smartcis.models import Source, SourceRow
from smartcis.sources.reader import withdraw_disabled
from smartcis.wrappers.database import database_of
from smartcis.wrappers.errors import BadConfig, SourceDown
from smartcis.wrappers.table import DatabaseTable, as_held
from tests.wrappers.another_database import COLUMNS, folder, outside, source_of

__all__ = ["folder", "outside"]
pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_rows_come_by_difference_and_can_be_queried(home, outside):
    url, run = outside
    source = source_of(url)
    assert "inventory" in live_catalog()
    made = register_query(
        read_statement("SELECT asset, watts FROM inventory WHERE NOT spare"), SYSTEM
    )
    assert home.poll(source)
    first = [(1, ("a", 1.5, True)), (1, ("b", None, False))]
    assert changes_of("inventory") == first
    assert home.rows(made.view.name) == [("b", None)]
    run("UPDATE asset SET watts = 7.25 WHERE asset = 'b'")
    run("DELETE FROM asset WHERE asset = 'a'")
    run("INSERT INTO asset VALUES ('c', 3, false, 3)")
    home.later(60.0)
    assert home.poll(source)
    assert sorted(changes_of("inventory")[2:]) == [
        (-1, ("a", 1.5, True)),
        (-1, ("b", None, False)),
        (1, ("b", 7.25, False)),
        (1, ("c", 3.0, False)),
    ]
    assert home.rows(made.view.name) == [("b", 7.25), ("c", 3.0)]
    home.later(60.0)
    assert home.poll(source)
    assert len(changes_of("inventory")) == 6  # nothing changed since


def test_a_version_spares_the_reading(home, outside):
    url, run = outside
    source = source_of(url, version="seen")
    assert home.poll(source)
    run("UPDATE asset SET watts = 9 WHERE asset = 'a'")  # against the rules: no new version
    home.later(60.0)
    assert home.poll(source)
    assert len(changes_of("inventory")) == 2
    home.later(3600.0)
    assert home.poll(source)
    assert changes_of("inventory")[2:] == [(-1, ("a", 1.5, True)), (1, ("a", 9.0, True))]
    run("UPDATE asset SET watts = 8, seen = 3 WHERE asset = 'a'")
    home.later(60.0)
    assert home.poll(source)
    assert changes_of("inventory")[-1] == (1, ("a", 8.0, True))


class Selects:
    """What is read of the table: each time the columns' number and how many rows came."""

    def __init__(self, monkeypatch) -> None:
        self.seen: list[tuple[int, int]] = []
        plain = DatabaseTable._selected

        def counted(table, connection, names, since=None):
            rows = plain(table, connection, names, since)
            self.seen.append((len(names), len(rows)))
            return rows

        monkeypatch.setattr(DatabaseTable, "_selected", counted)


def test_with_a_version_what_changed_is_read_and_nothing_else(home, outside, monkeypatch):
    url, run = outside
    selects = Selects(monkeypatch)
    source = source_of(url, version="seen")
    for number in range(3, 60):
        run(f"INSERT INTO asset VALUES ('r{number}', {number}, false, {number})")

    def polled() -> list[tuple[int, int]]:
        selects.seen = []
        home.later(60.0)
        assert home.poll(source)
        return selects.seen

    assert polled() == [(3, 59)]
    assert polled() == []
    run("UPDATE asset SET watts = 7, seen = 60 WHERE asset = 'r3'")
    run("INSERT INTO asset VALUES ('new', 1, true, 61)")
    before = len(changes_of("inventory"))
    assert polled() == [(3, 3)]  # and the one that was the newest
    assert sorted(changes_of("inventory")[before:]) == [
        (-1, ("r3", 3.0, False)),
        (1, ("new", 1.0, True)),
        (1, ("r3", 7.0, False)),
    ]
    run("DELETE FROM asset WHERE asset = 'r10'")
    before = len(changes_of("inventory"))
    assert polled() == [(3, 1), (1, 59)]  # the newest, and all keys
    assert changes_of("inventory")[before:] == [(-1, ("r10", 10.0, False))]
    run("DELETE FROM asset WHERE asset = 'new'")  # the newest itself
    run("INSERT INTO asset VALUES ('newer', 1, true, 62)")  # and as many as before
    before = len(changes_of("inventory"))
    assert polled() == [(3, 1), (1, 59)]
    assert sorted(changes_of("inventory")[before:]) == [
        (-1, ("new", 1.0, True)),
        (1, ("newer", 1.0, True)),
    ]
    run("UPDATE asset SET spare = NULL, seen = 63 WHERE asset = 'r20'")  # fits no more
    before = len(changes_of("inventory"))
    assert polled() == [(3, 2)]
    assert changes_of("inventory")[before:] == [(-1, ("r20", 20.0, False))]
    assert "r20" in home.state(source)[1]
    run("UPDATE asset SET spare = true, seen = 64 WHERE asset = 'r20'")
    assert polled() == [(3, 1)]
    assert changes_of("inventory")[-1] == (1, ("r20", 20.0, True))
    assert home.state(source)[1] == ""
    Source.objects.filter(pk=source.pk).update(config=source.config | {"key": "asset,spare"})
    assert polled() == [(3, 59)]  # the settings say something else


def test_however_a_table_changes_its_rows_are_those_of_the_table(home, outside):
    url, run = outside
    source = source_of(url, version="seen")
    rng, rows, version = random.Random(7), {"a": (1.5, True), "b": (None, False)}, 2
    for _ in range(25):
        for _ in range(rng.randrange(4)):
            key, version = rng.choice("abcdefgh"), version + rng.randrange(1, 3)
            if rng.random() < 0.4:
                run(f"DELETE FROM asset WHERE asset = '{key}'")
                rows.pop(key, None)
            elif key in rows:
                run(f"UPDATE asset SET watts = {version}, seen = {version} WHERE asset = '{key}'")
                rows[key] = (float(version), rows[key][1])
            else:
                run(f"INSERT INTO asset VALUES ('{key}', {version}, true, {version})")
                rows[key] = (float(version), True)
        home.later(10.0)
        assert home.poll(source)
        held = SourceRow.objects.filter(source=source).values_list("key", "row")
        assert {key: tuple(row[1:]) for key, row in held} == rows


def test_times_and_decimals_of_a_table_are_numbers_and_texts(home, outside):
    url, run = outside
    run("CREATE TABLE lease (id NUMERIC(9,0), due DATE, at TIMESTAMP, rent NUMERIC(9,2))")
    run("INSERT INTO lease VALUES (7, '2026-03-10', '2026-03-10 08:00:00', 12.5)")
    columns = [
        {"name": "id", "type": "INT"},
        {"name": "due", "type": "FLOAT", "unit": "s"},
        {"name": "at", "type": "FLOAT", "unit": "s"},
        {"name": "rent", "type": "FLOAT"},
    ]
    more = {"table": "lease", "key": "id", "columns": columns, "version": "at"}
    source = source_of(url, zone="Europe/Berlin", **more)
    assert home.poll(source)
    midnight_s = datetime(2026, 3, 9, 23, tzinfo=UTC).timestamp()
    first = (7, midnight_s, midnight_s + 8 * 3600.0, 12.5)
    assert changes_of("inventory") == [(1, first)]
    run("INSERT INTO lease VALUES (8, '2026-03-11', '2026-03-10 08:00:01', 3)")
    home.later(60.0)
    assert home.poll(source)
    assert changes_of("inventory")[1:] == [
        (1, (8, midnight_s + 86_400.0, first[2] + 1.0, 3.0)),
    ]
    run("DROP TABLE lease")


def test_a_row_that_does_not_fit_is_named_and_the_others_stay(home, outside):
    url, run = outside
    run("INSERT INTO asset VALUES ('a', 2, true, 4), ('d', 4, NULL, 5)")
    source = source_of(url)
    assert home.poll(source)
    assert [row[0] for _, row in changes_of("inventory")] == ["a", "b"]
    state, reason = home.state(source)
    assert state == "live"
    assert "row 'a': the same key stands there twice (and 1 more)" in reason


def test_a_table_that_is_gone_is_marked_and_its_rows_stand(home, outside):
    url, run = outside
    source = source_of(url)
    assert home.poll(source)
    run("DROP TABLE asset")
    home.later(300.0)
    assert not home.poll(source)
    assert len(changes_of("inventory")) == 2
    state, reason = home.state(source)
    assert (state, "asset" in reason) == ("dead", True)
    assert [row[0] for row in home.rows("silent_source")] == ["inv"]


def test_a_source_switched_off_or_removed_takes_its_rows_along(home, outside):
    url, _ = outside
    source = source_of(url)
    assert home.poll(source)
    assert len(changes_of("inventory")) == 2
    Source.objects.filter(pk=source.pk).update(enabled=False)
    assert withdraw_disabled() == 2
    assert [weight for weight, _ in changes_of("inventory")] == [1, 1, -1, -1]
    Source.objects.filter(pk=source.pk).update(enabled=True)
    assert home.poll(source)
    Source.objects.get(pk=source.pk).delete()
    assert sum(weight for weight, _ in changes_of("inventory")) == 0


def test_a_table_may_fill_what_is_kept_here(home, outside):
    url, run = outside
    run("ALTER TABLE asset RENAME COLUMN asset TO software")
    run("ALTER TABLE asset ADD COLUMN mid TEXT")
    run("UPDATE asset SET mid = 'm1'")
    source = source_of(url, relation="machine_software", key="mid,software", columns=[])
    before = len(changes_of("machine_software"))
    assert home.poll(source)
    assert sorted(changes_of("machine_software")[before:]) == [(1, ("m1", "a")), (1, ("m1", "b"))]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"relation": "door"}, "kept here"),
        ({"relation": "My Table"}, "lower case"),
        ({"key": "nothing"}, "key column"),
        ({"columns": []}, "needs columns"),
        ({"columns": [{"name": "a.b", "type": "TEXT"}]}, "no full stop"),
        ({"columns": [{"name": "asset", "type": "MONEY"}]}, "other than TEXT"),
        ({"database": "mysql://h/db"}, "SQLite and PostgreSQL"),
        ({"database": "env:SMARTCIS_NOWHERE"}, "no SMARTCIS_NOWHERE"),
        ({"relation": "closed_room"}, "there is a view"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(home, change, why):
    with pytest.raises(ValidationError, match=why):
        source_of("postgres://somewhere/inventory", **change)


def test_a_relation_keeps_its_columns(home, outside):
    url, _ = outside
    source = source_of(url)
    source.config = source.config | {"columns": COLUMNS[:2]}
    with pytest.raises(ValidationError, match="declared with other columns"):
        source.full_clean()
    source.config = source.config | {"relation": "another", "columns": COLUMNS}
    with pytest.raises(ValidationError, match="keeps feeding the relation"):
        source.full_clean()


def test_a_missing_file_stays_missing(folder, tmp_path):
    config = {
        "database": f"sqlite:///{tmp_path / 'gone.sqlite3'}",
        "table": "t",
        "key": "asset",
        "relation": "inventory",
        "columns": COLUMNS,
    }
    with pytest.raises(SourceDown, match="does not answer"):
        DatabaseTable(settings_of("table", config)).poll(lambda _: 0)
    assert list(tmp_path.iterdir()) == []


def test_values_become_what_their_columns_hold():
    moment = datetime(2026, 3, 10, tzinfo=UTC)
    assert as_held(Column("a", Type.FLOAT), Decimal("1.5")) == 1.5
    assert as_held(Column("a", Type.INT), Decimal(3)) == 3
    assert as_held(Column("a", Type.FLOAT), moment.replace(tzinfo=None)) == moment.timestamp()
    assert as_held(Column("a", Type.TEXT), moment) == "2026-03-10T00:00:00+00:00"
    assert as_held(Column("a", Type.BOOL), 1) is True
    assert as_held(Column("a", Type.BOOL), None) is None
    for none in (Decimal("NaN"), Decimal("Infinity"), Decimal("1.5"), math.nan, 1.5):
        assert as_held(Column("a", Type.INT), none) is none  # which its relation refuses
    assert as_held(Column("a", Type.INT), 3.0) == 3
    midnight_s = datetime(2026, 3, 9, 23, tzinfo=UTC).timestamp()
    berlin = ZoneInfo("Europe/Berlin")
    assert as_held(Column("a", Type.FLOAT), date(2026, 3, 10), berlin) == midnight_s
    assert as_held(Column("a", Type.FLOAT, "s"), "2026-03-10 00:00", berlin) == midnight_s
    assert as_held(Column("a", Type.FLOAT, "s"), "soon") == "soon"
    assert as_held(Column("a", Type.FLOAT, "W"), "2026-03-10") == "2026-03-10"
    assert as_held(Column("a", Type.FLOAT), timedelta(minutes=1)) == 60.0
    assert as_held(Column("a", Type.TEXT), date(2026, 3, 10)) == "2026-03-10"
    assert as_held(Column("a", Type.TEXT), time(8, 30)) == "08:30:00"
    assert as_held(Column("a", Type.TEXT), Decimal("1.50")) == "1.50"
    assert as_held(Column("a", Type.TEXT), UUID(int=1)) == str(UUID(int=1))
    with pytest.raises(BadConfig, match="not the address"):
        database_of("what://")
