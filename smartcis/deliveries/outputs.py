"""Outputs: which OUTPUT TO may be asked for, by whom, and where calls and e-mail may go.

A webhook makes this server call others from inside the house, so it calls only what an operator
allowed: `SMARTCIS_WEBHOOKS`, prefixes of URLs, each a scheme, a host, perhaps a port, and a path.
E-mail goes to whom `SMARTCIS_EMAIL_TO` names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from aspen.streamsql import Compiled
from aspen.streamsql.statement import Output
from smartcis.access.owner import Owner
from smartcis.errors import Invalid, NotFound, Refused
from smartcis.models import MaintainedView, Outlet

ALARM, WEBHOOK, EMAIL = "ALARM", "WEBHOOK", "EMAIL"
KEPT = frozenset({ALARM, WEBHOOK})
"""Kinds that are delivered; the engine keeps such a query although nobody looks."""
TARGET_LENGTH = 500
NAME_LENGTH = 80
_PORTS = {"http": 80, "https": 443}


def check_outputs(compiled: Compiled, owner: Owner) -> None:
    """Refuses an output that this person may not ask for, or that goes nowhere.

    Raises:
        Refused: not staff, or an address nobody allowed.
        Invalid: no address, or an alarm about alarms.
    """
    for output in compiled.outputs:
        if not owner.staff:
            raise Refused(
                f"only staff may put changes out to {output.kind}",
                found=output.kind,
                attempt="leave OUTPUT TO out, and follow the query",
            )
        if output.kind == ALARM:
            _check_alarm(output, compiled)
            for kind, target in output.rule.notify if output.rule is not None else ():
                _check_webhook(target) if kind == WEBHOOK else check_address(target)
        else:
            _check_webhook(output.target)
    alarms = Counter(one.target for one in compiled.outputs if one.kind == ALARM)
    for name, times in alarms.items():
        if times > 1:
            raise Invalid(
                "two alarms of one query have one name",
                found=name or "ALARM",
                attempt="name them: ALARM 'warm' …, ALARM 'hot' …",
            )


def may_write_to(address: str) -> bool:
    """Returns whether the operator lets e-mail go to an address, by itself or by its domain."""
    name, sign, domain = address.lower().rpartition("@")
    return bool(name and sign) and {address.lower(), f"@{domain}"} & set(settings.EMAIL_TO) != set()


def check_address(address: str) -> None:
    """Refuses an address that no e-mail can or may go to.

    Raises:
        Refused: this server sends no e-mail, or nobody allowed the address.
        Invalid: it is none.
    """
    if not settings.EMAIL:
        raise Refused(
            "this server sends no e-mail",
            found=address[:TARGET_LENGTH],
            attempt="the operator sets SMARTCIS_EMAIL",
        )
    try:
        validate_email(address)
    except ValidationError as error:
        raise Invalid("this is no e-mail address", found=address[:TARGET_LENGTH]) from error
    if not may_write_to(address):
        raise Refused(
            "nobody allowed e-mail to this address",
            found=address[:TARGET_LENGTH],
            exists=settings.EMAIL_TO,
            attempt="the operator sets SMARTCIS_EMAIL_TO",
        )


def allowed(url: str, prefixes: Iterable[str]) -> bool:
    """Returns whether a URL lies below one of the prefixes.

    Law: scheme, host and port are equal as a whole, and the path goes on at a slash; no URL with
    a user, a fragment, a backslash or a dot segment is.
    """
    asked = _split(url)
    return asked is not None and any(_below(asked, prefix) for prefix in prefixes)


def hosts(prefixes: Iterable[str]) -> list[str]:
    """Returns the private addresses that prefixes of URLs name as such: numbers, localhost."""
    named = [parts.hostname or "" for one in prefixes if (parts := _split(one)) is not None]
    return [one for one in named if one == "localhost" or _is_number(one)]


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _below(asked: SplitResult, prefix: str) -> bool:
    given = _split(prefix)
    if given is None or _place(asked) != _place(given):
        return False
    path = given.path.rstrip("/")
    return asked.path == path or asked.path.startswith(f"{path}/")


def _split(url: str) -> SplitResult | None:
    """Takes a URL apart; None where two readers could take it for two things."""
    odd = any(ord(letter) <= ord(" ") or ord(letter) > ord("~") for letter in url)
    if odd or "\\" in url or "#" in url:
        return None
    try:
        parts = urlsplit(url)
        port_known = parts.port is None or parts.port > 0
    except ValueError:
        return None
    dots = {"..", ".", "%2e", "%2e%2e", ".%2e", "%2e."}
    plain = not dots.intersection(parts.path.lower().split("/")) and "%2f" not in url.lower()
    usable = parts.scheme in _PORTS and parts.hostname and "@" not in parts.netloc
    return parts if usable and plain and port_known else None


def _place(parts: SplitResult) -> tuple[str, str, int]:
    return (parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _PORTS[parts.scheme])


def _check_webhook(target: str) -> None:
    prefixes: list[str] = settings.WEBHOOKS
    if not target:
        raise Invalid(
            "a webhook needs an address",
            found="WEBHOOK",
            exists=prefixes,
            attempt="OUTPUT TO WEBHOOK 'https://…'",
        )
    if len(target) > TARGET_LENGTH or not allowed(target, prefixes):
        raise Refused(
            "nobody allowed calls to this address",
            found=target[:TARGET_LENGTH],
            exists=prefixes,
            attempt="the operator sets SMARTCIS_WEBHOOKS",
        )


def _check_alarm(output: Output, compiled: Compiled) -> None:
    if len(output.target) > NAME_LENGTH:
        raise Invalid(
            "the alarm's name is too long",
            found=output.target[:NAME_LENGTH],
            exists=[f"up to {NAME_LENGTH} characters"],
        )
    reads = dict(MaintainedView.objects.values_list("name", "sources"))
    met: set[str] = set()
    waiting = sorted(compiled.sources)
    while waiting:
        name = waiting.pop()
        if name not in met:
            met.add(name)
            waiting += reads.get(name, [])
    if "alarm" in met:
        raise Invalid(
            "an alarm about alarms would raise itself for ever",
            found="alarm",
            attempt="put it out to a webhook",
        )


def outlet_of(query_id: str, owner: Owner) -> Outlet:
    """Returns where a query's changes go.

    Raises:
        NotFound: there is no such query, or its changes go nowhere else.
        Refused: it is somebody else's: where calls go is nobody else's business.
    """
    found = Outlet.objects.select_related("query").filter(pk=query_id).first()
    if found is None:
        raise NotFound(
            f"there is no query {query_id[:40]!r} with an output",
            found=query_id[:40],
            attempt="OUTPUT TO WEBHOOK 'https://…'",
        )
    owner.require_own(found.query)
    return found
