"""Everything anybody can send, by who sends it and whose thing it is, is as `policy.toml` says.

The endpoints are those the URL resolver knows, the messages those of the protocol: what is new and
has no line in the table fails.
"""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from api.test_api import Caller, relay, running
from api.test_why import now_s, rows_of, visitor  # noqa: F401 - fixtures
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import EndpointEnumerator

from smartcis.actions.issue_token import issue_token
from smartcis.models import Alarm, Reservation, Source, Visitor

pytestmark = [pytest.mark.django_db]
TABLE = tomllib.loads(Path(__file__).with_name("policy.toml").read_text(encoding="utf-8"))
ROLES = TABLE["roles"].split()
WHO = {name: row.split() for name, row in TABLE["who"].items()}
ENDPOINTS: dict[str, str | dict[str, str]] = TABLE["endpoints"]
PAGES: dict[str, str] = TABLE["pages"]
SOCKET: dict[str, str | dict[str, str]] = TABLE["socket"]
WORDS = {200: "yes", 201: "yes", 202: "yes", 204: "yes", 401: "login", 403: "no", 404: "none"}
READABLE = "SELECT d.door_id, d.state FROM door d"
HALL = "SELECT n.rid, n.node FROM routing_node n"
WALKERS = "SELECT q.node FROM route_request q"

HOST = {"host": "h", "cpu_pct": 1.0, "memory_pct": 1.0, "users": 0, "jobs": 0}
BODIES: dict[str, Any] = {
    "PATCH alarms/{alarm_id}/": {"acknowledged": True},
    "POST destinations/": {"slug": "hall", "name": "Hall", "sql": HALL},
    "PATCH destinations/{pk}/": {"name": "Out"},
    "PATCH doors/{pk}/": {"state": "locked"},
    "POST feeds/": {"id": "third", "kind": "push"},
    "PATCH feeds/{source}/": {"enabled": False},
    "POST kiosks/": {"id": "k2", "name": "Exit", "node": 1},
    "PATCH kiosks/{pk}/": {"name": "Exit"},
    "PATCH levels/{level_id}/": {"name": "Ground floor"},
    "POST machines/": {"mid": "m3", "host": "h3", "rid": "A"},
    "PATCH machines/{pk}/": {"software": ["R"]},
    "PATCH rooms/{rid}/": {"name": "Library"},
    "POST feeds/{source}/rows/": {
        "relation": "host_load",
        "rows": [{**HOST, "at_s": time.time()}],
    },
    "PUT feeds/{source}/mappings/": {"mappings": []},
    "PUT feeds/{source}/devices/{device_id}/": {"rid": "A"},
    "POST queries/{query_id}/deliveries/": {},
    "PATCH queries/{query_id}/placement/": {"where": "engine"},
    "PATCH queries/{query_id}/": {"name": "another"},
    "POST rooms/{rid}/reservations/": {
        "start": "2030-01-01T10:00Z",
        "end": "2030-01-01T11:00Z",
        "title": "Talk",
    },
    "POST routes/": {"node": 1, "goal": "free-machine:LaTeX"},
    "PUT routes/{session}/": {"node": 2, "goal": "free-machine:LaTeX", "step_free": True},
    "PATCH routes/{session}/": {"node": 2},
    "POST sensors/": {"kind": "light", "rid": "A"},
    "PATCH sensors/{pk}/": {"enabled": False},
    "PATCH visitors/me/": {"consent": "counted"},
    "POST readings/": [{"sid": "m1.seat", "value": 0, "unit": "kg", "at_s": time.time()}],
}
KEYS = {
    "destinations": "exit",
    "doors": "A.d1",
    "machines": "m1",
    "kiosks": "k1",
    "sensors": "m1.seat",
}
STATEMENTS = {
    "open": READABLE,
    "walks": WALKERS,
    "walks_once": f"ONCE {WALKERS}",
    "tags_once": "ONCE SELECT v.tag FROM visitor v",
    "table": "CREATE TABLE lunch (rid TEXT)",
    "alarm": f"{READABLE} OUTPUT TO ALARM doors",
}
VIEWS = {
    "open_view": "door_state",
    "own_view": "nearest_destination",
    "walks_view": "walking_cost",
    "tags_view": "visitor_heard",
}
QUESTIONS: dict[str, dict[str, Any]] = {
    "why": {"row": []},
    "why-not": {"row": {}},
    "what-if": {"updates": "UPDATE door SET state = 'locked'"},
    "weak-points": {},
}


class House:
    """Who is there, and what belongs to whom."""

    def __init__(self) -> None:
        ann, bob = (User.objects.create_user(name, password="p") for name in ("ann", "bob"))
        gate = User.objects.create_user("gate", password="p", is_staff=True)
        root = User.objects.create_superuser("root", password="p")
        for name in ("near", "far"):
            Source.objects.create(source=name, kind="push", config={"account": "x"})
        own = {"gateway": {"sources": ["near"]}, "metrics": {"scope": "metrics"}}
        own |= {"script": {"scope": "account", "user": ann}}
        self.callers = {name: self._program(name, **more) for name, more in own.items()}
        self.callers["nobody"] = Caller()
        people = {"browser": None, "account": ann, "other": bob, "staff": gate, "superuser": root}
        for name, user in people.items():
            self.callers[name] = self._person(user)
        self.ids = {
            "of_browser": self._query("browser", READABLE),
            "of_account": self._query("account", "SELECT r.rid FROM room r"),
            "of_staff": self._query("staff", "SELECT l.name FROM level l"),
            "closed": self._query("staff", WALKERS),
            "alarm": self._query("staff", STATEMENTS["alarm"]),
            "near": "near",
            "far": "far",
        }
        outlet = {"outlet_id": self.ids["alarm"], "query": self.ids["alarm"], "digest": ""}
        shown = {"kind": Alarm.Kind.NO_DATA, "key": {}, "raised_s": 1.0, "changed_s": 1.0}
        self.alarm = Alarm.objects.create(**outlet, **shown)
        self.walk = self._made("browser", "routes/", {"node": 1, "goal": "free-machine:LaTeX"})[
            "session"
        ]
        self.visitor = Visitor.objects.create(tag="t", simulated=False)
        self.booked = Reservation.objects.create(
            unit_id="A", start="2030-02-01T10:00Z", end="2030-02-01T11:00Z", title="Exam"
        )

    @staticmethod
    def _program(name: str, **more: Any) -> Caller:
        _, token = issue_token(name, **more)
        return Caller(authorization=f"Bearer {token}")

    @staticmethod
    def _person(user: User | None) -> Caller:
        caller = Caller()
        if user is not None:
            caller.client.force_login(user)
        caller.client.get("/")  # a page gives the browser its token
        return caller

    def _made(self, role: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.callers[role]("POST", path, body)
        assert answer.status_code == 201, answer.content
        return answer.json()

    def _query(self, role: str, sql: str) -> str:
        return str(self._made(role, "queries/", {"sql": sql})["id"])

    def path(self, endpoint: str, thing: str) -> str:
        """Returns an endpoint's path with the names of a thing."""
        values = {
            "pk": next((pk for name, pk in KEYS.items() if name in endpoint), ""),
            "alarm_id": str(self.alarm.pk),
            "level_id": "L0",
            "rid": "A",
            "reservation_id": str(self.booked.pk),
            "session": self.walk,
            "sid": KEYS["sensors"],
            "kiosk_id": "k1",
            "position": "1-0",
            "device_id": "1",
            "number": "1",
            "source": self.ids.get(thing, "near"),
            "query_id": VIEWS.get(thing) or self.ids.get(thing, ""),
        }
        return endpoint.partition(" ")[2].format(**values)

    def body(self, endpoint: str, thing: str) -> Any:
        """Returns what is sent."""
        if endpoint in BODIES:
            return BODIES[endpoint]
        if thing in STATEMENTS:
            return {"sql": STATEMENTS[thing]}
        kind = endpoint.rstrip("/").rpartition("/")[2]
        if kind in QUESTIONS:
            if thing == "walk":
                (row,) = rows_of("nearest_destination")
                known = {"row": list(row) if kind == "why" else {"session": row[0], "mid": "m2"}}
                return {"view": "nearest_destination", **known}
            view = VIEWS.get(thing) or self.ids[thing]
            return {"view": view, **QUESTIONS[kind]}
        return None


@contextmanager
def undone() -> Iterator[None]:
    """What is done within has not been done behind it."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def at_home(visitor, now_s, engine, settings, monkeypatch) -> Iterator[House]:  # noqa: F811
    for name in ("QUOTAS", "RATES"):
        free = {kind: dict.fromkeys(most, 0) for kind, most in getattr(settings, name).items()}
        setattr(settings, name, free)
    monkeypatch.setattr("rest_framework.throttling.ScopedRateThrottle.allow_request", allow)
    house = House()
    relay()
    engine()
    with running(engine):
        yield house


def allow(*_: Any) -> bool:
    return True


def word_of(answer: Any) -> str:
    """Returns what an answer says of whoever asked."""
    if answer.status_code == 302:
        return "login" if "login" in answer.headers["Location"] else "moved"
    plain = answer.headers.get("Content-Type") == "application/json" and not answer.streaming
    if plain and isinstance(body := answer.json(), dict) and body.get("ok") is False:
        return "no"  # a text is checked, and would be refused
    if answer.status_code in WORDS:
        return WORDS[answer.status_code]
    code = answer.json()["code"]
    # What was sent was taken up, and says nothing in this house.
    invalid = ("smartcis.actions.invalid", "smartcis.api.invalid")
    taken = code.startswith(("aspen.", "smartcis.why.", *invalid))
    return "yes" if taken else f"{answer.status_code} {code}"


def asked(house: House, role: str, endpoint: str, thing: str) -> str:
    method = endpoint.partition(" ")[0]
    codes = {"with_code": house.visitor.code, "with_another": "unknown"}
    headers = {"Visitor-Code": codes[thing]} if thing in codes else {}
    with undone():
        path, body = house.path(endpoint, thing), house.body(endpoint, thing)
        return word_of(house.callers[role](method, path, body, headers=headers))


def by_thing(line: str | dict[str, str]) -> dict[str, list[str]]:
    things = line if isinstance(line, dict) else {"": line}
    return {thing: WHO[who] for thing, who in things.items()}


def test_endpoints_serve_whom_they_should(at_home):
    others = {}
    for endpoint, line in ENDPOINTS.items():
        for thing, wanted in by_thing(line).items():
            seen = [asked(at_home, role, endpoint, thing) for role in ROLES]
            if seen != wanted:
                others[endpoint, thing] = seen
    assert others == {}


def test_every_endpoint_has_its_line():
    known = EndpointEnumerator().get_api_endpoints()
    found = [f"{method} {path}" for path, _, method, _ in known]
    rest = sorted(one.replace("/api/v1/", "") for one in found if "/api/v1/" in one)
    assert sorted(ENDPOINTS) == rest
    others = {one.removeprefix("GET ") for one in found if "/api/v1/" not in one}
    others |= set(pages(get_resolver(), "/"))
    assert others | {"/admin/{model}/"} == set(PAGES)


def pages(resolver: URLResolver, before: str) -> Iterator[str]:
    """Returns the paths of pages that are no REST, and the admin's beginning."""
    for one in resolver.url_patterns:
        path = before + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(one.pattern))
        if path == "/admin/":
            yield path
        elif isinstance(one, URLResolver) and path != "/api/":
            yield from pages(one, path)
        elif isinstance(one, URLPattern):
            yield path


def test_pages_open_for_whom_they_should(at_home):
    models = [f"{one._meta.app_label}/{one._meta.model_name}" for one in admin.site._registry]
    others = {}
    for page, who in PAGES.items():
        for model in models if "{model}" in page else [""]:
            path = page.format(kiosk_id="k1", query_id=at_home.ids["of_browser"], model=model)
            seen = [word_of(at_home.callers[role].client.get(path)) for role in ROLES]
            if seen != WHO[who]:
                others[path] = seen
    assert others == {}
