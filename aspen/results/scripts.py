"""The Redis keys and Lua scripts of the snapshot store; each script runs as one atomic step.

    hash    name:results:meta     generation, batch, epoch, floor, position, at_s, fence
    hash    name:results:views    view → {"k": columns, "s"?: complete since, "e"?: error as text}
    hash    name:results:rows:V   row text → weight
    hash    name:results:batches  Spark batch → epoch, the newest 1,000 of this generation
    stream  name:results:epochs   epoch-0 → p, t, c, ms, w; the newest `keep` epochs

`floor` is the oldest epoch from which a reader can follow without missing one.
"""

from __future__ import annotations

# KEYS meta, views, batches, epochs, rows prefix
# ARGV generation, batch, position, at_s, changes, timing, keep, fence
WRITE = """
local meta, views, batches, epochs, rows = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local fence = tonumber(redis.call('HGET', meta, 'fence') or '0')
local mine = tonumber(ARGV[8])
if mine < fence then return redis.error_reply('FENCED ' .. fence) end
if mine > fence then redis.call('HSET', meta, 'fence', ARGV[8]) end

local epoch = tonumber(redis.call('HGET', meta, 'epoch') or '0')
local floor = tonumber(redis.call('HGET', meta, 'floor') or '0')
local batch = tonumber(ARGV[2])
local last = batch - 1
if redis.call('HGET', meta, 'generation') ~= ARGV[1] then
  for _, view in ipairs(redis.call('HKEYS', views)) do redis.call('DEL', rows .. view) end
  redis.call('DEL', views, batches, epochs)
  floor = epoch > 0 and epoch + 1 or 0
else
  local seen = redis.call('HGET', batches, ARGV[2])
  if seen then return tonumber(seen) end
  last = tonumber(redis.call('HGET', meta, 'batch'))
  if batch <= last then return epoch - (last - batch) end
end
epoch = epoch + 1

for _, change in ipairs(cjson.decode(ARGV[5])) do
  local key = rows .. change.v
  if change.x then
    redis.call('DEL', key)
    redis.call('HDEL', views, change.v)
  else
    if change.k or change.e or redis.call('HEXISTS', views, change.v) == 0 then
      local before = redis.call('HGET', views, change.v)
      local definition = before and cjson.decode(before) or {}
      if change.k then definition = {k = change.k, s = change.s} end
      if change.e then definition.e = change.e end
      redis.call('HSET', views, change.v, cjson.encode(definition))
    end
    for i = 1, #change.d, 2 do
      if redis.call('HINCRBY', key, change.d[i], change.d[i + 1]) == 0 then
        redis.call('HDEL', key, change.d[i])
      end
    end
  end
end

local id = string.format('%d', epoch)
local now = redis.call('TIME')
local written = string.format('%.3f', now[1] * 1000 + now[2] / 1000)
redis.call('XADD', epochs, 'MAXLEN', ARGV[7], id .. '-0',
           'p', ARGV[3], 't', ARGV[4], 'c', ARGV[5], 'ms', ARGV[6], 'w', written)
floor = math.max(floor, epoch - tonumber(ARGV[7]))
redis.call('HSET', batches, ARGV[2], id)
-- All since the last one: batches that became no epoch leave gaps.
for old = last - 999, batch - 1000 do redis.call('HDEL', batches, string.format('%d', old)) end
redis.call('HSET', meta, 'generation', ARGV[1], 'batch', ARGV[2], 'epoch', id,
           'floor', string.format('%d', floor), 'position', ARGV[3], 'at_s', ARGV[4],
           'written_ms', written)
return epoch
"""

# KEYS meta, batches   ARGV old generation, position, new generation, batch, fence
HAND_OVER = """
local meta, batches = KEYS[1], KEYS[2]
local fence = tonumber(redis.call('HGET', meta, 'fence') or '0')
if tonumber(ARGV[5]) < fence then return redis.error_reply('FENCED ' .. fence) end
local found = redis.call('HMGET', meta, 'generation', 'position')
if found[1] == ARGV[3] then return 0 end
if found[1] ~= ARGV[1] or tonumber(found[2]) ~= tonumber(ARGV[2]) then
  return redis.error_reply('ELSEWHERE ' .. (found[1] or '') .. ' ' .. (found[2] or '0'))
end
redis.call('DEL', batches)
redis.call('HSET', meta, 'generation', ARGV[3], 'batch', ARGV[4], 'fence', ARGV[5])
return 1
"""

# KEYS meta, views, rows prefix   ARGV views…
# → [[epoch, position, at_s], [definition or false, [row, weight, …]]…]
SNAPSHOTS = """
local meta = redis.call('HMGET', KEYS[1], 'epoch', 'position', 'at_s')
local out = {{meta[1] or '0', meta[2] or '0', meta[3] or '0'}}
for _, view in ipairs(ARGV) do
  local definition = redis.call('HGET', KEYS[2], view)
  if definition then
    out[#out + 1] = {definition, redis.call('HGETALL', KEYS[3] .. view)}
  else
    out[#out + 1] = {false, {}}
  end
end
return out
"""

# KEYS meta, epochs   ARGV after, count   → [epoch, floor, entries]
SINCE = """
local meta = redis.call('HMGET', KEYS[1], 'epoch', 'floor')
local epoch, floor = tonumber(meta[1] or '0'), tonumber(meta[2] or '0')
local after = tonumber(ARGV[1])
if after >= epoch or after < floor then return {epoch, floor, {}} end
local first = string.format('(%d-0', after)
return {epoch, floor, redis.call('XRANGE', KEYS[2], first, '+', 'COUNT', ARGV[2])}
"""


class ResultKeys:
    """The key names of one store."""

    def __init__(self, name: str) -> None:
        self.meta = f"{name}:results:meta"
        self.views = f"{name}:results:views"
        self.rows = f"{name}:results:rows:"
        self.batches = f"{name}:results:batches"
        self.epochs = f"{name}:results:epochs"
