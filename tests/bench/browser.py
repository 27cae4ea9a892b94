"""Headless Chromium, started the same way for benches, tests and screenshots."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = (
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium and close it at the end."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def until_live(page: Page, limit_s: int = 60) -> None:
    """Wait until a page says that what it shows is live."""
    page.wait_for_selector("[data-testid=status-chip][data-state=live]", timeout=1000 * limit_s)


def sign_in(page: Page, url: str, staff: tuple[str, str]) -> None:
    """Sign in and come to the map.

    Args:
        staff: name and password.
    """
    page.goto(f"{url}/login/?next=/")
    for field, value in zip(("username", "password"), staff, strict=True):
        page.fill(f"[name={field}]", value)
    page.press("[name=password]", "Enter")
    page.wait_for_url(re.compile(r"^[^/]*//[^/]*/(\?.*)?$"))
