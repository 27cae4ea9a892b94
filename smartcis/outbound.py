"""Outbound: calls to computers outside: to addresses that may be called, and never for long.

    name ── resolve ── may be called? ── connect to that very address ── answer ── deadline: cut off

Law:        no connection is made to an address of this machine or of a private network unless the
            operator lists it (`SMARTCIS_NETWORKS`). It is asked of the address that is connected
            to, after each redirect, so that no name can change its meaning in between.
Law:        a call ends at its deadline, whatever the other side does; what it had sent by then
            does not count.
"""

from __future__ import annotations

import socket
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpcore
import httpx
from django.conf import settings

from aspen.errors import AspenError

AGENT = "SmartCIS"
LOOPBACK = ("127.0.0.0/8", "::1/128")
# An older address stands inside these: translated, 6to4, and the form before mapped ones.
_WRAPPED = tuple(ip_network(one) for one in ("64:ff9b::/96", "2002::/16", "::/96"))


class AddressRefused(AspenError, code="smartcis.outbound.address_refused"):
    """An address that this server does not call."""


class TookTooLong(AspenError, code="smartcis.outbound.took_too_long"):
    """An answer that was not whole at its deadline."""


class TooLarge(AspenError, code="smartcis.outbound.too_large"):
    """An answer of more bytes than anybody can use."""


class BadPacking(AspenError, code="smartcis.outbound.bad_packing"):
    """An answer that cannot be unpacked."""


def may_call(address: str, listed: Iterable[str] = ()) -> bool:
    """Returns whether a numeric address may be called.

    Args:
        listed: addresses, networks and `localhost` that may be, beside public ones.
    """
    found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    networks = [net for one in listed for net in (LOOPBACK if one == "localhost" else (one,))]
    if any(found in ip_network(one, strict=False) for one in networks):
        return True
    return found.is_global and not found.is_multicast and not any(found in one for one in _WRAPPED)


def addresses_of(host: str, port: int, listed: Iterable[str] | None = ()) -> list[str]:
    """Resolves a host to the addresses of it that may be called.

    Args:
        listed: see `may_call`, beside `SMARTCIS_NETWORKS`; None for any address.

    Raises:
        AddressRefused: it has none.
        OSError: nobody knows the host.
    """
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (UnicodeError, ValueError) as error:  # a name that no server of names is asked for
        raise OSError(f"{host[:60]!r} is no name of a host") from error
    found = list(dict.fromkeys(str(one[4][0]) for one in known))
    every = None if listed is None else (*map(str, settings.NETWORKS), *listed)
    usable = [one for one in found if every is None or may_call(one, every)]
    if not usable:
        raise AddressRefused(
            f"{host} is an address of this machine or of a private network",
            found=", ".join(found),
            exists=every or (),
            attempt="the operator lists networks that may be called in SMARTCIS_NETWORKS",
        )
    return usable


def connected(
    host: str, port: int, timeout_s: float, listed: Iterable[str] | None = ()
) -> socket.socket:
    """Connects to the first address of a host that may be called and answers.

    Raises:
        AddressRefused: it has none that may be called.
        OSError: none answers.
    """
    fault = OSError()
    for address in addresses_of(host, port, listed):
        try:
            return socket.create_connection((address, port), timeout_s)
        except OSError as error:
            fault = error
    raise fault


class _Backend(httpcore.SyncBackend):
    """Connections to checked addresses, which can be cut off."""

    def __init__(self, listed: Iterable[str] | None) -> None:
        self._listed = listed
        self._open: list[socket.socket] = []
        self.late = False

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connects to the first address that may be called and answers."""
        try:
            usable = addresses_of(host, port, self._listed)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for number, address in enumerate(usable, start=1):
            try:
                stream = super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(usable) or self.late:
                    raise
            else:
                break
        # TLS takes the socket over; a second handle on the same connection stays ours.
        self._open.append(stream.get_extra_info("socket").dup())
        if self.late:
            self.cut()
        return stream

    def cut(self) -> None:
        """Ends all connections, whoever waits for them."""
        self.late = True
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Lets go of all connections."""
        while self._open:
            self._open.pop().close()


@contextmanager
def calling(
    deadline_s: float, *, listed: Iterable[str] | None = (), redirects: int = 0
) -> Iterator[httpx.Client]:
    """Opens a client for one call.

    Args:
        deadline_s: for all of it, to the last byte.
        listed: see `addresses_of`.
        redirects: how many are followed.

    Raises:
        AddressRefused: the call led where this server does not call.
        TookTooLong: the deadline has passed.
    """
    backend = _Backend(listed)
    transport = httpx.HTTPTransport(trust_env=False)
    transport._pool._network_backend = backend  # noqa: SLF001  # httpx passes on no way to say so
    client = httpx.Client(
        transport=transport,
        timeout=deadline_s,
        trust_env=False,  # a proxy would resolve names behind our back
        follow_redirects=redirects > 0,
        max_redirects=redirects,
        headers={"User-Agent": AGENT, "Accept-Encoding": "gzip"},
    )
    end = threading.Timer(deadline_s, backend.cut)
    end.daemon = True
    end.start()
    try:
        with client:
            yield client
    except httpx.HTTPError:
        if not backend.late:
            raise
    finally:
        end.cancel()
        backend.close()
    if backend.late:
        raise TookTooLong(f"the answer was not whole after {deadline_s:g} s")


def body_of(answer: httpx.Response, at_most_bytes: int) -> bytes:
    """Reads a streamed answer, unpacked, as far as it may go.

    Raises:
        TooLarge: more bytes than that, packed or not.
        BadPacking: packed in a way that was not asked for, or not rightly.
    """
    coding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in {"identity", "gzip", "x-gzip", ""}:
        raise BadPacking("the answer is packed in a way nobody asked for", found=coding[:40])
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if coding.endswith("gzip") else None
    data = bytearray()
    for part in answer.iter_raw():
        room = at_most_bytes - len(data) + 1
        try:
            data += part if unpack is None else unpack.decompress(part, room)
        except zlib.error as error:
            raise BadPacking("the answer is not gzip as it says", found=str(error)[:60]) from error
        if len(data) > at_most_bytes:
            raise TooLarge(f"the answer is larger than {at_most_bytes} bytes")
    if unpack is not None and (not unpack.eof or unpack.unused_data):
        raise BadPacking("the packed answer is cut off, or something follows it")
    return bytes(data)
