"""The main job, done by a person in a browser against the whole running product."""

from __future__ import annotations

import itertools
import json
import re
import urllib.error

import pytest
from playwright.sync_api import expect
from waiting import until

from aspen.log.redis_log import RedisLog
from smartcis.environment import redis_url
from tests.bench.browser import sign_in
from tests.bench.rig import NAME
from tests.standing.oracle import Oracle

pytestmark = pytest.mark.browser
KEPT_MS = 2_000
"""After that long on a way, its target is one that is kept."""


def log_in(page, product):
    """Log in as the staff account that the demo printed, and come back to the map."""
    sign_in(page, product.url, product.staff)


def ask(page, kiosk, software, *, step_free=False):
    """Choose where one stands and what one needs."""
    live(page)
    page.get_by_test_id("ask-kiosk").select_option(kiosk)
    page.keyboard.press("/")
    page.keyboard.type(software)
    page.locator(f'[data-key="free-machine:{software}"]').click()
    switch = page.get_by_test_id("step-free")
    if (switch.get_attribute("aria-checked") == "true") != step_free:
        switch.click()
    expect(page.get_by_test_id("route-card")).to_be_visible()


def live(page):
    expect(page.get_by_test_id("status-chip")).to_have_attribute("data-state", "live")


def target(page):
    return page.get_by_test_id("route-card").get_attribute("data-target")


def expect_another_target(page, old):
    expect(page.get_by_test_id("route-card")).not_to_have_attribute("data-target", old)


def oracle_now(product):
    oracle = Oracle()
    log = RedisLog(redis_url(product.var), NAME)
    for _, entry in log.read(0, log.head()):
        oracle.feed(entry)
    return oracle


def door_on_the_way(product, mid):
    """Choose a door on the walk to `mid` without which there is still a walk to some machine."""
    oracle = oracle_now(product)
    nearest = product.rows("nearest_destination")
    session = next(row[0] for row in nearest if row[4] == mid)
    steps = sorted((row[6], row[5]) for row in product.rows("route_step") if row[0] == session)
    walk = {(a[1], b[1]) for a, b in itertools.pairwise(steps)}
    doors = {row[5] for row in oracle.tables["routing_edge"] if row[:2] in walk} - {None}
    for door in sorted(row for row in oracle.tables["door"] if row[0] in doors):
        oracle.tables["door"].remove(door)
        oracle.tables["door"].add((door[0], "locked", *door[2:]))
        left = [row for row in oracle.expected()["nearest_destination"] if row[0] == session]
        oracle.tables["door"].remove((door[0], "locked", *door[2:]))
        oracle.tables["door"].add(door)
        if left:
            return door[0], door[4]
    raise AssertionError(f"every one of {len(doors)} doors on the walk is the only way")


def test_shape_the_whole_story(visitor, product):
    page = visitor()
    log_in(page, product)
    kiosks = product.get("building/")["kiosks"]
    ask(page, kiosks[0]["id"], "LaTeX")
    expect(page.get_by_test_id("path").first).to_be_attached()
    expect(page.get_by_test_id("route-step").last).to_have_attribute("data-kind", "arrive")

    page.wait_for_timeout(KEPT_MS)

    # Somebody sits down there: the way leads elsewhere, and the page says so.
    taken = target(page)
    page.get_by_test_id("route-card").get_by_role("button").first.click()
    page.get_by_test_id("sit-down").click()
    expect_another_target(page, taken)
    news = page.get_by_test_id("route-news")
    expect(news).to_contain_text(
        re.compile(r"was taken \(in use: somebody is sitting there\)\. Now ")
    )
    expect(page.get_by_test_id(f"machine-{taken}")).to_have_attribute("data-state", "in-use")

    # A door on the way is locked: the way changes again.
    second = target(page)
    before = page.get_by_test_id("route-distance").inner_text()
    door, level = door_on_the_way(product, second)
    page.goto(re.sub(r"level=[^&]*", f"level={level}", page.url))
    live(page)
    shape = page.get_by_test_id(f"door-{door}")
    shape.focus()
    page.keyboard.press("Enter")
    page.get_by_test_id("door-toggle").click()
    expect(shape).to_have_attribute("data-state", "locked")
    changed = re.compile(rf"^(?!{re.escape(before)}$).*")
    expect(page.get_by_test_id("route-distance")).to_have_text(changed)
    expect(news).to_contain_text(f"Door {door} was locked.")

    # The connection dies: the page recovers by itself and shows what happened meanwhile.
    page.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    product.call("PATCH", f"doors/{door}/", {"state": "open"})
    page.context.set_offline(False)
    live(page)
    expect(page.get_by_test_id(f"door-{door}")).to_have_attribute("data-state", "open")


def test_two_visitors_get_their_own_way_from_one_dataflow(visitor, product):
    kiosks = product.get("building/")["kiosks"]
    first, second = visitor(), visitor()
    ask(first, kiosks[0]["id"], "LaTeX")
    ask(second, kiosks[-1]["id"], "Word")
    expect(first.get_by_test_id("route-steps")).to_be_visible()
    expect(second.get_by_test_id("route-steps")).to_be_visible()
    assert (
        first.get_by_test_id("route-distance").inner_text()
        != second.get_by_test_id("route-distance").inner_text()
    )

    def theirs():  # walks of pages that were closed may be about to end
        expected = {row[0] for row in oracle_now(product).expected()["nearest_destination"]}
        shown = {row[0] for row in product.rows("nearest_destination")}
        return len(expected) >= 2 and shown == expected

    until(theirs, "everybody has a way")
    # One view serves both: asking registered nothing.
    assert [view for view in product.results.views() if "route" in view] == [
        "no_route",
        "route_door",
        "route_news",
        "route_step",
    ]


def test_an_answer_says_what_it_rests_on(visitor, product):
    page = visitor()
    ask(page, product.get("building/")["kiosks"][0]["id"], "LaTeX")
    card = page.get_by_test_id("route-card")
    card.get_by_test_id("why").focus()
    page.keyboard.press("Enter")
    reasons = card.get_by_test_id("why-reasons")
    expect(reasons).to_contain_text(re.compile(r"Seat at .+ reads \d+\.\d kg"))
    for words in (
        "Processor of",
        "LaTeX is installed",
        "You asked for a machine with LaTeX",
        "is open",
    ):
        expect(reasons).to_contain_text(words)
    page.keyboard.press("Enter")
    expect(reasons).to_be_empty()


def test_a_query_is_typed_watched_and_corrected(visitor, product):
    page = visitor("/queries/")
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT m.mid, m.hots FROM machine m")
    error = page.get_by_test_id("query-error")
    expect(error).to_contain_text("hots")
    expect(error).to_contain_text("host")
    expect(page.get_by_test_id("query-error-position")).to_contain_text(re.compile(r"1.*15"))
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT f.rid, COUNT(*) AS free FROM free_machine f GROUP BY f.rid")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("result-row").first).to_be_visible()
    rows = len({row[1] for row in oracle_now(product).expected()["free_machine"]})
    assert rows
    page.reload()
    expect(page.get_by_test_id("result-row").first).to_be_visible()
    page.get_by_test_id("stop").first.click()


def test_an_added_sensor_speaks_within_seconds(visitor, product):
    page = visitor()
    log_in(page, product)
    room = next(iter(product.items("machines/")))["rid"]
    made = product.call(
        "POST",
        "sensors/",
        {
            "kind": "temperature",
            "rid": room,
            "waveform": "constant",
            "parameters": {"value": 30.5},
            "period_s": 1.0,
        },
    )
    assert made["simulated"]
    for _ in range(900):
        page.wait_for_timeout(100)
        if any(row[1] == made["sid"] for row in product.rows("room_climate")):
            return
    raise AssertionError("no reading after a minute and a half")


def test_bad_input_is_answered_and_nothing_stops(visitor, product):
    def refused(method, path, body):
        with pytest.raises(urllib.error.HTTPError) as caught:
            product.call(method, path, body)
        return caught.value.code, json.loads(caught.value.read())

    broken = {
        "SELECT FROM": "syntax",
        "SELECT m.hots FROM machine m": "unknown_column",
        "SELECT r.x FROM rooom r": "unknown_relation",
        "WITH RECURSIVE r(a) AS (SELECT mid FROM machine UNION SELECT m.mid FROM machine m "
        "WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.a = m.mid)) SELECT a FROM r": "non_stratified",
    }
    for sql, part in broken.items():
        status, problem = refused("POST", "queries/", {"sql": sql})
        assert status == 400
        assert part in problem["code"], problem
        assert problem["position"]["line"] == 1, problem
        assert problem["found"] or problem["try"], problem
    sensor = next(iter(product.items("sensors/?kind=seat")))["sid"]
    for reading in (
        {"sid": sensor, "value": 3, "unit": "lb", "at": 1},
        {"sid": sensor, "value": 3, "unit": "kg", "at": "yesterday"},
        {"sid": "nobody", "value": 3, "unit": "kg", "at": 1},
    ):
        status, problem = refused("POST", "readings/", [reading])
        assert status == 400, problem
        assert problem["code"].startswith("smartcis."), problem
    status, problem = refused("POST", "rooms/no-such-room/reservations/", {"title": "x"})
    assert status in (400, 404), problem
    status, problem = refused("POST", "queries/", {"sql": "x" * 10_000_000})
    assert status == 413, problem
    page = visitor()
    live(page)
