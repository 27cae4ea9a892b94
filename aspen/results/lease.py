"""Lease: of all engines that want to write one store, one may; the others wait or give up.

    string  name:lease    the holder's token, gone `ttl_s` after its last renewal
    string  name:fence    counter; every holder gets a higher number, its fencing token

The lease keeps two engines from *working*; the fencing token, which the store checks at every
write, keeps a holder that slept through its lease from *writing*.
"""

from __future__ import annotations

from typing import cast

from aspen.redis_client import connect

# KEYS lease, fence   ARGV ttl_ms   → token, 0 when somebody else holds it
_ACQUIRE = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], string.format('%d', token), 'PX', ARGV[1])
return token
"""

# KEYS lease, fence   ARGV token, ttl_ms   → 1 while it is ours. A lease that ran out and that
# nobody took since (the fence did not move) is taken again: the server may have been away.
_RENEW = """
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
if not holder and redis.call('GET', KEYS[2]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
"""

_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
"""


class Lease:
    """One contender for the lease of a results store.

    Args:
        url: the Redis server of the store.
        name: the store's name.
        ttl_s: how long the lease outlives its last renewal.
    """

    def __init__(self, url: str, name: str, ttl_s: float) -> None:
        self._redis = connect(url, ttl_s)
        self._keys = [f"{name}:lease", f"{name}:fence"]
        self._ttl_ms = int(ttl_s * 1000)
        self._acquire = self._redis.register_script(_ACQUIRE)
        self._renew = self._redis.register_script(_RENEW)
        self._release = self._redis.register_script(_RELEASE)
        self.token = 0

    def acquire(self) -> bool:
        """Try to become the holder; `token` is then the fencing token."""
        self.token = int(cast("int", self._acquire(keys=self._keys, args=[self._ttl_ms])))
        return self.token > 0

    def renew(self) -> bool:
        """Keep the lease; False when another one has it."""
        return bool(self._renew(keys=self._keys, args=[self.token, self._ttl_ms]))

    def release(self) -> None:
        """Give the lease back if it is still ours."""
        self._release(keys=self._keys, args=[self.token])

    def held_for_s(self) -> float:
        """Give how long the present holder's lease still runs, 0 when it is free."""
        left = self._redis.pttl(self._keys[0])
        return max(left, 0) / 1000
