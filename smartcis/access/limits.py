"""Limits: how much one may do in a minute and hold at once, by account, browser, address, in all.

    visitor   browser ─┐                  without a cookie, all of an address are one browser
              address ─┼─ all, or none:   a refusal by one bound counts nowhere
              in all ──┘
    account   account (or token), in all  known people do not suffer from their neighbours
    staff     account, of rates           whoever mends the building is not locked out of it

Counted in Redis, each bound of a request in one script: two requests cannot both take the last
place, whichever server process they reach.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import redis
import structlog
from django.conf import settings

from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.errors import LimitReached

PER_S = 60.0
LEASE_S = 180.0
"""What a process holds and does not renew is free again after this: it may have been killed."""

BUSY_RETRY_S = 30.0  # until somebody else gives something back; nobody knows
SCOPES = {
    "account": "your account",
    "browser": "this browser",
    "address": "your address",
    "all": "everybody together",
}
logger = structlog.get_logger(__name__)

# What is counted is of this minute, or is said again within three: it goes into no append-only
# file, so that no request waits for a disk.
UNWRITTEN = """
redis.replicate_commands()
redis.set_repl(redis.REPL_NONE)
"""

# A bucket is the time at which it will be empty again; what is spent moves that on.
SPEND = """
local now = redis.call('TIME')
now = now[1] * 1000 + now[2] / 1000
local empty_at = {}
for i, key in ipairs(KEYS) do
  local from = math.max(tonumber(redis.call('GET', key) or 0), now)
  empty_at[i] = from + ARGV[1] * ARGV[3] / ARGV[3 + i]
  local over_ms = empty_at[i] - now - ARGV[3]
  if over_ms > 0 and ARGV[2] == '0' then return {i, math.ceil(over_ms)} end
end
if tonumber(ARGV[1]) == 0 then return {0, 0} end
for i, key in ipairs(KEYS) do
  if empty_at[i] > now then
    redis.call('SET', key, string.format('%.3f', empty_at[i]), 'PX', math.ceil(empty_at[i] - now))
  end
end
return {0, 0}
"""

# Of each bound a hash (holder → amount, and the sum under '') and when each holder's lease ends.
HOLD = """
local now, wanted = tonumber(redis.call('TIME')[1]), tonumber(ARGV[2])
for i = 1, #KEYS, 2 do
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[i + 1], '-inf', now)) do
    redis.call('HINCRBY', KEYS[i], '', -(redis.call('HGET', KEYS[i], gone) or 0))
    redis.call('HDEL', KEYS[i], gone)
    redis.call('ZREM', KEYS[i + 1], gone)
  end
  local held = tonumber(redis.call('HGET', KEYS[i], ARGV[1]) or 0)
  local sum = tonumber(redis.call('HGET', KEYS[i], '') or 0)
  local most = tonumber(ARGV[4 + (i - 1) / 2])
  if wanted > held and sum - held + wanted > most then return {(i + 1) / 2, sum} end
end
for i = 1, #KEYS, 2 do
  local held = tonumber(redis.call('HGET', KEYS[i], ARGV[1]) or 0)
  redis.call('HINCRBY', KEYS[i], '', wanted - held)
  if wanted > 0 then
    redis.call('HSET', KEYS[i], ARGV[1], wanted)
    redis.call('ZADD', KEYS[i + 1], now + ARGV[3], ARGV[1])
  else
    redis.call('HDEL', KEYS[i], ARGV[1])
    redis.call('ZREM', KEYS[i + 1], ARGV[1])
  end
  redis.call('EXPIRE', KEYS[i], ARGV[3] * 2)
  redis.call('EXPIRE', KEYS[i + 1], ARGV[3] * 2)
end
return {0, 0}
"""


@dataclass(frozen=True, slots=True)
class LimitScope:
    """One of the limits that hold for one person.

    Args:
        scope: account, browser, address or all.
        key: which account, browser or address.
        at_most: in a minute, or at once.
    """

    scope: str
    key: str
    at_most: int

    def name(self, kind: str) -> str:
        """Returns the bound's name in Redis; it gives no browser's token away."""
        key = hashlib.blake2s(self.key.encode(), digest_size=12).hexdigest()
        return f"{settings.NAME}:limits:{kind}:{self.scope}:{key}"


def bounds(limits: Mapping[str, int], owner: Owner, *, held: bool = False) -> list[LimitScope]:
    """Returns the bounds that hold for somebody, the narrowest first.

    Args:
        limits: how much by scope; 0 for any.
        held: whether of what is held at once, of which staff may have any number.
    """
    if owner.staff:
        scopes = {} if held or owner.user_id is None else {"account": str(owner.user_id)}
    elif owner.token is not None:
        scopes = {"account": f"token {owner.token.pk}", "all": "all"}
    elif owner.user_id is not None:
        scopes = {"account": str(owner.user_id), "all": "all"}
    else:
        browser = owner.browser or f"none at {owner.address}"
        scopes = {"browser": browser, "address": owner.address, "all": "all"}
    return [
        LimitScope(scope, key, limits[scope])
        for scope, key in scopes.items()
        if key and limits.get(scope)
    ]


def spend(kind: str, owner: Owner, amount: float = 1.0, *, afterwards: bool = False) -> None:
    """Takes so much of what somebody may do in a minute: all at once, or a little all the time.

    Args:
        kind: a name of `settings.RATES`.
        amount: 0 to see whether anything is left.
        afterwards: it has been done already, and is only counted.

    Raises:
        LimitReached: that would be too much; nothing was taken.
    """
    spend_under(kind, bounds(settings.RATES[kind], owner), amount, afterwards=afterwards)


def spend_under(
    kind: str, limits: Sequence[LimitScope], amount: float = 1.0, *, afterwards: bool = False
) -> None:
    """Takes as `spend` does, under bounds of one's own.

    Raises:
        LimitReached: that would be too much; nothing was taken.
    """
    limits = [bound for bound in limits if bound.at_most]
    if not limits:
        return
    args = [amount, int(afterwards), PER_S * 1e3, *(bound.at_most for bound in limits)]
    ((which, wait_ms),) = _run(SPEND, [([bound.name(kind) for bound in limits], args)])
    if which:
        refuse(f"too many {kind} in a minute", limits, which - 1, wait_ms / 1e3, "a minute")


def left(kind: str, limits: Sequence[LimitScope]) -> int:
    """Returns how much of a kind may still be done right now under some bounds."""
    try:
        found = composition.server().mget([bound.name(kind) for bound in limits])
    except redis.RedisError:
        return min(bound.at_most for bound in limits)
    now_s = time.time()
    empty_in_s = [max(0.0, float(at_ms or 0) / 1e3 - now_s) for at_ms in cast("list[Any]", found)]
    shares = [max(0.0, 1 - wait_s / PER_S) for wait_s in empty_in_s]
    return min(
        int(share * bound.at_most + 1e-6) for share, bound in zip(shares, limits, strict=True)
    )


def hold(kind: str, owner: Owner, holder: str, amount: int) -> None:
    """Says how much of a kind somebody has from now on; said again before `LEASE_S` are over.

    Args:
        kind: a name of `settings.QUOTAS`.
        holder: what has it, e.g. one socket.
        amount: in all; 0 gives everything back.

    Raises:
        LimitReached: that would be too much; what was held before still is.
    """
    hold_each({kind: amount}, owner, holder)


def hold_each(amounts: Mapping[str, int], owner: Owner, holder: str) -> None:
    """Says how much of several kinds somebody has, as `hold` does, in one turn of Redis.

    Raises:
        LimitReached: of the first kind of which that would be too much; the others are held.
    """
    bounded = {kind: bounds(settings.QUOTAS[kind], owner, held=True) for kind in amounts}
    bounded = {kind: limits for kind, limits in bounded.items() if limits}
    calls = [
        (
            # Of a kind that has a rate, too, the bound's own name is the rate's.
            [f"{bound.name(kind)}:{part}" for bound in limits for part in ("held", "until")],
            [holder, amounts[kind], int(LEASE_S), *(bound.at_most for bound in limits)],
        )
        for kind, limits in bounded.items()
    ]
    for (kind, limits), (which, _) in zip(bounded.items(), _run(HOLD, calls), strict=True):
        if which:
            refuse(f"too many {kind} at once", limits, which - 1, BUSY_RETRY_S, "at once")


def refuse(
    message: str, limits: Sequence[LimitScope], which: int, retry_s: float, when: str
) -> NoReturn:
    """Refuses because of one of several bounds, and tells all of them.

    Raises:
        LimitReached: always.
    """
    raise LimitReached(
        f"{message} from {SCOPES[limits[which].scope]}",
        retry_s=retry_s,
        found=f"{limits[which].at_most} already",
        exists=[f"up to {one.at_most} {when} for {SCOPES[one.scope]}" for one in limits],
        attempt=f"again in {math.ceil(retry_s)} s",
    )


def _run(script: str, calls: Sequence[tuple[list[str], list[Any]]]) -> list[tuple[int, int]]:
    """Runs a script with each of several keys and arguments.

    While Redis is away nothing is refused: what costs something needs it, too.
    """
    try:
        server = composition.server()
        registered = server.register_script(UNWRITTEN + script)
        if len(calls) == 1:  # a pipeline asks first whether Redis knows the script
            ((keys, args),) = calls
            found: list[Any] = [registered(keys=keys, args=args)]
        else:
            with server.pipeline(transaction=False) as pipeline:
                for keys, args in calls:
                    registered(keys=keys, args=args, client=pipeline)
                found = pipeline.execute()
    except redis.RedisError as error:
        logger.warning("limits not counted", reason=str(error))
        return [(0, 0)] * len(calls)
    return [(int(which), int(wait_ms)) for which, wait_ms in found]
