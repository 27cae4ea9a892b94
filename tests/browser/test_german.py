"""A visitor whose browser prefers German walks and asks queries, and reads German all the way."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_story import KEPT_MS, ask, expect_another_target, target

pytestmark = pytest.mark.browser


def test_a_browser_that_prefers_german_is_led_in_german(visitor, product):
    page = visitor(locale="de-DE")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    ask(page, product.get("building/")["kiosks"][0]["id"], "LaTeX")
    card = page.get_by_test_id("route-card")
    expect(card).to_contain_text("Am nächsten: freier Rechner mit LaTeX")
    expect(card).to_contain_text("Diese Antwort bleibt aktuell")
    steps = page.get_by_test_id("route-step")
    expect(steps.first).to_contain_text("Start: ")
    expect(steps.last).to_contain_text("Ziel: ")
    page.wait_for_timeout(KEPT_MS)
    taken = target(page)
    sensors = product.items(f"sensors/?mid={taken}&kind=seat")
    seat = next(iter(sensors))["sid"]
    value = {"waveform": "constant", "parameters": {"value": 70.0}}
    product.call("PATCH", f"sensors/{seat}/", value)
    expect_another_target(page, taken)
    expect(page.get_by_test_id("route-news")).to_contain_text(
        re.compile(r"ist nicht mehr frei \(belegt: jemand sitzt dort\)\. Jetzt ")
    )
    product.call("PATCH", f"sensors/{seat}/", value | {"parameters": {"value": 0.0}})


def test_the_workbench_tells_what_is_wrong_in_german(visitor):
    page = visitor("/queries/", locale="de-DE")
    error = page.get_by_test_id("query-error")
    for text, said, help_ in (
        ("SELCT 1", "ab hier ergibt die Abfrage keinen Sinn mehr", "meinten Sie SELECT?"),
        ("SELECT m.hosst FROM machine m", "es gibt keine Spalte 'm.hosst'", "meinten Sie m.host?"),
    ):
        page.locator(".cm-content").fill(text)
        expect(error).to_contain_text(said)
        expect(error).to_contain_text(help_)
    page.locator(".cm-content").fill("SELECT r.rid, m.mid FROM room r, machine m")
    expect(page.get_by_text("nichts verbindet room mit machine")).to_be_visible()
