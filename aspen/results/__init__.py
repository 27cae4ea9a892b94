"""Results: the snapshot store that the engine's sink writes and the live relay reads."""

from aspen.results.async_results import AsyncResults
from aspen.results.redis_results import RedisResults
from aspen.results.wire import EpochsForgotten, FencedOff
