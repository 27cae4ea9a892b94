"""An alarm's life on the page: raised, told once, seen to, silent, over, and remembered."""

from __future__ import annotations

import pytest
from browser.test_story import log_in
from browser.test_workbench import violations
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
OUTPUT = """OUTPUT TO ALARM 'too warm' KEY (rid)
  RAISE WHEN celsius >= 31 FOR 2 SECONDS
  CLEAR WHEN celsius < 30 FOR 2 SECONDS
  NO DATA AFTER 2 SECONDS SEVERITY critical"""


@pytest.fixture
def sensor(product):
    one = product.get("sensors/?kind=temperature&page_size=1")["results"][0]
    yield one
    product.call("PATCH", f"sensors/{one['sid']}/", {"enabled": True, **warm(20.0)})


def warm(celsius: float) -> dict[str, object]:
    return {"waveform": "constant", "parameters": {"value": celsius}, "period_s": 1}


def test_an_alarm_is_raised_told_once_seen_to_and_remembered(visitor, product, sensor):
    sid, rid = sensor["sid"], sensor["rid"]
    rooms = f"""SELECT t.rid, t.celsius
FROM temperature_reading [PARTITION BY sid ROWS 1 RANGE 12 SECONDS] t WHERE t.sid = '{sid}'"""
    made = product.call("POST", "queries/", {"sql": f"{rooms} {OUTPUT}"})
    room = product.get(f"rooms/{rid}/")
    level = product.get(f"levels/{room['level_id']}/")["short_name"]
    guest, staff = visitor("/"), visitor("/")
    log_in(staff, product)
    staff.goto(f"{product.url}/?level={room['level_id']}")
    guest.goto(f"{product.url}/?level={room['level_id']}")
    said = guest.get_by_test_id("alarm-announcer")
    try:
        product.call("PATCH", f"sensors/{sid}/", warm(31.5))
        for page in (guest, staff):
            value = page.get_by_test_id("alarm").get_by_test_id("alarm-value")
            expect(value).to_contain_text("31.5 °C")
            mark = page.locator(f"[data-testid=alarm-mark][data-key='room:{rid}']")
            expect(mark).to_have_attribute("data-look", "critical")
            expect(page.get_by_test_id(f"alarms-{level}")).to_have_text("▲ 1")
        expect(said).to_contain_text("Critical alarm: too warm")
        number = guest.get_by_test_id("alarm").get_attribute("data-id")
        guest.evaluate(
            """() => { window.told = 0; new MutationObserver(() => window.told++).observe(
            document.querySelector('[data-testid=alarm-announcer]'),
            {childList: true, characterData: true, subtree: true}); }"""
        )
        product.call("PATCH", f"sensors/{sid}/", warm(33.0))
        expect(guest.get_by_test_id("alarm-value")).to_contain_text("33 °C")
        assert guest.evaluate("window.told") == 0
        assert guest.get_by_test_id("alarm").get_attribute("data-id") == number
        guest.reload()
        expect(guest.get_by_test_id("alarm-value")).to_contain_text("33 °C")
        expect(said).to_have_text("")

        expect(guest.get_by_test_id("alarm-acknowledge")).to_have_count(0)
        staff.get_by_test_id("alarm-acknowledge").click()
        expect(guest.get_by_test_id("alarm-acknowledged")).to_have_text("✓ Acknowledged")
        expect(staff.get_by_test_id("alarm-acknowledged")).to_contain_text(f"by {product.staff[0]}")
        staff.get_by_test_id("alarm-mute-3600").click()
        expect(guest.get_by_test_id("alarm-muted")).to_be_visible()
        assert violations(staff, ["[data-testid=alarms]", ".floors"]) == []

        guest.get_by_test_id("alarm-place").click()
        expect(guest.get_by_test_id("details")).to_be_visible()

        product.call("PATCH", f"sensors/{sid}/", {"enabled": False})
        silent = guest.locator("[data-testid=alarm][data-look=no-data]")
        expect(silent).to_contain_text("the last value was 33 °C")
        expect(guest.get_by_test_id("alarm")).to_have_count(2)
        product.call("PATCH", f"sensors/{sid}/", {"enabled": True, **warm(20.0)})
        expect(guest.get_by_test_id("alarm")).to_have_count(0)
        expect(guest.locator("[data-testid=alarm-mark]")).to_have_count(0)
        staff.get_by_test_id("past-alarms").click()
        expect(staff.get_by_test_id("past-alarm").first).to_be_visible()
        ended = product.get(f"alarms/?state=cleared&query={made['id']}")["results"]
        assert {one["kind"] for one in ended} == {"threshold", "no data"}
        (threshold,) = product.get(f"alarms/?state=cleared&kind=threshold&query={made['id']}")[
            "results"
        ]
        events = [one["what"] for one in product.get(f"alarms/{threshold['id']}/")["events"]]
        assert events == ["raised", "acknowledged", "muted for 1 h", "cleared"]
    finally:
        product.call("DELETE", f"queries/{made['id']}/")
