"""Other people's pages call the API where `SMARTCIS_CORS` lets them: with a token, no cookies."""

from __future__ import annotations

import pytest
from api.test_api import Caller, staff, visitor  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db]
FRIEND = "https://plans.example.org"
ASKS = {
    "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "PATCH",
    "HTTP_ACCESS_CONTROL_REQUEST_HEADERS": "authorization,content-type",
}


def allowed(answer) -> dict[str, str]:
    found = {name.lower(): said for name, said in answer.headers.items()}
    return {name: said for name, said in found.items() if name.startswith("access-control-")}


def test_by_default_no_other_page_may_read_an_answer(visitor):  # noqa: F811
    assert allowed(visitor("GET", "building/", HTTP_ORIGIN=FRIEND)) == {}
    assert allowed(visitor("OPTIONS", "doors/A.d1/", HTTP_ORIGIN=FRIEND, **ASKS)) == {}


def test_a_page_that_may_asks_first_and_then_calls_with_its_token(staff, settings):  # noqa: F811
    settings.CORS_ALLOWED_ORIGINS = [FRIEND]
    first = Caller()("OPTIONS", "doors/A.d1/", HTTP_ORIGIN=FRIEND, **ASKS)
    assert first.status_code == 200
    said = allowed(first)
    assert said["access-control-allow-origin"] == FRIEND
    assert "PATCH" in said["access-control-allow-methods"]
    names = said["access-control-allow-headers"]
    assert all(one in names for one in ("authorization", "content-type", "idempotency-key"))
    answer = staff("PATCH", "doors/A.d1/", {"state": "locked"}, HTTP_ORIGIN=FRIEND)
    assert (answer.status_code, allowed(answer)["access-control-allow-origin"]) == (200, FRIEND)
    refusal = Caller()("PATCH", "doors/A.d1/", {}, HTTP_ORIGIN=FRIEND)
    assert (refusal.status_code, "Access-Control-Allow-Origin" in refusal.headers) == (401, True)
    for one in (first, answer, refusal):
        assert "Access-Control-Allow-Credentials" not in one.headers
        assert "origin" in one.headers["Vary"].lower()


def test_others_and_pages_stay_closed(visitor, settings):  # noqa: F811
    settings.CORS_ALLOWED_ORIGINS = [FRIEND]
    assert allowed(visitor("GET", "building/", HTTP_ORIGIN="https://other.example.org")) == {}
    assert allowed(visitor.client.get("/", HTTP_ORIGIN=FRIEND)) == {}
    assert allowed(visitor.client.get("/admin/login/", HTTP_ORIGIN=FRIEND)) == {}
