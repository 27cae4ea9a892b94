"""What stands in the house, over REST: machines, kiosks, sources, rooms, levels, the calendar."""

from __future__ import annotations

from collections import Counter

import pytest
from api.test_api import refused, staff, visitor  # noqa: F401 - fixtures

from smartcis.importers.seed.run import forget
from smartcis.models import (
    Desk,
    Kiosk,
    Machine,
    OutboxEntry,
    Reservation,
    RoutingEdge,
    RoutingNode,
    Sensor,
    SoftwareInstall,
    Source,
    Unit,
)
from smartcis.models.state import whole_state

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def rows_of(bodies) -> Counter:
    """Returns the fold of outbox bodies: row → weight."""
    found: Counter = Counter()
    for body in bodies:
        for relation, weight, *row in body.get("changes", ()):
            found[relation, *row] += weight
    return Counter({row: weight for row, weight in found.items() if weight})


@pytest.fixture
def law(house, building):
    """After each test the fold of the outbox is what the tables say."""
    yield
    assert rows_of(one.body for one in OutboxEntry.objects.all()) == rows_of(whole_state())


def test_a_machine_is_added_changed_and_removed(staff, visitor, law):  # noqa: F811
    new = {"mid": "m3", "host": "h3", "rid": "A", "software": ["R", "LaTeX", "R"]}
    refused(visitor("POST", "machines/", new), 401, "smartcis.api.not_authenticated")
    made = staff("POST", "machines/", new)
    assert made.status_code == 201, made.content
    assert made.json() == {
        "mid": "m3",
        "host": "h3",
        "rid": "A",
        "node": 2,
        "level_id": "L0",
        "x_m": 2.0,
        "y_m": 2.0,
        "cpu_type": "",
        "simulated": False,
        "software": ["LaTeX", "R"],
    }
    refused(staff("POST", "machines/", new), 409, "smartcis.actions.already_there")
    changed = staff("PATCH", "machines/m3/", {"host": "h4", "software": ["Word"]}).json()
    assert (changed["host"], changed["software"], changed["rid"]) == ("h4", ["Word"], "A")
    assert not SoftwareInstall.objects.get(machine="m3").simulated
    listed = visitor("GET", "machines/?rid=A&simulated=false").json()["results"]
    assert [one["mid"] for one in listed] == ["m3"]
    for word in ("maybe", "2", "yes"):
        refused(visitor("GET", f"machines/?simulated={word}"), 400, "smartcis.api.invalid")
        refused(visitor("GET", f"rooms/?derived={word}"), 400, "smartcis.api.invalid")
        refused(visitor("GET", f"sensors/?enabled={word}"), 400, "smartcis.api.invalid")
    assert visitor("GET", "machines/?simulated=1").json()["count"] == 2
    assert visitor("GET", "machines/?simulated=").json()["count"] == 3
    assert staff("DELETE", "machines/m3/").status_code == 204
    refused(staff("DELETE", "machines/m3/"), 404, "smartcis.actions.not_found")
    assert (Machine.objects.count(), RoutingNode.objects.count()) == (2, 3)


def test_a_position_gets_a_desk_one_can_walk_to(staff, law):  # noqa: F811
    place = {"mid": "m3", "host": "h3", "rid": "A", "x_m": 4.0, "y_m": 2.0}
    made = staff("POST", "machines/", place).json()
    point = RoutingNode.objects.get(pk=made["node"])
    assert (point.kind, point.unit_id, point.simulated) == ("desk", "A", True)
    assert Machine.objects.get(pk="m3").desk.node == point
    edges = RoutingEdge.objects.filter(src=point) | RoutingEdge.objects.filter(dst=point)
    assert {(one.src_id, one.dst_id, one.length_mm) for one in edges} == {
        *((point.pk, 2, 2_000), (2, point.pk, 2_000)),
    }
    moved = staff("PATCH", "machines/m3/", {"rid": "B"}).json()
    assert (moved["rid"], moved["node"], moved["x_m"]) == ("B", 3, 8.0)
    assert not Desk.objects.exists()
    assert RoutingNode.objects.count() == 3
    staff("PATCH", "machines/m3/", {"x_m": 7.0, "y_m": 7.0})
    staff("DELETE", "machines/m3/")
    assert (Desk.objects.count(), RoutingNode.objects.count()) == (0, 3)


def test_what_belongs_to_a_machine_moves_with_it(staff, law):  # noqa: F811
    Source.objects.create(source="gate", kind="push", config={"account": "x"}, machine_id="m1")
    staff("PATCH", "machines/m1/", {"rid": "B"})
    assert {
        (one.unit_id, one.node_id, one.x_m) for one in Machine.objects.get(pk="m1").sensors.all()
    } == {("B", 3, 8.0)}
    assert Source.objects.get(pk="gate").rid == "B"
    staff("DELETE", "machines/m1/")
    assert not Sensor.objects.filter(sid__startswith="m1.").exists()
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rid": "Z"}, "there is no room 'Z'"),
        ({"node": 3}, "point 3 is not in A"),
        ({"node": 77}, "there is no walking point '77'"),
        ({"x_m": 1.0}, "a position has x_m and y_m"),
        ({"x_m": 99.0, "y_m": 1.0}, "nobody can walk to this position in A"),
        ({"host": "x" * 101}, "host"),
        ({"mid": "a/b"}, "mid"),
        ({"simulated": "perhaps"}, "simulated"),
    ],
)
def test_a_machine_that_cannot_be_is_refused_whole(staff, law, wrong, said):  # noqa: F811
    before = OutboxEntry.objects.count()
    answer = staff("POST", "machines/", {"mid": "m3", "host": "h", "rid": "A"} | wrong)
    assert answer.status_code in {400, 404}
    assert said in answer.json()["message"]
    assert (Machine.objects.count(), OutboxEntry.objects.count()) == (2, before)


def test_software_that_a_source_reports_is_changed_there(staff, law):  # noqa: F811
    page = Source.objects.create(source="page", kind="software", machine_id="m1")
    install = SoftwareInstall.objects.create(machine_id="m1", software="R", source=page)
    body = refused(
        staff("PATCH", "machines/m1/", {"software": ["LaTeX"]}), 400, "smartcis.actions.invalid"
    )
    assert "page says that R is installed" in body["message"]
    staff("PATCH", "machines/m1/", {"software": ["R"]})
    assert list(SoftwareInstall.objects.filter(machine="m1")) == [install]
    install.refresh_from_db()
    assert install.source == page


def test_forgetting_what_is_simulated_leaves_what_was_entered(staff, law):  # noqa: F811
    place = {"mid": "m3", "host": "h3", "rid": "A", "x_m": 4.0, "y_m": 2.0}
    staff("POST", "machines/", place)
    forget()
    assert [one.pk for one in Machine.objects.all()] == ["m3"]
    assert Machine.objects.get().desk is not None


def test_a_kiosk_is_added_changed_and_removed(staff, visitor, law):  # noqa: F811
    made = staff("POST", "kiosks/", {"id": "k2", "name": "Exit", "node": 2})
    assert made.json() == {
        "id": "k2",
        "name": "Exit",
        "node": 2,
        "level_id": "L0",
        "x_m": 2.0,
        "y_m": 2.0,
        "bearing_deg": None,
        "query": None,
        "simulated": False,
    }
    assert visitor.client.get("/kiosk/k2/").status_code == 200
    again = staff("POST", "kiosks/", {"id": "k2", "name": "Exit", "node": 2})
    refused(again, 409, "smartcis.actions.already_there")
    assert staff("PATCH", "kiosks/k2/", {"node": 3}).json()["x_m"] == 8.0
    refused(staff("PATCH", "kiosks/k2/", {"node": 99}), 404, "smartcis.actions.not_found")
    refused(staff("PATCH", "kiosks/k2/", {"name": ""}), 400, "smartcis.api.invalid")
    listed = visitor("GET", "kiosks/?rid=B").json()["results"]
    assert [one["id"] for one in listed] == ["k2"]
    assert staff("DELETE", "kiosks/k2/").status_code == 204
    assert not Kiosk.objects.filter(pk="k2").exists()


def test_a_source_is_added_changed_and_removed(staff, visitor, law):  # noqa: F811
    url = "https://example.org/room.ics?secret=1"
    new = {"id": "cal", "kind": "calendar", "rid": "A", "config": {"url": url}}
    refused(visitor("POST", "feeds/", new), 401, "smartcis.api.not_authenticated")
    made = staff("POST", "feeds/", new).json()
    assert (made["id"], made["rid"], made["enabled"], made["config"]["url"]) == (
        *("cal", "A", True, url),
    )
    assert Source.objects.get().period_s == 300.0
    refused(staff("POST", "feeds/", new), 409, "smartcis.actions.already_there")
    seen = visitor("GET", "feeds/cal/")
    assert seen.json()["config"] is None
    assert b"secret" not in seen.content + visitor("GET", "feeds/").content
    bad = staff("PATCH", "feeds/cal/", {"config": {"uri": "x"}})
    assert "uri" in refused(bad, 400, "smartcis.actions.invalid")["message"]
    refused(staff("PATCH", "feeds/cal/", {"rid": "Z"}), 404, "smartcis.actions.not_found")
    refused(staff("PATCH", "feeds/cal/", {"period_s": 0}), 400, "smartcis.actions.invalid")
    off = staff("PATCH", "feeds/cal/", {"enabled": False}).json()
    assert (off["enabled"], off["state"], off["config"]["url"]) == (False, "off", url)
    assert visitor("GET", "feeds/?enabled=true").json()["count"] == 0
    Reservation.objects.create(
        unit_id="A",
        start="2030-02-01T10:00Z",
        end="2030-02-01T11:00Z",
        title="Talk",
        source=Source.objects.get(),
    )
    assert staff("DELETE", "feeds/cal/").status_code == 204
    assert not Reservation.objects.exists()
    body = refused(visitor("GET", "feeds/cal/"), 404, "smartcis.actions.not_found")
    assert body["message"] == "there is no source 'cal'"


def test_a_source_whose_settings_are_broken_may_be_switched_off(staff, law):  # noqa: F811
    Source.objects.create(source="gate", kind="push", config={"account": "x"})
    refused(staff("PATCH", "feeds/gate/", {"period_s": 5}), 400, "smartcis.actions.invalid")
    assert staff("PATCH", "feeds/gate/", {"enabled": False}).json()["enabled"] is False
    refused(staff("PATCH", "feeds/gate/", {"enabled": True}), 400, "smartcis.actions.invalid")


def test_rooms_and_levels_are_renamed_and_their_geometry_is_not(staff, visitor, law):  # noqa: F811
    listed = visitor("GET", "rooms/?category=room&level_id=L0&page_size=1").json()
    assert (listed["count"], [one["rid"] for one in listed["results"]]) == (2, ["A"])
    changed = staff("PATCH", "rooms/A/", {"name": "Library", "category": "library"}).json()
    assert (changed["name"], changed["category"], changed["area_m2"]) == ("Library", "library", 9.0)
    refused(visitor("PATCH", "rooms/A/", {"name": "x"}), 401, "smartcis.api.not_authenticated")
    body = refused(
        staff("PATCH", "rooms/A/", {"category": "lair"}), 400, "smartcis.actions.invalid"
    )
    assert "library" in body["exists"]
    body = refused(
        staff("PATCH", "rooms/A/", {"category": "stairs"}), 400, "smartcis.actions.invalid"
    )
    assert "drawing" in body["message"]
    refused(staff("PATCH", "rooms/A/", {"label_x_m": 0}), 400, "smartcis.api.unknown_field")
    assert Unit.objects.get(pk="A").polygon
    level = staff("PATCH", "levels/L0/", {"short_name": "G"}).json()
    assert (level["name"], level["short_name"]) == ("Ground", "G")
    assert visitor("GET", "levels/L0/").json() == level
    assert visitor("GET", "levels/?short_name=0").json()["count"] == 0
    refused(staff("PATCH", "levels/L9/", {"name": "x"}), 404, "smartcis.actions.not_found")


def test_the_reservations_of_all_rooms_by_room_and_time(visitor, law):  # noqa: F811
    for rid, day in (("A", 1), ("A", 2), ("B", 2)):
        Reservation.objects.create(
            unit_id=rid,
            start=f"2030-02-0{day}T10:00Z",
            end=f"2030-02-0{day}T11:00Z",
            title=f"{rid}{day}",
        )

    def titles(query: str) -> list[str]:
        found = visitor("GET", f"reservations/?{query}").json()["results"]
        return [one["title"] for one in found]

    assert titles("") == ["A1", "A2", "B2"]
    assert titles("rid=A") == ["A1", "A2"]
    assert titles("from=2030-02-01T11:00:00Z") == ["A2", "B2"]
    assert titles("from=2030-02-01T10:59:59Z&to=2030-02-02T10:00:00Z") == ["A1"]
    assert titles("level_id=L0&to=2030-02-02T10:00:01Z&rid=B") == ["B2"]
    refused(visitor("GET", "reservations/?from=soon"), 400, "smartcis.api.invalid")


def test_a_sensor_says_whether_it_is_simulated(staff, law):  # noqa: F811
    made = staff("POST", "sensors/", {"kind": "light", "rid": "A", "simulated": False}).json()
    assert made["simulated"] is False
    path = f"sensors/{made['sid']}/"
    body = refused(staff("PATCH", path, {"simulated": True}), 400, "smartcis.actions.invalid")
    assert body["message"].startswith("parameters: ")
    simulated = {"simulated": True, "waveform": "constant", "parameters": {"value": 300}}
    assert staff("PATCH", path, simulated).json()["simulated"] is True
    assert staff("PATCH", path, {"simulated": False}).json()["simulated"] is False
    assert Sensor.objects.get(pk=made["sid"]).simulated is False
