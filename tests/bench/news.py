"""News: from the click on *lock* to the sentence on the page of somebody whose way it cuts.

Two people have the map open in browsers of their own: one walks, one is staff and locks a door of
the walk, chosen at random. The click and the sentence are noted in the pages themselves; both
have the machine's clock. Each time the door is opened again before the next.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.bench.browser import chromium, sign_in, until_live
from tests.bench.report import Target, report, spread
from tests.bench.rig import Rig, running

ROUNDS, QUICK_ROUNDS = 60, 6
LIMIT_MS = 15_000
SOFTWARE = "LaTeX"
KEPT_MS = 2_000
"""So long after a change the walk is one that stands: the next news are of the next change."""

# Notes when a sentence is on the page that names the door one waits for.
NOTE_NEWS = """() => {
  window.news = [['', 0]];
  new MutationObserver(() => {
    const text = document.querySelector('[data-testid=route-news]')?.innerText ?? '';
    if (text !== window.news.at(-1)[0]) window.news.push([text, Date.now()]);
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""
NOTE_CLICK = """() => document.querySelector('[data-testid=door-toggle]')
  .addEventListener('click', () => { window.clicked = Date.now(); }, {capture: true})"""
TOLD = """([door, since]) => window.news
  .find(([text, at]) => text.includes(`Door ${door} was locked.`) && at >= since) ?? null"""


def run(*, quick: bool = False, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Measures it against a product of its own."""
    with running() as rig, chromium() as browser:
        walker = browser.new_context().new_page()
        _walk(rig, walker)
        guard = browser.new_context().new_page()
        sign_in(guard, rig.url, rig.staff)
        taken_ms = []
        for number in range(QUICK_ROUNDS if quick else ROUNDS):
            door = _door_on_the_walk(rig, random.Random(number))
            taken_ms.append(_lock(rig, guard, walker, door))
            say(f"door {door}: {taken_ms[-1]:.0f} ms")
            rig.call("PATCH", f"doors/{door}/", {"state": "open"})
            walker.wait_for_timeout(KEPT_MS)
    taken = spread(taken_ms)
    return report(
        "news",
        {"locks": len(taken_ms), "lock_to_news_ms": taken},
        [Target("click on lock to the news, p95", taken["p95"], 1000, "ms")],
    )


def _walk(rig: Rig, page: Page) -> None:
    kiosk = rig.get("building/")["kiosks"][0]["id"]
    page.goto(f"{rig.url}/?kiosk={kiosk}&to=free-machine:{SOFTWARE}")
    page.wait_for_selector("[data-testid=route-card][data-target]", timeout=60_000)
    page.evaluate(NOTE_NEWS)
    page.wait_for_timeout(KEPT_MS)


def _door_on_the_walk(rig: Rig, rng: random.Random) -> str:
    return rng.choice(sorted({str(row[1]) for row in rig.rows("route_door")}))


def _lock(rig: Rig, guard: Page, walker: Page, door: str) -> float:
    """Locks a door by a click; returns how long the news took, ms."""
    guard.goto(f"{rig.url}/?select=door:{door}")
    toggle = guard.get_by_test_id("door-toggle")
    toggle.wait_for(timeout=LIMIT_MS)
    until_live(guard)
    guard.evaluate(NOTE_CLICK)
    toggle.click()
    clicked_ms = guard.evaluate("window.clicked")
    told = walker.wait_for_function(
        TOLD, arg=[door, clicked_ms], polling=20, timeout=LIMIT_MS
    ).json_value()
    return float(told[1] - clicked_ms)
