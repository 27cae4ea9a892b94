"""Pages speak the language that was chosen, else the browser's; programs hear English."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import get_language

from smartcis.deliveries.mail import message_of
from smartcis.models import Change, Delivery, Door

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


def test_rest_answers_the_same_in_every_language(client, house, building):
    client.force_login(User.objects.create_superuser("keeper", password="x"))
    client.cookies["django_language"] = "de"

    def answers(headers):
        sensor = json.dumps({"kind": "nothing", "period_s": "often", "unit": "nowhere"})
        post = {"content_type": "application/json", "headers": headers}
        for answer in (
            client.get("/api/v1/rooms/nowhere/", headers=headers),
            client.get("/api/v1/doors/?level=L0", headers=headers),
            client.post("/api/v1/sensors/", sensor, **post),
            client.post("/api/v1/sensors/", "{", **post),
            client.post("/api/v1/queries/", json.dumps({"text": "SELCT"}), **post),
            client.get("/api/v1/nothing/", headers=headers),
            client.delete("/api/v1/doors/", headers=headers),
            client.get("/api/schema/", headers=headers),
        ):
            yield answer.status_code, answer.headers.get("Content-Language"), answer.content

    assert list(answers(GERMAN)) == list(answers({}))


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
    assert Change.objects.get().kind == "door"
    log = client.get("/admin/smartcis/change/", headers=GERMAN).content.decode()
    assert 'class="field-thing">Tür<' in log
