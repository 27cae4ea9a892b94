"""Origins: whose pages may open a socket."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host


def origin_allowed(headers: dict[bytes, bytes]) -> bool:
    """Returns whether a socket may open: from the page's host, a trusted origin, or no browser."""
    host = headers.get(b"host", b"").decode("latin1")
    domain, _ = split_domain_port(host)
    hosts = settings.ALLOWED_HOSTS or (["localhost", "127.0.0.1"] if settings.DEBUG else [])
    if not domain or not validate_host(domain, hosts):
        return False
    origin = headers.get(b"origin", b"").decode("latin1")
    if not origin:
        return True  # browsers always send one; other programs have no one's cookies
    return origin in settings.CSRF_TRUSTED_ORIGINS or urlsplit(origin).netloc == host
