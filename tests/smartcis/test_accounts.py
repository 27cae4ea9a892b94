"""Accounts: one way in and out on every page, pages that say what is wrong, looks as a visitor."""

from __future__ import annotations

import re

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from smartcis import pages
from smartcis.accounts import SocketSeenAsVisitor

pytestmark = pytest.mark.django_db
STAFF_PAGES = ("/editor/", "/admin/", "/admin/smartcis/machine/", "/admin/smartcis/readpolicy/")
PAGES = ("/", "/queries/", "/api/docs/", "/nothing-here/", *STAFF_PAGES)


@pytest.fixture
def keeper(client, house, building) -> Client:
    client.force_login(User.objects.create_superuser("keeper", password="right"))
    return client


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_who_is_signed_in_and_how_to_sign_out(keeper, page):
    answer = keeper.get(page)
    assert answer.status_code == (404 if "nothing" in page else 200)
    text = answer.content.decode()
    assert re.search(r'account-name">keeper<', text)
    assert re.search(r'account-role">administrator<', text)
    assert 'action="/logout/"' in text


@pytest.mark.parametrize("page", ["/", "/queries/", "/api/docs/", "/nothing-here/"])
def test_every_open_page_leads_to_the_way_in_and_back(client, house, building, page):
    text = client.get(f"{page}?a=b").content.decode()
    assert f'href="/login/?next={page.replace("/", "%2F")}%3Fa%3Db"' in text


def test_signing_in_and_out_goes_by_the_product_s_own_pages(client, house, building):
    User.objects.create_user("ann", password="right")
    page = client.get("/login/?next=/queries/").content.decode()
    assert "Visitors need no account" in page
    wrong = client.post("/login/", {"username": "ann", "password": "wrong"}).content.decode()
    assert 'id="login-problem"' in wrong
    form = {"username": "ann", "password": "right", "next": "/queries/"}
    assert client.post("/login/", form).url == "/queries/"
    assert "You are signed in as ann" in client.get("/logout/").content.decode()
    refused = client.get("/admin/", follow=True).content.decode()
    assert "signed in as ann, and this account may not open that page" in refused
    assert "You are signed out" in client.post("/logout/").content.decode()
    assert "_auth_user_id" not in client.session
    elsewhere = form | {"next": "https://example.org/"}
    assert client.post("/login/", elsewhere).url == "/"


def test_what_went_wrong_is_said_in_a_page_of_the_product(client, house, building):
    missing = client.get("/nothing-here/")
    assert (missing.status_code, b"There is nothing here" in missing.content) == (404, True)
    old = Client(enforce_csrf_checks=True).post("/login/", {"username": "a"})
    assert (old.status_code, b"This page was too old" in old.content) == (403, True)
    forbidden = client.post("/as-visitor/")
    assert (forbidden.status_code, b"Only staff see more" in forbidden.content) == (403, True)
    assert b"/login/" in forbidden.content
    problem = Client(enforce_csrf_checks=True).post("/nothing-here/")
    assert problem.status_code == 404


def test_the_page_for_failures_asks_no_database(rf, django_assert_num_queries):
    with django_assert_num_queries(0):
        page = pages.failed(rf.get("/"))
    assert (page.status_code, b"The server has failed" in page.content) == (500, True)
    assert b"SmartCIS" in page.content


def test_without_a_front_end_the_map_says_what_to_run(client, house, building, settings, tmp_path):
    vite = {"default": {"dev_mode": False, "manifest_path": tmp_path / "manifest.json"}}
    settings.DJANGO_VITE = vite
    page = client.get("/")
    assert (page.status_code, b"npm run build" in page.content) == (503, True)


def test_staff_see_what_a_visitor_sees_until_they_go_back(keeper):
    page = "http://testserver/queries/"
    assert keeper.post("/as-visitor/", headers={"Referer": page}).url == page
    shown = keeper.get("/").content.decode()
    assert 'data-staff="0"' in shown
    assert "You see this as a visitor does." in shown
    assert keeper.get("/api/v1/me/").json()["staff"] is False
    assert keeper.patch("/api/v1/doors/A.d1/", {"state": "locked"}).status_code in (401, 403)
    assert keeper.get("/admin/").status_code == 302
    keeper.post("/as-visitor/", {"end": "1"})
    assert keeper.get("/api/v1/me/").json()["staff"] is True
    assert 'data-staff="1"' in keeper.get("/").content.decode()


def test_whoever_signs_in_anew_sees_pages_as_himself(keeper):
    keeper.post("/as-visitor/")
    keeper.post("/login/", {"username": "keeper", "password": "right"})
    assert keeper.get("/api/v1/me/").json()["staff"] is True


def test_a_kiosk_s_page_acts_for_nobody(keeper):
    assert 'data-staff="0"' in keeper.get("/kiosk/k1/").content.decode()
    from_kiosk = {"Referer": "http://testserver/kiosk/k1/?level=L0"}
    body = {"data": {"state": "locked"}, "content_type": "application/json"}
    assert keeper.patch("/api/v1/doors/A.d1/", **body, headers=from_kiosk).status_code == 401
    assert keeper.get("/api/v1/me/", headers=from_kiosk).json()["username"] == ""
    assert keeper.post("/as-visitor/", {}, headers=from_kiosk).status_code == 403
    assert keeper.get("/api/v1/me/").json()["staff"] is True


@pytest.mark.parametrize(
    ("query", "session", "who"),
    [(b"", {}, "keeper"), (b"", {"as_visitor": True}, ""), (b"kiosk", {}, "")],
)
def test_sockets_follow_as_their_page_does(query, session, who):
    seen = []

    async def app(scope, _receive, _send):
        seen.append(scope["user"].get_username())

    user = User(username="keeper")
    scope = {"path": "/ws/live/", "query_string": query, "session": session, "user": user}
    async_to_sync(SocketSeenAsVisitor(app))(scope, None, None)
    assert seen == [who]
