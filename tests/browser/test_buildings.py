"""The main job in buildings of three formats, by somebody who has never seen them."""

from __future__ import annotations

import re

import pytest
from browser.test_story import (
    ask,
    door_on_the_way,
    expect_another_target,
    live,
    log_in,
    target,
)
from browser.test_workbench import write
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
# From the folder of the repository, where the product runs.
BUILDINGS = (
    pytest.param("tests/importers/buildings/clinic.ifc", id="IFC"),
    pytest.param("tests/importers/buildings/station", id="IMDF", marks=pytest.mark.nightly),
    pytest.param("tests/importers/buildings/school.osm", id="OSM", marks=pytest.mark.nightly),
)
WARM = "SELECT r.rid, r.name, c.celsius FROM room_climate c JOIN room r ON r.rid = c.rid"


@pytest.mark.parametrize("furnished", BUILDINGS, indirect=True)
def test_shape_a_stranger_is_guided_through_any_building(window, furnished):
    journey(window(furnished.url), furnished)


def journey(page, product):
    """Walk the whole way from the plan to a query of one's own drawn on it."""
    building = product.get("building/")
    log_in(page, product)
    live(page)

    # The plan is this building's, with all its floors, and says who drew it and what is made up.
    expect(page).to_have_title(re.compile(re.escape(building["name"])))
    shown = page.get_by_test_id("floor-switcher").locator("[data-level]")
    levels = [level["id"] for level in reversed(building["levels"])]
    expect(shown).to_have_count(len(levels))
    assert [one.get_attribute("data-level") for one in shown.all()] == levels
    machines = list(product.items("machines/?page_size=500"))
    expect(page.get_by_test_id("simulated")).to_contain_text(f" {len(machines)} machines")
    drawn = page.get_by_test_id("attribution")
    expect(drawn).to_have_text(
        f"Plan: {building['attribution']}" if building["attribution"] else re.compile("not say who")
    )

    # From a kiosk to a free machine.
    ask(page, building["kiosks"][0]["id"], "LaTeX")
    expect(page.get_by_test_id("path").first).to_be_attached()
    expect(page.get_by_test_id("route-step").last).to_have_attribute("data-kind", "arrive")

    # Its seat is a sensor: whoever sits down is seen, and the way leads to another machine.
    taken = target(page)
    page.get_by_test_id("route-card").get_by_role("button").first.click()
    details = page.get_by_test_id("details")
    expect(details).to_contain_text(re.compile(r"\d+\.\d kg, just now"))
    page.get_by_test_id("sit-down").click()
    expect(details).to_contain_text(re.compile(r"[67]\d\.\d kg"))
    expect_another_target(page, taken)

    # A door on the way is locked: the way changes, and comes back with the door.
    card, walk = page.get_by_test_id("route-card"), page.get_by_test_id("route-steps")
    second, way = target(page), walk.inner_text()
    door, level = door_on_the_way(product, second)
    page.goto(re.sub(r"level=[^&]*", f"level={level}", page.url))
    live(page)
    shape = page.get_by_test_id(f"door-{door}")
    for state in ("locked", "open"):
        shape.focus()
        page.keyboard.press("Enter")
        page.get_by_test_id("door-toggle").click()
        expect(shape).to_have_attribute("data-state", state)
        if state == "locked":
            expect(walk).not_to_have_text(way, use_inner_text=True)
            expect(page.get_by_test_id("route-step").last).to_have_attribute("data-kind", "arrive")
        page.get_by_test_id("details-close").click()
    expect(card).to_have_attribute("data-target", second)
    expect(walk).to_have_text(way, use_inner_text=True)

    # A query of one's own, drawn where its rows are.
    page.goto(f"{product.url}/queries/")
    write(page, WARM)
    page.get_by_test_id("run-live").click()
    expect(page.get_by_test_id("result-row").first).to_be_visible()
    page.get_by_test_id("show-on-map").click()
    expect(page.get_by_test_id("layer-rows")).to_contain_text(
        re.compile(r"^\s*[1-9]\d* rows?; they")
    )
    expect(page.locator("[data-testid^=layer-room-]").first).to_be_visible()
