"""The workbench for many: two ways to run, what is said of a query, files, links, the map."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
BENCH = (".bench-main", ".bench-aside")
# Nobody else asks just this, so its view ends with the one query.
LOCKED = (
    "SELECT door_id, level_id, x_m, y_m FROM door WHERE state = 'locked' AND door_id <> 'nowhere'"
)


def write(page, sql):
    """Put a text into the editor, and wait for the server's word on it."""

    def checked(answer):
        sent = answer.request
        return sent.url.endswith("/queries/check/") and sent.post_data_json == {"sql": sql}

    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    with page.expect_response(checked):
        page.keyboard.insert_text(sql)
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_have_attribute("data-verdict", re.compile("good|bad"))


def violations(page, *parts):
    """Returns what axe finds in these parts of the page as they stand."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        "parts => axe.run({include: parts}, {runOnly: ['wcag2a', 'wcag2aa', 'wcag22aa']})",
        list(parts),
    )
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]]


def saved(page, kind):
    """Returns the text of a result saved as a file."""
    with page.expect_download() as coming:
        page.get_by_test_id(f"save-{kind}").click()
    return Path(coming.value.path()).read_text(encoding="utf-8")


def test_a_text_is_asked_once_or_kept_running_and_never_the_one_for_the_other(visitor):
    page = visitor("/queries/", color_scheme="dark")
    write(page, "ONCE SELECT host FROM machine")
    live, once = page.get_by_test_id("run-live"), page.get_by_test_id("ask-once")
    expect(live).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_test_id("live-help")).to_contain_text("ONCE")
    live.click(force=True)
    expect(page.get_by_test_id("result")).to_have_count(0)

    write(page, "SELECT m.hots FROM machine m")
    once.click()
    expect(page.get_by_test_id("query-error-position")).to_contain_text("Line 1, column 8")

    write(page, "SELECT host FROM machine")
    once.click()
    expect(page.get_by_test_id("result-state")).to_have_text("answered once")
    rows = page.get_by_test_id("result-rows").inner_text()
    expect(page.locator(".cm-content")).to_have_text("SELECT host FROM machine")
    expect(page.get_by_test_id("quota")).to_have_text("0 of 5")
    assert violations(page, *BENCH) == []
    page.get_by_test_id("keep-running").click()
    expect(page.get_by_test_id("result-state")).to_have_text("running")
    expect(page.get_by_test_id("result-rows")).to_have_text(rows)
    expect(page.get_by_test_id("quota")).to_have_text("1 of 5")
    expect(page.get_by_test_id("no-place")).to_be_visible()
    page.get_by_test_id("stop").click()
    expect(page.get_by_test_id("quota")).to_have_text("0 of 5")


def test_a_query_is_measured_named_saved_shared_and_drawn_on_the_map(visitor, product):
    one, other = [door["id"] for door in product.get("doors/?page_size=2")["results"]]
    page = visitor("/queries/")
    write(page, LOCKED)
    page.get_by_test_id("run-live").click()
    expect(page.get_by_test_id("result-rows")).to_have_text("0")
    expect(page.get_by_test_id("sharing")).to_have_attribute("data-mode", "tenant")
    expect(page.get_by_test_id("sharing")).to_contain_text("locked")
    expect(page.get_by_test_id("owner")).to_have_text("yours")
    page.get_by_test_id("measure").click()
    expect(page.get_by_test_id("held")).to_contain_text("operator")
    try:
        product.call("PATCH", f"doors/{one}/", {"state": "locked"})
        expect(page.get_by_test_id("result-rows")).to_have_text("1")
        expect(page.get_by_test_id("result-rate")).to_have_text(re.compile(r"^\d"))
        expect(page.get_by_test_id("result-coalesced")).to_have_text(re.compile(r"^\d+$"))
        page.get_by_text("Name, share, script").click()
        page.get_by_test_id("query-name").fill("Locked doors")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#query-heading")).to_have_text("Locked doors")
        assert violations(page, *BENCH) == []
        head, *rows = csv.reader(saved(page, "csv").splitlines())
        assert (head, [row[0] for row in rows]) == (
            ["door_id", "level_id", "x_m [m]", "y_m [m]"],
            [one],
        )
        (feature,) = json.loads(saved(page, "geojson"))["features"]
        assert feature["properties"]["door_id"] == one

        # Who has the link reads along, and can neither stop nor rename it.
        reader = visitor(page.url.removeprefix(product.url))
        expect(reader.get_by_test_id("result-rows")).to_have_text("1")
        expect(reader.get_by_test_id("query-card")).to_have_attribute("data-mine", "false")
        expect(reader.get_by_test_id("stop")).to_have_count(0)
        expect(reader.get_by_test_id("query-name")).to_have_count(0)
        reader.get_by_test_id("show-on-map").click()
        expect(reader.get_by_test_id("layer-rows")).to_contain_text("One row")
        expect(reader.get_by_test_id("layer-mark")).to_have_attribute("aria-label", one)
        product.call("PATCH", f"doors/{other}/", {"state": "locked"})
        expect(reader.get_by_test_id("layer-rows")).to_contain_text("2 rows")
        assert violations(reader, ".layer-panel", ".layer") == []
        reader.get_by_test_id("layer-off").click()
        expect(reader.get_by_test_id("layer")).to_have_count(0)
        assert "layer=" not in reader.url
        reader.go_back()
        expect(reader.get_by_test_id("layer-rows")).to_contain_text("2 rows")

        page.get_by_test_id("stop").click()
        expect(reader.get_by_test_id("layer-closed")).to_be_visible()
    finally:
        for door in (one, other):
            product.call("PATCH", f"doors/{door}/", {"state": "open"})
