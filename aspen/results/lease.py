"""Lease: of all engines that want to write one store, one may; the others wait or give up.

    string  name:lease    "token host:pid" of the holder, gone `ttl_s` after its last renewal
    string  name:fence    counter; every holder gets a higher number, its fencing token

The lease keeps two engines from *working*; the fencing token, which the store checks at every
write, keeps a holder that slept through its lease from *writing*.
"""

from __future__ import annotations

import os
import socket
from typing import cast

from aspen.redis_client import connect

# KEYS lease, fence   ARGV ttl_ms, process   → token, 0 when somebody else holds it
_ACQUIRE = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], string.format('%d %s', token, ARGV[2]), 'PX', ARGV[1])
return token
"""

# KEYS lease, fence   ARGV ttl_ms, process, token   → 1 while it is ours. A lease that ran out and
# that nobody took since (the fence did not move) is taken again: the server may have been away.
_RENEW = """
local mine = ARGV[3] .. ' ' .. ARGV[2]
local holder = redis.call('GET', KEYS[1])
if holder == mine or (not holder and redis.call('GET', KEYS[2]) == ARGV[3]) then
  redis.call('SET', KEYS[1], mine, 'PX', ARGV[1])
  return 1
end
return 0
"""

# KEYS lease   ARGV process   → 1 when that process held it
_BREAK = """
local holder = redis.call('GET', KEYS[1])
if holder and string.match(holder, ' (.*)$') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
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
        self._break = self._redis.register_script(_BREAK)
        self.token = 0

    def acquire(self) -> bool:
        """Try to become the holder; `token` is then the fencing token."""
        arguments: list[int | str] = [self._ttl_ms, process_name(os.getpid())]
        self.token = int(cast("int", self._acquire(keys=self._keys, args=arguments)))
        return self.token > 0

    def renew(self) -> bool:
        """Keep the lease; False when another one has it."""
        arguments: list[int | str] = [self._ttl_ms, process_name(os.getpid()), self.token]
        return bool(self._renew(keys=self._keys, args=arguments))

    def release(self) -> None:
        """Returns the lease back if it is still ours."""
        self.break_of(os.getpid())

    def break_of(self, pid: int) -> bool:
        """Take the lease from a process of this host that is known to be dead."""
        return bool(self._break(keys=self._keys[:1], args=[process_name(pid)]))

    def holder(self) -> str:
        """Returns the name of the process that holds it, empty when it is free."""
        held = cast("bytes | None", self._redis.get(self._keys[0])) or b""
        return held.decode().partition(" ")[2]

    def held_for_s(self) -> float:
        """Returns how long the present holder's lease still runs, 0 when it is free."""
        left = self._redis.pttl(self._keys[0])
        return max(left, 0) / 1000


def process_name(pid: int) -> str:
    """Returns a process's name among all hosts."""
    return f"{socket.gethostname()}:{pid}"
