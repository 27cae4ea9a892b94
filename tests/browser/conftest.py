"""One running product for all browser tests, and a page that fails on script errors."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.bench.browser import chromium
from tests.bench.rig import running


@contextmanager
def still(*options):
    """Run a product in which nobody comes or goes by chance and no room falls dark.

    A story meets only the changes it makes itself.
    """
    with running(*options, settings={"SMARTCIS_ANSWER_S": "60"}) as rig:
        for kind, value in (("seat", 0.0), ("cpu", 4.0), ("light", 420.0)):
            constant = {"waveform": "constant", "parameters": {"value": value}}
            for sensor in list(rig.items(f"sensors/?kind={kind}&page_size=500")):
                rig.call("PATCH", f"sensors/{sensor['sid']}/", constant)
        yield rig


@pytest.fixture(scope="session")
def product():
    with still() as rig:
        yield rig


@pytest.fixture
def furnished(request):
    """A product that shows the building of a file."""
    with still("--building", request.param) as rig:
        yield rig


PATIENCE_MS = 90_000
"""What a busy machine may take for what comes soon when all is well."""


@pytest.fixture(scope="session")
def browser():
    expect.set_options(timeout=PATIENCE_MS)
    with chromium() as started:
        yield started


def _violations(said):
    """What the page itself breaks of its policy.

    Where one types over a selection, Chromium would keep its style, and blames nobody's line for
    it; axe tries styles on, at no address; both do without.
    """
    nobody = said.location["url"] == "" or said.location["lineNumber"] == 0
    ours = "Applying inline style" not in said.text or not nobody
    return [said.text] if "Content Security Policy" in said.text and ours else []


@pytest.fixture
def window(browser):
    """Open a browser window of its own at an address: another visitor, with another session."""
    opened = []

    def open_window(address, **options):
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        context.set_default_timeout(PATIENCE_MS)
        opened.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda said: page.errors.extend(_violations(said)))
        page.goto(address)
        return page

    yield open_window
    for context in opened:
        for page in context.pages:
            assert page.errors == []
        context.close()


@pytest.fixture
def visitor(window, product):
    """Open a window at a page of the university's product."""

    def open_window(path="/", **options):
        return window(product.url + path, **options)

    return open_window
