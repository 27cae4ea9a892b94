"""Calls outside: which addresses, how long, how much."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from smartcis import outbound
from smartcis.outbound import AddressRefused, TookTooLong, calling, may_call
from smartcis.wrappers import fetch as fetching
from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.fetch import fetch

INSIDE = (
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
    *("169.254.169.254", "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1"),
    *("::1", "::", "fe80::1%lo", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("64:ff9b::7f00:1", "2002:7f00:1::", "::7f00:1"),
)


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_not_called_unless_listed(address):
    assert not may_call(address)
    assert may_call(address, ["0.0.0.0/0", "::/0"])


def test_public_addresses_are_called():
    assert may_call("8.8.8.8")
    assert may_call("::ffff:8.8.8.8")
    assert may_call("2606:4700::1")
    assert may_call("::ffff:10.0.0.1", ["10.0.0.0/8"])
    assert may_call("127.0.0.1", ["localhost"])
    assert not may_call("10.0.0.1", ["localhost", "10.1.0.0/16"])


class Server:
    """Answers each connection with what the test says, part by part."""

    def __init__(self, parts, pause_s: float = 0.0) -> None:
        self.parts, self.pause_s, self.asked = parts, pause_s, 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                one, _ = self._socket.accept()
            except OSError:
                return
            self.asked += 1
            threading.Thread(target=self._answer, args=(one,), daemon=True).start()

    def _answer(self, one: socket.socket) -> None:
        with one:
            one.recv(65_536)
            try:
                for part in self.parts:
                    one.sendall(part)
                    time.sleep(self.pause_s)
            except OSError:
                return

    def close(self) -> None:
        self._socket.close()


@contextmanager
def serving(*parts: bytes, pause_s: float = 0.0) -> Iterator[Server]:
    one = Server(parts, pause_s)
    yield one
    one.close()


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def _soon(monkeypatch):
    monkeypatch.setattr(fetching, "DEADLINE_S", 0.5)


DRIPPING_S = 50.0  # a thousand drips of them
DRIPS = {
    "in its first line": (b"H",) * 1_000,
    "in its headers": (OK, *(b"X-A: b\r\n",) * 1_000),
    "in a body of known length": (OK + b"Content-Length: 1000\r\n\r\n", *(b"x",) * 1_000),
    "in a body that ends with the connection": (OK + b"\r\n", *(b"x",) * 1_000),
    "in chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n", *(b"1\r\nx\r\n",) * 1_000),
}


@pytest.mark.parametrize("where", DRIPS)
@pytest.mark.usefixtures("_soon")
def test_a_server_that_drips_holds_nobody(where):
    memory: dict = {}
    with serving(*DRIPS[where], pause_s=DRIPPING_S / 1_000) as server:
        began = time.monotonic()
        with pytest.raises(SourceDown, match="not whole after"):
            fetch(server.url, memory)
    assert time.monotonic() - began < DRIPPING_S / 2
    assert memory == {}, "half an answer is none"


@pytest.mark.usefixtures("_soon")
def test_a_server_that_drips_in_the_handshake_of_tls_holds_nobody():
    with serving(*(b"\x16",) * 1_000, pause_s=DRIPPING_S / 1_000) as server:
        began = time.monotonic()
        with pytest.raises(SourceDown):
            fetch(server.url.replace("http:", "https:"), {})
    assert time.monotonic() - began < DRIPPING_S / 2


def packed(body: bytes, coding: bytes = b"gzip") -> bytes:
    return OK + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding, len(body)) + body


def test_a_bomb_is_not_unpacked():
    bomb = gzip.compress(b"\0" * 200_000_000, 9)
    assert len(bomb) < 200_000
    with serving(packed(bomb)) as server, pytest.raises(SourceDown, match="larger than"):
        fetch(server.url, {})


def test_packed_answers_are_read_and_broken_ones_refused():
    body = gzip.compress("Grüße".encode())
    with serving(packed(body)) as server:
        assert fetch(server.url, {}).text == "Grüße"
    for bad, words in (
        (packed(body[:-4]), "cut off"),
        (packed(body + body), "something follows"),
        (packed(b"no gzip"), "not gzip"),
        (packed(body, b"br"), "nobody asked for"),
    ):
        with serving(bad) as server, pytest.raises(SourceDown, match=words):
            fetch(server.url, {})


def test_a_redirect_leads_nowhere_inside(settings):
    settings.NETWORKS = ["127.0.0.2/32", "127.0.0.1/32"]
    with serving(OK + b"Content-Length: 6\r\n\r\nsecret") as inside:
        there = inside.url.replace("127.0.0.1", "127.0.0.3").encode()
        answer = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + there + b"\r\n\r\n"
        with serving(answer) as server, pytest.raises(SourceDown, match=r"127\.0\.0\.3"):
            fetch(server.url, {})
        assert inside.asked == 0


def test_a_ring_of_redirects_ends():
    with serving() as server:
        head = "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
        answer = f"{head}Location: {server.url}\r\n\r\n"
        server.parts = (answer.encode(),)
        with pytest.raises(SourceDown, match="redirects"):
            fetch(server.url, {})
        assert server.asked < 10


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://"])
def test_a_redirect_to_something_else_is_no_answer(to):
    answer = f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: {to}\r\n\r\n"
    with serving(answer.encode()) as server, pytest.raises(SourceDown):
        fetch(server.url, {})


def test_the_address_that_was_checked_is_the_one_connected_to(settings, monkeypatch):
    """A name that means something harmless when asked, and the house itself when called."""
    settings.NETWORKS = ["127.0.0.1/32"]
    with serving(OK + b"Content-Length: 2\r\n\r\nok") as server:
        port = int(server.url.rstrip("/").rpartition(":")[2])
        real, asked = socket.getaddrinfo, []

        def rebound(host, *args, **more):
            if host != "rebinding.example":
                return real(host, *args, **more)
            asked.append(host)
            return real("127.0.0.1" if len(asked) == 1 else "127.0.0.2", *args, **more)

        monkeypatch.setattr(outbound.socket, "getaddrinfo", rebound)
        assert fetch(f"http://rebinding.example:{port}/", {}).text == "ok"
        assert len(asked) == 1
        with pytest.raises(SourceDown, match="private network"):
            fetch(f"http://rebinding.example:{port}/", {})


@pytest.mark.parametrize("url", ["http://[::1", "http://a..b/", "http://" + "a" * 300 + "/", "x:y"])
def test_an_address_that_is_none_is_no_answer(url):
    with pytest.raises(SourceDown):
        fetch(url, {})


def test_nothing_is_called_inside_unless_listed(settings):
    settings.NETWORKS = []
    with serving(OK + b"Content-Length: 0\r\n\r\n") as server:
        with pytest.raises(AddressRefused) as refused, calling(5.0) as client:
            client.get(server.url)
        assert refused.value.attempt
        assert server.asked == 0
        with calling(5.0, listed=["127.0.0.1"]) as client:
            assert client.get(server.url).status_code == httpx.codes.OK


def test_what_follows_an_answer_in_time_is_cut_off_too():
    empty = OK + b"Content-Length: 0\r\n\r\n"
    with serving(empty) as server, pytest.raises(TookTooLong), calling(0.2) as client:
        assert client.get(server.url).status_code == httpx.codes.OK
        time.sleep(0.4)
