"""Checks before others may reach the product: `manage.py check --deploy`, `manage.py serve`.

Each names the variable that mends it. Django's own checks of the same things name its settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks

SAID_BY_DJANGO = {
    *("security.W004", "security.W008", "security.W012", "security.W016"),  # plain HTTP
    *("security.W009", "security.W018", "security.W020"),  # secret key, DEBUG, hosts
}
SECRET_LENGTH = 50
HERE = {"localhost", "127.0.0.1", "::1", "[::1]"}


def _debug() -> Iterator[str]:
    if settings.DEBUG:
        yield "SMARTCIS_DEBUG is on: errors would show settings and code; leave it out"


def _vite() -> Iterator[str]:
    if settings.DJANGO_VITE["default"]["dev_mode"]:
        yield "SMARTCIS_VITE_DEV is on: pages would take scripts from a developer's server"


def _secrets() -> Iterator[str]:
    for name, secret in (
        ("SMARTCIS_SECRET_KEY", settings.SECRET_KEY),
        ("SMARTCIS_WEBHOOK_SECRET", settings.WEBHOOK_SECRET),
    ):
        if len(secret) < SECRET_LENGTH or len(set(secret)) < SECRET_LENGTH // 5:
            yield (
                f"{name} is easily guessed; set at least {SECRET_LENGTH} random characters, or "
                "leave it out and one is made"
            )


def _plain_http() -> Iterator[str]:
    if not (settings.SESSION_COOKIE_SECURE and getattr(settings, "SECURE_SSL_REDIRECT", False)):
        yield "SMARTCIS_SECURE is off: passwords and cookies would travel over plain HTTP; set it"
    elif not settings.PROXIES:
        yield (
            "SMARTCIS_PROXIES is empty: behind the server that speaks TLS all people would have "
            "one address and share one limit; set that server's address"
        )
    for name, origins in (
        ("SMARTCIS_ORIGINS", settings.CSRF_TRUSTED_ORIGINS),
        ("SMARTCIS_CORS", settings.CORS_ALLOWED_ORIGINS),
    ):
        plain = [one for one in origins if not one.startswith("https://")]
        if plain:
            yield f"{name} trusts {plain[0]}, which is plain HTTP; write https://"


def _hosts() -> Iterator[str]:
    hosts = settings.ALLOWED_HOSTS
    if "*" in hosts or any(host in {".", ""} for host in hosts):
        yield "SMARTCIS_HOSTS allows any name; list the names people use"
    elif set(hosts) <= HERE:
        yield "SMARTCIS_HOSTS has no name by which others reach this server; set it"


def _servers() -> Iterator[str]:
    parts = urlsplit(settings.REDIS_URL)
    if parts.scheme == "redis" and parts.hostname not in HERE and not parts.password:
        yield "REDIS_URL leads to another machine without a password; set redis://:PASSWORD@…"
    database = settings.DATABASES["default"]
    remote = database.get("HOST") and not database["HOST"].startswith("/")
    if remote and database["HOST"] not in HERE and not database.get("PASSWORD"):
        yield "DATABASE_URL leads to another machine without a password"


FAULTS: tuple[Callable[[], Iterator[str]], ...] = (
    *(_debug, _vite, _secrets, _plain_http, _hosts, _servers),
)


@checks.register(checks.Tags.security, deploy=True)
def check_production(**_: object) -> list[checks.CheckMessage]:
    """Returns what must not be so where others reach the product."""
    return [
        checks.Warning(sentence, id=f"smartcis.{fault.__name__.lstrip('_')}")
        for fault in FAULTS
        for sentence in fault()
    ]


def production_faults() -> list[str]:
    """Returns everything that speaks against a start in production, a sentence each."""
    found = checks.run_checks(include_deployment_checks=True)
    serious = [one for one in found if one.is_serious(checks.WARNING) and not one.is_silenced()]
    return [str(one.msg) for one in serious if one.id not in SAID_BY_DJANGO]
