"""Pages in HTML: power outlets and software lists, and what happens when they go."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from wrappers.conftest import changes_of, settings_of

from smartcis.models import SoftwareInstall, Source
from smartcis.wrappers.errors import BadConfig, SourceDown
from smartcis.wrappers.page import LINE_LENGTH, lines_of, matches
from smartcis.wrappers.pdu import PATTERN, Pdu

PDU = """<!doctype html><title>PDU 9 outlet 9 W</title><style>td {{ width: 7 W }}</style>
<h1>Rack 3</h1>
<table><tr><th>Outlet<th>Name<th>Power</tr>
<tr><td>1</td><td>Mill &amp; lathe</td><td><b>41.5</b>&nbsp;W</td></tr>
<tr><td>2</td><td>Spare</td><td>{second}</td></tr>
</table><p>Outlet 3: 7,25 watts</p></html>"""


def place(**fields) -> Source:
    added = datetime(2026, 3, 10, 9, tzinfo=UTC)
    source = Source(name=fields["source"], added_at=added, **fields)
    source.full_clean()
    source.save()
    return source


def test_a_page_is_lines_of_cells():
    assert lines_of(PDU.format(second="0 W")) == [
        "Rack 3",
        "Outlet | Name | Power",
        "1 | Mill & lathe | 41.5 W",
        "2 | Spare | 0 W",
        "Outlet 3: 7,25 watts",
    ]
    assert lines_of("<tr><td></td><td>b</td></tr>") == [" | b"]
    assert lines_of("<![CDA1_0[x]]>a<![]>b<![CDATA[ 7 W ]]>") == ["ab"]
    assert lines_of("") == lines_of("<script>1 W</script>") == []


@pytest.mark.django_db
def test_outlets_draw_power_until_the_page_is_gone(home, site):
    site.page = PDU.format(second="-3 W")
    pdu = place(
        source="pdu",
        kind="pdu",
        config={"url": site.url, "outlets": {"1": "m1"}},
        period_s=10.0,
    )
    assert home.poll(pdu)
    assert home.rows("outlet_power") == [
        ("pdu", "1", "m1", 41.5, home.now_s),
        ("pdu", "3", None, 7.25, home.now_s),
    ]
    state, reason = home.state(pdu)
    assert (state, "outlet '2'" in reason) == ("live", True)
    site.go()
    for _ in range(5):
        home.later(10.0)
        assert not home.poll(pdu)
    assert home.rows("outlet_power") == []
    assert home.state(pdu)[0] == "dead"
    assert [row[0] for row in home.rows("silent_source")] == ["pdu"]
    site.come_back()
    home.later(10.0)
    assert home.poll(pdu)
    assert len(home.rows("outlet_power")) == 2


@pytest.mark.django_db
@pytest.mark.parametrize(("status", "page"), [(200, "<h1>Please log in</h1>"), (503, PDU)])
def test_another_page_is_no_measurement(home, site, status, page):
    site.page, site.status = page, status
    pdu = place(source="pdu", kind="pdu", config={"url": site.url}, period_s=10.0)
    assert not home.poll(pdu)
    assert home.rows("outlet_power") == []
    assert home.state(pdu)[1] in {
        "the page lists no outlets",
        "the server answered 503 Service Unavailable",
    }


def test_a_pattern_says_which_group_is_what():
    config = {"url": "http://x/", "pattern": r"(?P<outlet>\w+)=(?P<milliwatts>\d+)"}
    with pytest.raises(BadConfig, match="no group 'watts'"):
        Pdu(settings_of("pdu", config))


@pytest.mark.parametrize(
    "url", ["ftp://x/", "http://", "http://a:65536/", "http://a:0/", "https://a:x/", "http://[a/"]
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(BadConfig, match="'url' is http://"):
        Pdu(settings_of("pdu", {"url": url}))


SOFTWARE = "<ul><li>LaTeX</li><li>Blender</li></ul>"


@pytest.mark.django_db
def test_a_software_list_changes_only_what_changed(home, site):
    before = len(changes_of("machine_software"))
    site.page = SOFTWARE
    listed = place(source="soft", kind="software", config={"url": site.url}, machine_id="m1")
    assert home.poll(listed)
    # LaTeX was entered by hand and stays somebody's entry.
    assert changes_of("machine_software")[before:] == [(1, ("m1", "Blender"))]
    site.page = SOFTWARE.replace("Blender", "Krita")
    home.later(60.0)
    assert home.poll(listed)
    assert changes_of("machine_software")[before + 1 :] == [
        (-1, ("m1", "Blender")),
        (1, ("m1", "Krita")),
    ]
    site.go()
    home.later(3600.0)
    assert not home.poll(listed)
    assert SoftwareInstall.objects.filter(machine_id="m1").count() == 2
    ((_, _, _, rid, mid, _, _),) = home.rows("silent_source")
    assert (rid, mid) == ("A", "m1")


@pytest.mark.django_db
def test_one_page_for_several_machines(home, site):
    site.page = (
        "<table><tr><td>mill</td><td>R</td><td>4.5</td></tr><tr><td>lathe</td><td>R</td></tr>"
        "<tr><td>attic</td><td>Maple</td></tr></table>"
    )
    config = {"url": site.url, "machines": {"mill": "m1", "lathe": "m2"}}
    listed = place(source="soft", kind="software", config=config)
    assert home.poll(listed)
    found = SoftwareInstall.objects.filter(source=listed).values_list("machine_id", "software")
    assert set(found) == {("m1", "R"), ("m2", "R")}
    assert home.state(listed) == ("live", "no machine is set for the host 'attic'")


def test_a_line_of_a_page_is_as_long_as_a_pattern_can_bear():
    assert all(len(line) <= LINE_LENGTH for line in lines_of("<p>" + "1 " * 1_000_000))
    with pytest.raises(SourceDown, match="lines"):
        lines_of("<p>a" * 30_000)
    row = "<tr>" + "<td>1</td>" * 100_000 + "</tr>"
    assert all(len(line) <= LINE_LENGTH for line in lines_of(row))


def test_a_page_made_to_keep_patterns_busy_is_read_in_time():
    page = "<p>" + "<p>".join(["1 11" * 100] * 2_000)
    began = time.process_time()
    assert list(matches(page + "<p>3 | 41 W", PATTERN, "outlets"))
    assert time.process_time() - began < 10.0
