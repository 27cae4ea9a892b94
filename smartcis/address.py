"""Addresses: where a request comes from, as limits count it; nothing keeps the address itself.

peer 10.0.0.2 (a trusted proxy), X-Forwarded-For: 1.1.1.1, 203.0.113.9
└ told by the proxy: 203.0.113.9; 1.1.1.1 is what the client says of itself, which nobody believes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from smartcis.environment import Network

IPV6_PREFIX = 64
"""One household or hall has at least so large a network; whoever has one has all its addresses."""

UNKNOWN = ""


def address_of(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """Returns the network that limits count: an IPv4 address, or 64 bits of an IPv6 one.

    Args:
        peer: the other end of the connection.
        forwarded: X-Forwarded-For, believed as far as trusted proxies wrote it.
        proxies: networks of the trusted ones.
    """
    seen = UNKNOWN
    for word in reversed([*forwarded.split(","), peer]):
        try:
            address = ip_address(word.strip())
        except ValueError:
            break  # a local socket, or nonsense: what the last proxy said stands
        if isinstance(address, IPv6Address):
            address = address.ipv4_mapped or address
        if isinstance(address, IPv6Address):
            seen = str(ip_network((address, IPV6_PREFIX), strict=False))
        else:
            seen = str(address)
        if not any(address in proxy for proxy in proxies):
            break
    return seen


def digest_of(address: str) -> str:
    """Returns what stands for an address in database and Redis; the secret key makes it."""
    return salted_hmac("smartcis.address", address).hexdigest()[:32] if address else UNKNOWN


def address_of_request(request: HttpRequest) -> str:
    """Returns the digest of where a request comes from."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return digest_of(address_of(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES))


def is_at(request: HttpRequest, listed: Sequence[Network]) -> bool:
    """Tells whether a request comes from a listed network; of IPv6 ones, from 64 bits or fewer."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    address = address_of(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES)
    if not address:
        return False
    here = ip_network(address)
    return any(one.version == here.version and one.supernet_of(here) for one in listed)  # type: ignore[arg-type]  # of one version


def address_of_socket(scope: Mapping[str, Any]) -> str:
    """Returns the digest of where a socket comes from."""
    said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    forwarded = b",".join(said).decode("latin1")
    peer = (scope.get("client") or ("",))[0]
    return digest_of(address_of(peer, forwarded, settings.PROXIES))
