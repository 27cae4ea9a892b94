"""No page has a barrier that axe finds: light, dark, with high contrast, in forced colours."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from browser.test_story import ask, live, log_in
from browser.themes import violations_in_themes
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

STAFF_PAGES = (
    "/admin/",
    "/admin/smartcis/buildingimport/add/",
    "/admin/smartcis/changerecord/",
    "/admin/smartcis/kiosk/",
    "/admin/smartcis/machine/",
    "/admin/smartcis/readpolicy/",
    "/admin/smartcis/sensor/",
    "/admin/smartcis/sensor/add/",
    "/admin/smartcis/source/add/",
)
"""Lists, forms and pages of our own among the administration's."""


def violations_at(page, product, *paths):
    """Returns what axe finds at the addresses, by address, theme and rule."""
    found = {}
    for path in paths:
        page.goto(product.url + path)
        found |= {(path, *key): nodes for key, nodes in violations_in_themes(page).items()}
    return found


def test_the_map_and_what_opens_on_it(visitor, product):
    machine = product.get("machines/?page_size=1")["results"][0]
    door = product.get("doors/?page_size=1")["results"][0]["id"]
    found = {}
    page = visitor(f"/?level={machine['level_id']}")
    for name, query in (
        ("machine", f"select=machine:{machine['mid']}"),
        ("room", f"select=room:{machine['rid']}"),
        ("door", f"select=door:{door}"),
        ("sensor", f"select=sensor:{machine['mid']}.seat"),
        ("list", "view=list"),
        ("temperature", "overlay=temperature"),
        ("evacuation", "overlay=evacuation"),
    ):
        page.goto(f"{product.url}/?level={machine['level_id']}&{query}")
        live(page)
        if query.startswith("select"):
            expect(page.get_by_test_id("details")).to_be_visible()
        found |= {(name, *key): nodes for key, nodes in violations_in_themes(page).items()}
    page.goto(product.url)
    ask(page, product.get("building/")["kiosks"][0]["id"], "LaTeX")
    found |= {("walk", *key): nodes for key, nodes in violations_in_themes(page).items()}
    assert found == {}


def test_the_workbench_the_kiosk_and_what_visitors_read(visitor, product):
    kiosk = product.get("building/")["kiosks"][0]["id"]
    page = visitor("/queries/")
    live(page)
    page.get_by_test_id("ask-once").click()
    expect(page.get_by_text("Answered once, with")).to_be_visible()
    found = {("workbench", *key): nodes for key, nodes in violations_in_themes(page).items()}
    paths = (f"/kiosk/{kiosk}/", "/login/", "/nothing-here/", "/offline/", "/api/docs/")
    assert found | violations_at(page, product, *paths) == {}


def test_the_editor_and_the_administration(visitor, product):
    page = visitor("/login/")
    log_in(page, product)
    sensor = product.get("sensors/?page_size=1")["results"][0]["sid"]
    page.goto(f"{product.url}/editor/")
    # A mark stands where its door stands: doors may be closer than a finger is wide.
    found = violations_in_themes(page, ".leaflet-marker-icon")
    paths = (*STAFF_PAGES, f"/admin/smartcis/sensor/{quote(sensor)}/change/")
    assert found | violations_at(page, product, *paths) == {}
