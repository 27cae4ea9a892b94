"""The workbench asks once, in order; an alarm stands on the map while its row does."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_question_asked_once_is_answered_in_its_order(visitor):
    page = visitor("/queries/")
    page.get_by_test_id("example").filter(has_text="Ask once").click()
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-verdict", "good")
    page.get_by_test_id("ask-once").click()
    expect(page.get_by_test_id("result-state")).to_have_text("answered once")
    expect(page.get_by_test_id("result-rows")).to_have_text("20")
    rows = page.get_by_test_id("result-row")
    expect(rows).to_have_count(20)
    names = [row.locator("td").nth(2).inner_text() for row in rows.all()]
    assert names == sorted(names)
    expect(page.get_by_test_id("running")).to_have_count(0)


def test_an_alarm_stands_on_the_map_while_its_row_does(visitor, product):
    door = product.get("doors/?page_size=1")["results"][0]["id"]
    sql = f"SELECT d.door_id FROM door d WHERE d.state = 'locked' AND d.door_id = '{door}'"
    made = product.call("POST", "queries/", {"sql": f"{sql} OUTPUT TO ALARM burglar"})
    page = visitor("/")
    try:
        expect(page.get_by_test_id("alarm")).to_have_count(0)
        product.call("PATCH", f"doors/{door}/", {"state": "locked"})
        expect(page.get_by_test_id("alarm")).to_contain_text(f"door_id {door}")
        product.call("PATCH", f"doors/{door}/", {"state": "open"})
        expect(page.get_by_test_id("alarm")).to_have_count(0)
    finally:
        product.call("PATCH", f"doors/{door}/", {"state": "open"})
        product.call("DELETE", f"queries/{made['id']}/")
