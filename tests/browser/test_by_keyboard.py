"""The main job by keys alone: on the map, and by the list for those who see no map."""

from __future__ import annotations

import re

import pytest
from browser.test_story import live
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

TABS = 60
NOTE_POINTER = """for (const kind of ['pointerdown', 'mousedown', 'touchstart'])
  addEventListener(kind, () => { window.pointed = true; }, {capture: true});"""


@pytest.fixture
def keyed(visitor):
    """Open a page that notes whether anybody pointed at it; nobody has in the end."""
    opened = []

    def open_page(path):
        page = visitor(path)
        page.evaluate(NOTE_POINTER)
        live(page)
        opened.append(page)
        return page

    yield open_page
    for page in opened:
        assert not page.evaluate("window.pointed ?? false")


def tab_to(page, wanted):
    """Press Tab until the focus is on what is wanted, as someone does who cannot point."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if wanted.evaluate("(it) => it === document.activeElement"):
            return
    raise AssertionError(f"{TABS} times Tab do not lead to {wanted}")


def stand_at(page, kiosk):
    """Choose where one stands by typing the beginning of its name."""
    choice = page.get_by_test_id("ask-kiosk")
    tab_to(page, choice)
    page.keyboard.type(kiosk["name"][:10])
    expect(choice).to_have_value(kiosk["id"])


def test_a_free_machine_is_found_and_the_way_is_changed_without_a_pointer(keyed, product):
    kiosk = product.get("building/")["kiosks"][0]
    page = keyed("/")
    page.keyboard.press("/")
    page.keyboard.type("latx")
    expect(page.get_by_test_id("find-list")).to_contain_text("LaTeX")
    page.keyboard.press("Enter")
    stand_at(page, kiosk)
    card = page.get_by_test_id("route-card")
    expect(card).to_have_attribute("data-target", re.compile("."))
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("step-free")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_test_id("step-free")).to_have_attribute("aria-checked", "true")
    expect(card).to_be_visible()
    expect(card).not_to_contain_text("stairs")
    tab_to(page, card.get_by_role("button").first)
    page.keyboard.press("Enter")
    details = page.get_by_test_id("details")
    expect(details).to_be_visible()
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("level="))


def test_a_free_machine_is_found_by_the_list_alone(keyed, product):
    machine = next(
        one
        for one in product.items("machines/?page_size=200")
        if one["mid"] in free_machines(product)
    )
    page = keyed("/")
    skip = page.get_by_test_id("skip-to-list")
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("list-view")).to_be_visible()
    expect(page.get_by_test_id("floor-switcher")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type(machine["host"])
    row = page.get_by_test_id(f"list-machine-{machine['mid']}")
    expect(row).to_contain_text("free")
    tab_to(page, row.get_by_role("button").first)
    page.keyboard.press("Enter")
    details = page.get_by_test_id("details")
    expect(details).to_contain_text(machine["host"])
    tab_to(page, details.get_by_test_id("take-me-there"))
    page.keyboard.press("Enter")
    stand_at(page, product.get("building/")["kiosks"][0])
    steps = page.get_by_test_id("route-step")
    expect(steps.last).to_have_attribute("data-kind", "arrive")
    expect(page.get_by_test_id("list-view")).to_be_visible()


def free_machines(product):
    return {row[0] for row in product.get("queries/free_machine/rows/?limit=500")["rows"]}
