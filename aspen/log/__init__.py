"""The log: one durable, totally ordered sequence of everything that happens in a building."""

from aspen.log.memory_log import MemoryLog
from aspen.log.redis_log import LogGap, RawEntry, RedisLog

__all__ = ["LogGap", "MemoryLog", "RawEntry", "RedisLog"]
