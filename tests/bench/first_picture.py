"""First picture: when the plan is there for somebody who opens the map, and what came before it.

A fresh browser each time, so that nothing is kept; times are the browser's own, from the beginning
of the navigation to the first paint, which has the server's plan in it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser

from tests.bench.browser import chromium
from tests.bench.report import Target, report
from tests.bench.rig import running

ROUNDS, QUICK_ROUNDS = 9, 3
SLOWED = 4
WAIT_MS, WAITS = 200, 100
PAINTED_MS = """() => {
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return paint ? paint.startTime : -1;
}"""
RECEIVED = """(before) => performance.getEntries()
  .filter((one) => ['navigation', 'resource'].includes(one.entryType) && one.responseEnd <= before)
  .reduce((sum, one) => sum + one.transferSize, 0)"""


def first_picture(browser: Browser, url: str, slowed: int = 1) -> tuple[float, float]:
    """Returns when a fresh browser drew the plan, ms, and what it had received by then, kB."""
    context = browser.new_context(viewport={"width": 412, "height": 915}, service_workers="block")
    try:
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        page.goto(url, wait_until="commit")
        for _ in range(WAITS):
            if (painted_ms := page.evaluate(PAINTED_MS)) > 0:
                break
            page.wait_for_timeout(WAIT_MS)
        assert painted_ms > 0, "nothing was drawn"
        return painted_ms, page.evaluate(RECEIVED, painted_ms) / 1000
    finally:
        context.close()


def run(*, quick: bool = False, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Measures it against a product of its own."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with running() as rig, chromium() as browser:
        answer = browser.new_page().goto(rig.url)
        assert answer is not None
        assert 'id="first-picture"' in answer.text()
        seen = {}
        for slowed in (1, SLOWED):
            seen[slowed] = [first_picture(browser, rig.url, slowed) for _ in range(rounds)]
            say(f"slowed down {slowed} times: {[round(ms) for ms, _ in seen[slowed]]} ms")
    middle = {slowed: statistics.median(ms for ms, _ in each) for slowed, each in seen.items()}
    received = max(kb for each in seen.values() for _, kb in each)
    return report(
        "first_picture",
        {
            "median_ms": round(middle[1]),
            "median_slowed_ms": round(middle[SLOWED]),
            "received_kb": round(received, 1),
        },
        [
            Target("first picture", middle[1], 1000, "ms"),
            Target(f"first picture, processor {SLOWED} times slower", middle[SLOWED], 2000, "ms"),
            Target("received before it", received, 150, "kB"),
        ],
    )
