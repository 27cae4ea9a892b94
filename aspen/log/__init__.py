"""The log: one durable, totally ordered sequence of everything that happens in a building."""

from aspen.log.base import Base, LogCompacted, LogGap
from aspen.log.redis_log import RawEntry, RedisLog
