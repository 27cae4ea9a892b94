"""Staff draws in the plan: what was drawn is looked at, accepted, seen on the map, and undone."""

from __future__ import annotations

import re

import pytest
import shapely
from browser.test_story import log_in
from browser.test_workbench import violations
from PIL import Image
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
SNAP_MS = 250  # two clicks nearer in time are one double click
WIDE_PX = 240
CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))


def test_shape_a_room_is_drawn_renamed_accepted_and_undone(visitor, product, tmp_path):
    page = visitor("/editor/")
    expect(page).to_have_url(re.compile("/admin/login/"))  # it is for staff
    log_in(page, product)
    page.goto(f"{product.url}/editor/")
    said = page.get_by_test_id("editor-said")
    spaces = page.locator(".drawn-space")
    expect(spaces.first).to_be_visible()
    page.get_by_test_id("editor-floor-0").click()
    assert violations(page, [".bar", ".editor-side", ".editor-foot"]) == []

    # A room gets another name.
    room = widest(product)
    feature = page.locator(f".drawn-space[data-feature='{room['id']}']")
    feature.dispatch_event("click", middle(feature))
    page.get_by_test_id("editor-name").fill("Reading room")
    page.get_by_test_id("editor-name").press("Enter")
    expect(said).to_contain_text("Renamed")

    # Nearer, another is drawn into it, taken back and drawn again; it has a door where one is put.
    before = spaces.count()
    page.get_by_test_id("tool-room").click()
    page.get_by_test_id("draw-category").select_option("storage")
    while size(feature) < WIDE_PX:
        at = middle(feature)
        page.mouse.move(at["clientX"], at["clientY"])
        page.mouse.wheel(0, -240)
        page.wait_for_timeout(SNAP_MS)
    at, half = middle(feature), size(feature) / 6
    for dx, dy in CORNERS:
        page.mouse.click(at["clientX"] + dx * half, at["clientY"] + dy * half)
        page.wait_for_timeout(SNAP_MS)
    expect(said).to_contain_text("Drawn: ")
    expect(spaces).to_have_count(before + 1)
    page.keyboard.press("Control+z")
    expect(spaces).to_have_count(before)
    page.get_by_test_id("redo").click()
    expect(spaces).to_have_count(before + 1)
    page.get_by_test_id("tool-door").click()
    page.mouse.click(at["clientX"], at["clientY"] - half)
    expect(said).to_contain_text("Drawn: Door")

    # A picture lies under it where its two points are.
    picture = tmp_path / "floor.png"
    Image.new("RGB", (400, 300), "white").save(picture)
    page.get_by_test_id("picture-file").set_input_files(picture)
    page.get_by_test_id("picture-begin").click()
    lon0, lat0 = room["origin"]
    for number, (lat, lon) in enumerate(((0.0, 0.0), (0.0005, 0.001))):
        box = page.locator(".picture image").bounding_box()
        page.mouse.click(box["x"] + 40 + 200 * number, box["y"] + 40 + 100 * number)
        page.get_by_test_id("picture-place").fill(f"{lat0 + lat}, {lon0 + lon}")
        page.get_by_test_id("picture-pin").click()
    expect(page.get_by_test_id("picture-card")).to_contain_text("It lies by its two points")

    # A reload loses nothing.
    page.reload()
    expect(spaces).to_have_count(before + 1)

    # What would change is told; accepted, it is what everybody sees; undone, it is as it was.
    page.get_by_test_id("editor-save").click()
    accept = page.locator("[name=accept]")
    expect(accept).to_be_visible()
    expect(page.locator("#found")).to_contain_text("Reading room")
    assert name(product, room) == room["name"]
    accept.click()
    expect(page.locator("#state")).to_contain_text(": accepted")
    assert name(product, room) == "Reading room"
    undo = page.locator("[name=undo]")
    expect(undo).to_be_visible()
    undo.click()
    expect(page.locator("#state")).to_contain_text(": undone")
    assert name(product, room) == room["name"]


def widest(product):
    """Returns the largest room of the ground floor whose middle is in it."""
    plan = product.get("building/export/?format=geojson")
    found = []
    for one in plan["features"]:
        said = one["properties"]
        own = said["smartcis"]
        if own["is"] == "unit" and not own["derived"] and said["level"] == 0:
            shape = shapely.geometry.shape(one["geometry"])
            if shape.area > 0.95 * shape.convex_hull.area:
                found.append((shape.area, one["id"], own["rid"], said["name"] or ""))
    _, key, rid, called = max(found)
    return {"id": key, "rid": rid, "name": called, "origin": plan["origin"]}


def name(product, room):
    return product.get(f"rooms/{room['rid']}/")["name"]


def middle(feature):
    box = feature.bounding_box()
    return {
        "clientX": box["x"] + box["width"] / 2,
        "clientY": box["y"] + box["height"] / 2,
        "bubbles": True,
    }


def size(feature):
    box = feature.bounding_box()
    return min(box["width"], box["height"])
