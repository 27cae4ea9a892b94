"""Supposing and asking why not, on the map: the engine's answers in a visitor's words."""

from __future__ import annotations

import re

import pytest
from browser.test_story import ask
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_visitor_supposes_that_a_door_on_the_way_closes(visitor, product):
    page = visitor()
    ask(page, product.get("building/")["kiosks"][0]["id"], "LaTeX")
    card = page.get_by_test_id("route-card")
    distance = card.get_by_test_id("route-distance")
    expect(distance).to_be_visible()
    before = distance.inner_text()
    card.get_by_test_id("why").click()
    button = card.get_by_test_id("what-if").first
    button.focus()
    page.keyboard.press("Enter")
    said = card.get_by_test_id("what-if-answer").first
    expect(said).to_contain_text(re.compile(r"to walk|stay as it is|could be"))
    # It was only supposed.
    assert distance.inner_text() == before


def test_a_machine_says_why_it_is_not_free(visitor, product):
    machine = product.get("machines/?page_size=1")["results"][0]
    seats = list(product.items("sensors/?kind=seat&page_size=500"))
    seat = next(one for one in seats if one["mid"] == machine["mid"])["sid"]
    page = visitor(f"/?select=machine:{machine['mid']}&level={machine['level_id']}")
    weigh = {"waveform": "constant", "parameters": {"value": 70.0}}
    product.call("PATCH", f"sensors/{seat}/", weigh)
    try:
        expect(page.get_by_test_id("details-state")).to_contain_text("sitting")
        page.get_by_test_id("why-not").click()
        ways = page.get_by_test_id("why-not-ways")
        expect(ways).to_contain_text("less than 5 kg")
    finally:
        product.call("PATCH", f"sensors/{seat}/", {**weigh, "parameters": {"value": 0.0}})
