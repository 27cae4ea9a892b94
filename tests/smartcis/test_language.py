"""Pages and REST speak the language that was chosen, else the client's, else English."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import get_language

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.body_limit import refuse
from smartcis.deliveries.mail import message_of
from smartcis.errors import BodyTooLarge
from smartcis.language import language_of
from smartcis.models import ChangeRecord, Delivery, Destination, Door, MaintainedView

pytestmark = pytest.mark.django_db

GERMAN = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.5"}


def test_a_page_is_in_the_language_that_the_browser_prefers(client, house, building):
    for headers, code, word in (({}, "en", "Sign in"), (GERMAN, "de", "Anmelden")):
        for path in ("/", "/queries/", "/login/", "/nowhere/", "/api/docs/"):
            answer = client.get(path, headers=headers)
            page = answer.content.decode()
            assert f'<html lang="{code}">' in page, path
            assert f">{word}<" in page, path
            assert answer.headers["Content-Language"] == code
            assert {"Accept-Language", "Cookie"} <= set(answer.headers["Vary"].split(", "))
    assert get_language() == "en"


def test_another_language_is_chosen_in_the_header_and_kept(client, house, building):
    page = client.get("/login/", headers=GERMAN).content.decode()
    button = re.search(
        r'<button type="submit" name="language" value="(\w+)" lang="\1">(\w+)<', page
    )
    assert button.groups() == ("en", "English")
    back = {"Referer": "http://testserver/login/?next=/queries/"}
    answer = client.post("/language/", {"language": "en"}, headers={**GERMAN, **back})
    assert (answer.status_code, answer.url) == (302, back["Referer"])
    page = client.get("/login/", headers=GERMAN).content.decode()
    assert '<html lang="en">' in page
    assert 'value="de" lang="de">Deutsch<' in page


def test_nobody_else_s_page_chooses_it(house, building):
    answer = Client(enforce_csrf_checks=True).post("/language/", {"language": "de"}, headers=GERMAN)
    assert answer.status_code == 403
    assert "Diese Seite war zu alt" in answer.content.decode()


def test_what_opens_without_network_has_one_language(client, house, building):
    client.cookies["django_language"] = "de"
    worker = client.get("/sw.js").content.decode()
    shell = re.search(r"const SHELL = '(.*)';", worker).group(1)
    del client.cookies["django_language"]
    assert worker != client.get("/sw.js").content.decode()
    assert '<html lang="de">' in client.get(shell).content.decode()  # asked for without cookies
    page = client.get("/", headers=GERMAN).content.decode()
    linked = re.search(r'rel="manifest" href="(.*?)"', page)
    assert client.get(linked.group(1)).json()["lang"] == "de"
    assert client.get("/manifest.webmanifest?language=xx").json()["lang"] == "en"


def refusals(client, headers):
    """What REST refuses, in Django, DRF, this product's own code and StreamSQL."""
    sensor = json.dumps({"kind": "nothing", "period_s": "often", "unit": "nowhere"})
    post = {"content_type": "application/json", "headers": headers}
    return [
        client.get("/api/v1/rooms/nowhere/", headers=headers),
        client.post("/api/v1/sensors/", sensor, **post),
        client.post("/api/v1/sensors/", "{", **post),
        client.post("/api/v1/queries/", json.dumps({"sql": "SELCT 1"}), **post),
        client.post("/api/v1/queries/", json.dumps({"text": "SELECT 1"}), **post),
        client.get("/api/v1/rooms/?colour=red", headers=headers),
        client.get("/api/v1/nothing/", headers=headers),
        client.delete("/api/v1/doors/", headers=headers),
    ]


def test_rest_refuses_in_the_language_that_is_asked_for(client, house, building):
    client.force_login(User.objects.create_superuser("keeper", password="x"))
    english, german = refusals(client, {}), refusals(client, GERMAN)
    for one, other in zip(english, german, strict=True):
        said, told = one.json(), other.json()
        assert (one.status_code, one["Content-Language"]) == (other.status_code, "en")
        assert other["Content-Language"] == "de"
        assert {"Accept-Language", "Cookie"} <= set(re.split(", *", other["Vary"]))
        assert said["message"] != told["message"]
        for same in ("code", "status", "type", "position"):
            assert said[same] == told[same]
    assert german[0].json()["message"] == "hier gibt es nichts"
    assert german[3].json()["try"] == "meinten Sie SELECT?"
    client.cookies["django_language"] = "de"
    assert [one.content for one in refusals(client, {})] == [one.content for one in german]
    assert get_language() == "en"


def test_titles_examples_and_reasons_are_in_the_language_that_is_asked_for(client, house, building):
    titles = [
        one["title"] for one in client.get("/api/v1/queries/examples/", headers=GERMAN).json()
    ]
    assert titles[:2] == ["Verschlossene Türen", "Freie Rechner in jedem Raum"]
    crossed = {"sql": "SELECT r.rid FROM room r, machine m"}
    asked = {"content_type": "application/json", "headers": GERMAN}
    checked = client.post("/api/v1/queries/check/", json.dumps(crossed), **asked).json()
    assert checked["warnings"][0]["message"].startswith("nichts verbindet room mit machine: ")
    explained = client.post("/api/v1/queries/explain/", json.dumps(crossed), **asked).json()
    assert explained["warnings"] == checked["warnings"]


def test_what_programs_read_is_the_same_in_every_language(client, house, building):
    for path in ("/api/schema/", "/api/v1/asyncapi.json", "/api/v1/doors/?level_id=L0", "/metrics"):
        assert client.get(path, headers=GERMAN).content == client.get(path).content, path


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ([], "en"),
        ([(b"accept-language", b"de-AT,en;q=0.5")], "de"),
        ([(b"accept-language", b"de"), (b"cookie", b"a=b; django_language=en")], "en"),
        ([(b"Accept-Language", b"\xff\xfe;q=x"), (b"Cookie", b"django_language=xx")], "en"),
    ],
)
def test_a_connection_asks_for_a_language_as_a_page_does(headers, language):
    assert language_of({"headers": headers}) == language


def test_a_request_that_django_never_sees_is_refused_in_its_language():
    sent = []

    async def send(message):
        sent.append(message)

    error = BodyTooLarge("the body is too large", attempt="send it in smaller pieces")
    asyncio.run(refuse(error, {"headers": [(b"accept-language", b"de")]}, send))
    assert dict(sent[0]["headers"])[b"content-language"] == b"de"
    assert json.loads(sent[1]["body"])["message"] == "der Inhalt ist zu groß"


def test_an_e_mail_is_in_the_language_of_the_house(settings):
    said = dict.fromkeys(("mid", "door_id", "cleared_s"))
    said |= {"step": "raised", "severity": "critical", "title": "too warm", "kind": "threshold"}
    said |= {"where": "room Seminar 1", "rid": "155", "raised_s": 0.0, "message": "155, 31.5"}
    said |= {"value": 31.5, "unit": "°C"}
    settings.EMAIL_LANGUAGE = "de"
    sent = message_of(Delivery(key="alarm:1", target="house@example.org", alarm=said))
    assert sent.subject == "Kritisch: too warm, Raum Seminar 1"
    assert "Seit 1970-01-01 00:00:00 UTC.\nWert: 31.5 °C.\nDie Zeile: 155, 31.5." in sent.body
    assert get_language() == "en"


def test_the_change_log_is_kept_in_english_and_shown_in_the_page_s_language(
    client, house, building
):
    client.force_login(User.objects.create_superuser("keeper", password="x"))
    door = Door.objects.all()[0]
    page = f"/admin/smartcis/door/{door.pk}/change/"
    assert client.post(page, {"state": "locked"}, headers=GERMAN).status_code == 302
    assert ChangeRecord.objects.get().kind == "door"
    log = client.get("/admin/smartcis/changerecord/", headers=GERMAN).content.decode()
    assert 'class="field-thing">Tür<' in log


def test_relations_are_described_in_the_reader_s_language(client, house, building):
    Destination.objects.filter(pk="exit").update(name="Out", name_de="Hinaus")
    deploy_standing_queries()
    own = "how warm it is, by Ada"
    MaintainedView.objects.filter(pk="newest_temperature").update(comment=own)

    def described(headers):
        found = client.get("/api/v1/sources/", headers=headers).json()
        return {one["name"]: one["comment"] for one in found}

    english, german = described({}), described(GERMAN)
    assert len(english) > 100
    assert {name for name, said in english.items() if said == german[name]} == {
        "newest_temperature"
    }
    assert german["newest_temperature"] == own
    assert german["goal_exit"] == "Hinaus"
    assert german["room"] == "Räume des Gebäudes, auch Flure und Treppen."


def test_a_problem_has_a_title_in_the_reader_s_language(client):
    said = [client.get("/api/v1/nowhere/", headers=one).json() for one in ({}, GERMAN)]
    assert [one["title"] for one in said] == ["Not Found", "Nicht gefunden"]
    assert len({one["type"] for one in said}) == 1
