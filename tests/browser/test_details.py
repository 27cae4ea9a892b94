"""Panels of things, overlays and ways out on the map, as a person meets them."""

from __future__ import annotations

import re

import pytest
from browser.test_story import live
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_machine_tells_its_tasks_and_their_power_by_keyboard(visitor, product):
    machine = product.get("machines/?page_size=1")["results"][0]
    mid = machine["mid"]
    page = visitor(f"/?level={machine['level_id']}")
    live(page)
    page.get_by_test_id(f"machine-{mid}").focus()
    page.keyboard.press("Shift+Enter")
    window = page.get_by_test_id("tasks")
    expect(window).to_contain_text(re.compile(r"draws \d"))
    expect(window.locator("tbody tr").first).to_contain_text(" W")
    page.keyboard.press("Escape")
    expect(window).to_be_hidden()
    details = page.get_by_test_id("details")
    expect(details.get_by_test_id("cpu-type")).to_have_text(machine["cpu_type"])
    expect(details.get_by_test_id("top-tasks")).to_contain_text("simulated")
    expect(details.get_by_test_id("hour-summary").first).to_contain_text("%")
    # Each figure leads to the sensor that it comes from.
    details.get_by_text(f"{mid}.seat").click()
    expect(details.get_by_test_id("sensor-state")).to_have_text("reporting")
    expect(page).to_have_url(re.compile("select=sensor"))


def test_overlays_are_one_at_a_time_and_in_the_address(visitor):
    page = visitor("/?overlay=occupancy")
    live(page)
    legend = page.get_by_test_id("occupancy-legend")
    expect(legend).to_contain_text("half and more taken")
    page.get_by_test_id("temperature-panel").locator("summary").click()
    expect(page.get_by_test_id("temperature-legend")).to_contain_text("room")
    expect(legend).to_be_hidden()
    expect(page).to_have_url(re.compile("overlay=temperature"))
    page.go_back()
    expect(legend).to_be_visible()


def test_a_drill_says_who_must_walk_where_and_locks_nothing(visitor, product):
    page = visitor("/?overlay=evacuation")
    live(page)
    summary = page.get_by_test_id("evacuation-summary")
    expect(summary).to_contain_text(re.compile(r"\d+ rooms"))
    weak = page.get_by_test_id("evacuation-weak").locator("li").first
    expect(weak).to_contain_text("without it")
    door = product.get("doors/?state=open&page_size=1")["results"][0]["id"]
    page.get_by_test_id("drill-door").fill(door)
    page.get_by_test_id("drill").press("Enter")
    answer = page.get_by_test_id("drill-answer")
    expect(answer).to_contain_text("Nothing was locked")
    assert product.get(f"doors/{door}/")["state"] == "open"
