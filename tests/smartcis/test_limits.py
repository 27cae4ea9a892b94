"""Limits: counted once for all processes, by all that a person is; nobody evades them."""

from __future__ import annotations

import string
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import ImproperlyConfigured

from aspen.redis_client import connect_once
from smartcis import composition
from smartcis.access import limits
from smartcis.access.limits import bounds, hold, left, spend
from smartcis.access.owner import SYSTEM, Owner
from smartcis.address import address_of, digest_of
from smartcis.browser import ensure_browser
from smartcis.environment import limits as limits_of
from smartcis.environment import networks
from smartcis.errors import LimitReached
from smartcis.services.embedded_redis import APPEND_ONLY, EmbeddedRedis

HALL = Owner("mine", address="hall")
PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.fixture
def rates(building, settings):
    def give(**scopes: int) -> None:
        settings.RATES = {"why": scopes}
        settings.QUOTAS = {"sockets": scopes}

    return give


@pytest.fixture
def later(building):
    def passes(seconds: float) -> None:
        """Lets all that is counted be so much older."""
        server = composition.server()
        for name in server.scan_iter(f"{building}:limits:*"):
            if name.endswith(b":until"):
                for holder, at_s in server.zrange(name, 0, -1, withscores=True):
                    server.zadd(name, {holder: at_s - seconds})
            elif not name.endswith(b":held"):
                server.set(name, float(server.get(name)) - 1e3 * seconds, keepttl=True)

    return passes


def refusals(count: int, act) -> int:
    """How many of so many, all at once, are refused."""

    def one(number: int) -> int:
        try:
            act(number)
        except LimitReached:
            return 1
        return 0

    with ThreadPoolExecutor(16) as pool:
        return sum(pool.map(one, range(count)))


def test_all_at_once_take_no_more_than_there_is(rates):
    rates(browser=10)
    assert refusals(40, lambda _: spend("why", HALL)) == 30
    assert refusals(40, lambda n: hold("sockets", HALL, f"s{n}", 1)) == 30


def test_what_is_counted_is_written_to_no_file(rates, monkeypatch, tmp_path):
    server = EmbeddedRedis(tmp_path / "redis")
    server.start()
    try:
        with connect_once(server.url) as client:
            monkeypatch.setattr(composition, "server", lambda: client)
            rates(browser=1)
            spend("why", HALL)
            hold("sockets", HALL, "mine", 1)
            client.set("other", "kept")
            written = (server.logs / APPEND_ONLY).read_bytes()
            assert b"other" in written
            assert b":limits:" not in written
            for act in (lambda: spend("why", HALL), lambda: hold("sockets", HALL, "another", 1)):
                with pytest.raises(LimitReached):
                    act()
    finally:
        server.stop()


@pytest.mark.django_db
def test_who_leaves_the_cookie_away_has_the_engines_share_of_his_address(rf, settings):
    def asks(cookie=""):
        request = rf.post("/", headers={"cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"})
        request.user = AnonymousUser()
        SessionMiddleware(lambda _: None).process_request(request)
        browser = ensure_browser(request)
        owner = Owner.of(request)
        request.session.save()
        return browser, owner.share, request.session.session_key

    (one, share, key), (other, same, _), (_, forged, _) = asks(), asks(), asks("x" * 32)
    assert one != other
    assert share == same == forged == Owner(address=digest_of("127.0.0.1")).share != ""
    again, own, _ = asks(key)
    assert again == one
    assert own == Owner(one, address="elsewhere").share != share


def test_a_refusal_by_one_bound_counts_nowhere(rates):
    rates(browser=2, address=4)
    assert refusals(10, lambda _: spend("why", HALL)) == 8
    other = Owner("other", address="hall")
    assert left("why", bounds({"browser": 2, "address": 4}, other)) == 2
    assert refusals(10, lambda _: spend("why", other)) == 8
    assert refusals(1, lambda _: spend("why", Owner("third", address="hall"))) == 1
    assert refusals(1, lambda _: spend("why", Owner("third", address="elsewhere"))) == 0


def test_without_a_cookie_all_of_an_address_are_one_browser(rates):
    rates(browser=3, address=100)
    assert refusals(10, lambda _: spend("why", Owner(address="hall"))) == 7
    assert refusals(3, lambda _: spend("why", Owner(address="elsewhere"))) == 0


def test_a_refusal_says_the_limit_and_when_to_come_back(rates, monkeypatch):
    monkeypatch.setattr(limits, "PER_S", 6_000.0)
    rates(browser=30, address=600)
    for _ in range(30):
        spend("why", HALL)
    with pytest.raises(LimitReached) as caught:
        spend("why", HALL)
    error = caught.value
    assert 150 < error.as_dict()["retry_s"] <= 200  # one of thirty is free again after a thirtieth
    assert error.exists[0] == "up to 30 a minute for this browser"
    assert len(error.exists) == 2


def test_what_was_spent_comes_back(rates, later):
    rates(browser=2)
    assert refusals(3, lambda _: spend("why", HALL)) == 1
    later(limits.PER_S)
    assert refusals(3, lambda _: spend("why", HALL)) == 1


def test_what_is_known_afterwards_is_owed(rates):
    rates(browser=10)
    spend("why", HALL, 0)
    spend("why", HALL, 25, afterwards=True)
    with pytest.raises(LimitReached) as caught:
        spend("why", HALL, 0)
    assert 80 < caught.value.retry_s <= 90


def test_what_is_held_is_given_back_or_falls_due(rates, monkeypatch, later):
    rates(browser=3)
    hold("sockets", HALL, "a", 1)
    hold("sockets", HALL, "a", 3)
    with pytest.raises(LimitReached):
        hold("sockets", HALL, "b", 1)
    hold("sockets", HALL, "a", 2)
    hold("sockets", HALL, "b", 1)
    hold("sockets", HALL, "a", 0)
    monkeypatch.setattr(limits, "LEASE_S", 60.0)
    hold("sockets", HALL, "c", 2)  # its process dies
    with pytest.raises(LimitReached):
        hold("sockets", HALL, "d", 1)
    later(61.0)
    hold("sockets", HALL, "d", 2)
    with pytest.raises(LimitReached):
        hold("sockets", HALL, "d", 3)


def test_accounts_are_known_people_and_staff_keep_the_house(rates):
    rates(account=2, browser=1, address=1, all=3)
    staff = Owner("mine", user_id=2, staff=True, address="hall")
    assert refusals(2, lambda _: spend("why", HALL)) == 1
    assert refusals(3, lambda _: spend("why", Owner(user_id=1, address="hall"))) == 1
    assert refusals(1, lambda _: spend("why", Owner("b", address="away"))) == 1  # all: 3
    assert refusals(3, lambda _: spend("why", staff)) == 1
    assert refusals(30, lambda n: hold("sockets", staff, f"s{n}", 1)) == 0
    assert refusals(30, lambda _: spend("why", SYSTEM)) == 0


def test_without_redis_nobody_is_refused(rates, settings):
    rates(browser=1)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    composition.server.cache_clear()
    assert refusals(3, lambda _: spend("why", HALL)) == 0


def test_redis_holds_neither_tokens_nor_addresses(rates, building):
    rates(browser=5, address=5)
    spend("why", HALL)
    hold("sockets", HALL, "s", 1)
    names = [key.decode() for key in composition.server().scan_iter(f"{building}:limits:*")]
    assert len(names) == 6
    assert not [name for name in names if "mine" in name or "hall" in name]


@pytest.mark.parametrize(
    ("peer", "forwarded", "place"),
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # what a stranger says of itself
        ("10.0.0.2", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "1.1.1.1, 198.51.100.1 , 10.0.0.3", "198.51.100.1"),
        ("10.0.0.2", "nonsense", "10.0.0.2"),
        ("10.0.0.2", "", "10.0.0.2"),
        ("::ffff:203.0.113.9", "", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "", "2001:db8:1:2::/64"),
        ("fd00::1", "2001:db8:9::7", "2001:db8:9::/64"),
        ("", "", ""),
        ("/run/socket", "203.0.113.9", ""),
    ],
)
def test_only_trusted_proxies_say_where_others_are(peer, forwarded, place):
    assert address_of(peer, forwarded, PROXIES) == place


def test_addresses_are_kept_as_digests(settings):
    digest = digest_of("203.0.113.9")
    assert digest == digest_of("203.0.113.9") != digest_of("203.0.113.8")
    assert set(digest) <= set(string.hexdigits)
    settings.SECRET_KEY = "another"
    assert digest != digest_of("203.0.113.9")
    assert digest_of("") == ""


def test_settings_replace_what_they_name(monkeypatch):
    default = "account=20,browser=5"
    monkeypatch.setenv("LIMIT", " browser = 7 ")
    assert limits_of("LIMIT", default=default) == {"account": 20, "browser": 7}
    for nonsense in ("visitor=7", "browser", "browser=-1", "browser=many"):
        monkeypatch.setenv("LIMIT", nonsense)
        with pytest.raises(ImproperlyConfigured, match="account, browser"):
            limits_of("LIMIT", default=default)
    monkeypatch.setenv("LIMIT", "10.0.0.0/8, fd00::/8")
    assert networks("LIMIT") == PROXIES
    monkeypatch.setenv("LIMIT", "1")  # a number of proxies, as it was once
    with pytest.raises(ImproperlyConfigured):
        networks("LIMIT")
