"""Whatever happens while somebody looks, no sentence of the page contradicts another."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from browser.test_story import KEPT_MS, ask, live
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser]
WATCH = Path(__file__).with_name("watch_truth.js").read_text(encoding="utf-8")
SITTING, STANDING = ({"waveform": "constant", "parameters": {"value": kg}} for kg in (70.0, 0.0))
GOALS = (
    "free-machine:LaTeX",
    "free-machine:Word",
    "exit",
    "toilet",
    "step-free-toilet",
    "quiet-room",
)


class Script:
    """A person at the page, and a building that does not stand still, both by chance."""

    def __init__(self, page, product, seed: int) -> None:
        self.page, self.product, self.random = page, product, random.Random(seed)
        self.doors = [door["id"] for door in product.items("doors/?page_size=500")]
        self.kiosks = [kiosk["id"] for kiosk in product.get("building/")["kiosks"]]
        self.locked: list[str] = []
        self.taken: list[str] = []

    def run(self, deeds: int = 6) -> None:
        """Does several things, one soon after the other, and puts the building right again."""
        kinds = ("step_free", "start", "goal", "goal", "door", "door", "seat", "seat", "socket")
        for _ in range(deeds):
            getattr(self, self.random.choice(kinds))()
            self.page.wait_for_timeout(self.random.choice((50, 200, 700, 1500)))
        for door in self.locked:
            self.product.call("PATCH", f"doors/{door}/", {"state": "open"})
        for sensor in self.taken:
            self.product.call("PATCH", f"sensors/{sensor}/", STANDING)
        self.locked, self.taken = [], []

    def step_free(self) -> None:
        """Wants stairs, or none, where that is his choice."""
        switch = self.page.get_by_test_id("step-free")
        if switch.get_attribute("aria-disabled") != "true":
            switch.click()

    def start(self) -> None:
        """Stands elsewhere."""
        self.page.get_by_test_id("ask-kiosk").select_option(self.random.choice(self.kiosks))

    def goal(self) -> None:
        """Looks for something else."""
        goal = self.random.choice(GOALS)
        self.page.get_by_test_id("find").click()
        self.page.locator(f'[data-key="{goal}"]').click()

    def door(self) -> None:
        """Has a door on the way locked, or any."""
        shown = self.page.locator("[data-testid=route-door]").all_inner_texts()
        door = self.random.choice(shown or self.doors)
        self.product.call("PATCH", f"doors/{door}/", {"state": "locked"})
        self.locked.append(door)

    def seat(self) -> None:
        """Has somebody sit down where the page leads."""
        card = self.page.get_by_test_id("route-card")
        target = card.get_attribute("data-target") if card.count() else None
        found = list(self.product.items(f"sensors/?mid={target}&kind=seat")) if target else []
        for sensor in found:
            self.product.call("PATCH", f"sensors/{sensor['sid']}/", SITTING)
            self.taken.append(sensor["sid"])

    def socket(self) -> None:
        """Loses the network for a moment."""
        self.page.context.set_offline(True)
        self.page.evaluate("window.dispatchEvent(new Event('offline'))")
        self.page.wait_for_timeout(300)
        self.page.context.set_offline(False)
        live(self.page)


def no_lies(visitor, product, seeds) -> None:
    page = visitor()
    ask(page, product.get("building/")["kiosks"][0]["id"], "LaTeX")
    page.wait_for_timeout(KEPT_MS)
    page.evaluate(WATCH)
    for seed in seeds:
        Script(page, product, seed).run()
        seen = page.evaluate("window.truth")
        assert not seen["lies"], (seed, seen["lies"][:5])
    assert page.evaluate("window.truth.samples") > 20 * len(seeds)
    expect(page.get_by_test_id("status-chip")).to_have_attribute("data-state", "live")


def test_a_page_says_nothing_untrue(visitor, product):
    no_lies(visitor, product, range(4))


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_a_page_says_nothing_untrue_in_two_hundred_scripts(visitor, product):
    no_lies(visitor, product, range(100, 300))
