"""Hide me: one press on one's own page, and one is gone from every open map."""

from __future__ import annotations

import re
import sqlite3

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def code_of_somebody(product) -> str:
    """Read a card, as the administrator prints it."""
    database = sqlite3.connect(f"file:{product.var / 'smartcis.sqlite3'}?mode=ro", uri=True)
    ((code,),) = database.execute(
        "SELECT code FROM smartcis_visitor WHERE consent = 'exact' ORDER BY tag LIMIT 1"
    )
    database.close()
    return code


def name_on(page) -> str:
    told = page.get_by_test_id("consent-told")
    expect(told).to_contain_text("Your name for today")
    return told.locator("strong").inner_text()


def test_hide_me_clears_every_open_map(visitor, product):
    code = code_of_somebody(product)
    mine, other, still = visitor(f"/#visitor={code}"), visitor("/"), visitor("/")
    expect(mine.get_by_test_id("consent-exact")).to_have_attribute("aria-pressed", "true")
    assert code not in mine.url
    expect(mine.get_by_test_id("retention")).to_contain_text("60 s after it was received")
    name = re.compile(rf"\b{name_on(mine)}\b")
    for page in (other, still):
        expect(page.locator("canvas.movers")).to_have_attribute("data-names", name)
    still.get_by_test_id("pause").click()
    mine.get_by_test_id("consent-hidden").click()
    for page in (other, still):
        expect(page.locator("canvas.movers")).not_to_have_attribute("data-names", name)
    mine.get_by_test_id("consent-room").click()
    again = name_on(mine)
    assert not name.search(again)
    expect(other.locator("canvas.movers")).to_have_attribute(
        "data-names", re.compile(rf"\b{again}\b")
    )
    mine.get_by_test_id("consent-exact").click()
    expect(mine.get_by_test_id("consent-exact")).to_have_attribute("aria-pressed", "true")
