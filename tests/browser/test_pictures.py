"""Pictures of the main pages, for README and docs: taken anew by `--pictures docs/pictures`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser.test_story import ask, live, log_in
from browser.themes import PLAIN, THEMES
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
SHOWN = ROOT / "docs" / "pictures"
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
SETTLED_MS = 2_500
"""Movement and gliding colours have come to rest."""


@pytest.fixture
def picture(request, tmp_path):
    """Take a picture of a page under a name; there is one of that name and size in `docs`."""
    folder = request.config.getoption("--pictures")

    def take(page, name):
        page.wait_for_timeout(SETTLED_MS)
        taken = page.screenshot(path=(Path(folder) if folder else tmp_path) / f"{name}.png")
        shown = (SHOWN / f"{name}.png").read_bytes()
        assert shown[16:24] == taken[16:24], "width and height, of the PNG's header"
        told = "".join((ROOT / one).read_text("utf-8") for one in ("README.md", "docs/tour.md"))
        assert f"pictures/{name}.png" in told

    return take


def test_the_map_in_the_light_in_the_dark_and_on_a_phone(visitor, product, picture):
    kiosk = product.get("building/")["kiosks"][0]["id"]
    page = visitor()
    ask(page, kiosk, "LaTeX")
    expect(page.get_by_test_id("path").first).to_be_attached()
    picture(page, "map")
    page.emulate_media(**PLAIN | THEMES["dark"])
    picture(page, "map-dark")
    page.emulate_media(**PLAIN)
    page.set_viewport_size(PHONE)
    picture(page, "phone")
    page.set_viewport_size(WIDE)
    page.goto(f"{product.url}/?overlay=evacuation")
    live(page)
    told = page.get_by_test_id("evacuation-summary")
    expect(told).to_contain_text(re.compile(r"\d+ rooms"), timeout=60_000)
    told.scroll_into_view_if_needed()
    picture(page, "evacuation")


def test_the_list_the_kiosk_and_the_workbench(visitor, product, picture):
    kiosk = product.get("building/")["kiosks"][0]["id"]
    page = visitor("/?view=list")
    live(page)
    picture(page, "list")
    page.goto(f"{product.url}/kiosk/{kiosk}/")
    expect(page.get_by_test_id("kiosk-name")).not_to_contain_text("Loading")
    picture(page, "kiosk")
    page.goto(f"{product.url}/queries/")
    live(page)
    page.get_by_role("button", name="Free machines in each room").click()
    page.get_by_test_id("run-live").click()
    expect(page.get_by_test_id("result-state")).to_have_text("running")
    picture(page, "workbench")


def test_the_editor_and_the_administration(visitor, product, picture):
    page = visitor("/login/")
    log_in(page, product)
    page.goto(f"{product.url}/editor/")
    expect(page.locator(".leaflet-marker-icon").first).to_be_visible()
    picture(page, "editor")
    page.goto(f"{product.url}/admin/")
    picture(page, "administration")
