"""Accounts in the browser: in, out, staff who look as visitors."""

from __future__ import annotations

import pytest
from browser.test_story import live
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_somebody_signs_in_looks_as_a_visitor_comes_back_and_signs_out(visitor, product):
    page = visitor("/queries/")
    page.locator("#sign-in").click()
    page.fill("[name=username]", product.staff[0])
    page.fill("[name=password]", product.staff[1])
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{product.url}/queries/")
    page.get_by_role("link", name="Map", exact=True).click()
    live(page)
    button = page.locator(".account-button")
    expect(button).to_contain_text("administrator")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="View as a visitor").click()
    expect(page.get_by_text("You see this as a visitor does.")).to_be_visible()
    door = next(iter(product.items("doors/")))
    page.goto(f"{product.url}/?select=door:{door['id']}")
    expect(page.get_by_test_id("details")).to_be_visible()
    expect(page.get_by_test_id("door-toggle")).to_have_count(0)
    page.get_by_role("button", name="Back to your account").click()
    expect(page.get_by_test_id("door-toggle")).to_be_visible()
    button.click()
    page.locator("#sign-out").click()
    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
    expect(page.locator("#sign-in")).to_be_visible()
