-- Decides requests for permits, each atomically, several in one call.
--
-- How is this designed, and why? One value holds all that is known of a key: a section for each
-- shape (algorithm and window) under which the key was asked lately, nearly always one. A section
-- is an array: the shape, when it was last asked under (only kept beside others), and the state,
-- as the meters below have it. Whoever asks under a shape that the key does not have yet finds a
-- section made of what the others know; whatever is admitted is recorded in all of them. So
-- processes may have different revisions of the rules in force, and no change mints permits.
--
-- Time is Redis's own, in integer microseconds, and never goes back for a key: an older time than
-- that of its latest charge is decided at that one's. Every number is an integer of at most 2^53,
-- so doubles are exact. Every rounding denies. A value expires when it says no more than no value.
--
-- All keys are read first and written last, so that an error in between changes nothing.
--
-- KEYS     the keys that are asked for, each once
-- ARGV[1]  MessagePack, one array of numbers:
--            now in microseconds, or NO_TIME for Redis's own (any other is for tests: nothing expires)
--            how many policies, then for each: algorithm, window, detail, more detail,
--              permits of the quota, burst, emission interval, tolerance
--            then the requests, each beginning with its kind:
--              ASK    how many charges, whether to look only, how long it may wait or NOT_QUEUED,
--                     then for each charge: key, policy, permits, role
--              SOME   key, policy, permits, count: as often as fits, at most count times
--              RECORD key, policy, permits: admitted already, to be counted whether they fit or not
--              REFUND key, policy, permits, instant charged, reset instant, its nanoseconds
-- Returns  MessagePack, one array of numbers: the time, then for each
--              ASK    1 or 0 for the whole, then for each charge a result
--              SOME   how often it fitted, then a result
--              RECORD a result
--              REFUND how many permits were given back
--          A result: its code, remaining, wait or retry-after (-1: never), reset-after, its
--          nanoseconds, the instant for which it counts. Times are microseconds.

local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
local spread, pack, unpack = unpack, struct.pack, struct.unpack

local NO_TIME = -9007199254740992
local NOT_QUEUED = -1
local ASK, SOME, RECORD, REFUND = 1, 2, 3, 4
local REQUIRED, ANY, OPTIONAL = 0, 1, 2
local FITS, OVER_LIMIT, INVALID, UNCERTAIN = 0, 1, 2, 3
local LOG, COUNTER, FIXED, TOKEN, LEAKY, LONG_TOKEN, LONG_LEAKY = 1, 2, 3, 4, 5, 6, 7

-- Of a section, and the first ones also of a policy.
local ALGORITHM, WINDOW, DETAIL, MORE, ASKED = 1, 2, 3, 4, 5
-- Of a policy.
local LIMIT, BURST, EMISSION, TOLERANCE = 5, 6, 7, 8

local LONG_AGO = -4611686018427387
local MOST_SECTIONS = 16
local MOST_ENTRY_BYTES = 32768
local MOST_PERMITS = 1099511627775

-- A meter whose state has the instant of the latest charge: LAST, and whether that lay ahead.
local LAST, AHEAD = 6, 7

local function effective(s, now)
  return s[AHEAD] == 1 and now or max(now, s[LAST])
end

local function stamp(s, now, at)
  if at >= s[LAST] then
    s[LAST] = at
    s[AHEAD] = at > now and 1 or 0
  end
end

-- Returns a * b / c, rounded down or up, where the product may exceed 2^53: b and c at most 2^45.
local function muldiv(a, b, c, up)
  if a * b < 9007199254740992 then
    return up and ceil(a * b / c) or floor(a * b / c)
  end
  local quotient, remainder = 0, 0
  for shift = 35, 0, -7 do
    local chunk = floor(a / 2 ^ shift) % 128
    local partial = remainder * 128 + chunk * b
    quotient = quotient * 128 + floor(partial / c)
    remainder = partial % c
  end
  return quotient + (up and remainder > 0 and 1 or 0)
end

-- Sliding-window log, and buckets: the log of granules. DETAIL is the granule's length. Entries are
-- packed, the oldest first, each with its distance in granules to the next and its permits if they
-- are not 1; the newest stands in NEWEST. Beyond MOST_ENTRY_BYTES neighbours are merged into the
-- later instant, which can only deny.
local log = {}
do
  local OLDEST, TOTAL, NEWEST, ENTRIES = 8, 9, 10, 11
  local WIDE_BYTES = 5
  local THINNING = 8

  function log.fresh(s)
    s[LAST], s[AHEAD], s[OLDEST], s[TOTAL], s[NEWEST], s[ENTRIES] = LONG_AGO, 0, 0, 0, 0, ''
  end

  log.effective = effective

  local function granule(s, at)
    return floor(at / s[DETAIL])
  end

  local function last_instant(s, index)
    return index * s[DETAIL] + s[DETAIL] - 1
  end

  -- Returns the oldest granule that counts at an instant.
  local function cut(s, at)
    return granule(s, at - s[WINDOW] + 1)
  end

  -- Returns how an entry's distance is packed: the format, its bytes, and the mark of a wide entry.
  local function coding(s)
    local most = 4 * (ceil(s[WINDOW] / s[DETAIL]) + 2)
    local bytes = 1
    while most >= 2 ^ (8 * bytes - 1) do
      bytes = bytes + 1
    end
    return '>I' .. bytes, bytes, 2 ^ (8 * bytes - 1)
  end

  -- Calls visit(index, permits) for each entry, the oldest first, until it returns true. Returns
  -- the index of the first entry that was not passed, and where it begins.
  local function walk(s, visit)
    local entries, index, from = s[ENTRIES], s[OLDEST], 1
    local format, bytes, wide = coding(s)
    while from <= #entries do
      local distance = unpack(format, entries, from)
      local permits, next = 1, from + bytes
      if distance >= wide then
        distance = distance - wide
        permits = unpack('>I5', entries, next)
        next = next + WIDE_BYTES
      end
      if visit(index, permits) then
        return index, from
      end
      index = index + distance
      from = next
    end
    return index, from
  end

  local function push(s, permits, distance)
    local format, _, wide = coding(s)
    s[ENTRIES] = s[ENTRIES] .. (permits == 1 and pack(format, distance)
        or pack(format, distance + wide) .. pack('>I5', permits))
  end

  local append

  -- Rebuilds the state from (index, permits) pairs; the newest keeps its stamp.
  local function rebuild(s, kept)
    local last, ahead = s[LAST], s[AHEAD]
    log.fresh(s)
    for i = 1, #kept do
      append(s, last_instant(s, kept[i][1]), kept[i][2], 0)
    end
    return last, ahead
  end

  local function thin(s)
    local merged, kept, count = 0, {}, 0
    local index = walk(s, function(index, permits)
      merged, count = merged + permits, count + 1
      if count % THINNING == 0 then
        kept[#kept + 1] = {index, merged}
        merged = 0
      end
    end)
    kept[#kept + 1] = {index, merged + s[NEWEST]}
    s[LAST], s[AHEAD] = rebuild(s, kept)
  end

  -- Moves the newest entry, which has no permits any more, away from the one before it.
  local function lengthen(s, granules)
    local kept, before = {}, nil
    local newest = walk(s, function(index, permits)
      kept[#kept + 1] = {index, permits}
    end)
    before = kept[#kept]
    kept[#kept] = nil
    s[ENTRIES] = ''
    for i = 1, #kept do
      push(s, kept[i][2], (kept[i + 1] or before)[1] - kept[i][1])
    end
    push(s, before[2], newest - before[1] + granules)
  end

  function append(s, wanted, permits, ahead)
    local older = wanted < s[LAST]
    local at = older and s[LAST] or wanted
    local distance = granule(s, at) - granule(s, s[LAST])
    local before = s[NEWEST]
    if before == 0 and s[ENTRIES] == '' then
      s[OLDEST] = granule(s, at)
    elseif before == 0 then
      if distance > 0 then
        lengthen(s, distance)
      end
    elseif distance > 0 then
      push(s, before, distance)
      before = 0
    end
    local counted = min(permits, MOST_PERMITS - before)
    s[AHEAD] = older and s[AHEAD] or ahead
    s[LAST] = at
    s[NEWEST] = before + counted
    s[TOTAL] = s[TOTAL] + counted
    if #s[ENTRIES] > MOST_ENTRY_BYTES then
      thin(s)
    end
  end

  local function trim(s, oldest)
    if s[OLDEST] >= oldest then
      return
    end
    if granule(s, s[LAST]) < oldest then
      s[TOTAL], s[NEWEST], s[ENTRIES] = 0, 0, ''
      return
    end
    local gone = 0
    local index, from = walk(s, function(index, permits)
      if index >= oldest then
        return true
      end
      gone = gone + permits
    end)
    s[OLDEST] = index
    s[TOTAL] = s[TOTAL] - gone
    s[ENTRIES] = s[ENTRIES]:sub(from)
  end

  local function counted(s, at)
    local oldest = cut(s, at)
    if granule(s, s[LAST]) < oldest then
      return 0
    end
    local sum = s[TOTAL]
    walk(s, function(index, permits)
      if index >= oldest then
        return true
      end
      sum = sum - permits
    end)
    return sum
  end

  function log.wait(s, now, permits, p)
    local at = max(now, s[LAST])
    local oldest, newest = cut(s, at), granule(s, s[LAST])
    if newest < oldest then
      return at - now
    end
    local over = s[TOTAL] + permits - p[LIMIT]
    if over <= 0 then
      return at - now
    end
    local fits
    walk(s, function(index, charged)
      if index >= oldest and over <= 0 then
        fits = at
        return true
      end
      over = over - charged
      if index >= oldest and over <= 0 then
        fits = last_instant(s, index) + s[WINDOW]
        return true
      end
    end)
    return (fits or over <= 0 and at or last_instant(s, newest) + s[WINDOW]) - now
  end

  log.queue = log.wait

  function log.charge(s, now, wait, permits)
    trim(s, cut(s, now))
    append(s, now + wait, permits, wait > 0 and 1 or 0)
  end

  function log.force(s, now, at, permits)
    trim(s, cut(s, now))
    append(s, at, permits, at > now and 1 or 0)
  end

  function log.refund(s, now, permits, at)
    local wanted, newest = granule(s, at), granule(s, s[LAST])
    if wanted < cut(s, now) then
      return 0
    end
    if wanted == newest then
      local given = min(permits, s[NEWEST])
      if given == 0 then
        return 0
      end
      if given < s[NEWEST] or s[LAST] <= now then
        s[NEWEST], s[TOTAL] = s[NEWEST] - given, s[TOTAL] - given
        return given
      end
      -- The last reservation is cancelled: nobody needs to queue behind it any more, but behind
      -- the one before it.
      local kept = {}
      walk(s, function(index, charged)
        kept[#kept + 1] = {index, charged}
      end)
      rebuild(s, kept)
      if granule(s, s[LAST]) > granule(s, now) then
        s[AHEAD] = 1
      elseif #kept == 0 then
        s[LAST], s[AHEAD] = now, 0
      else
        local behind = granule(s, now) - granule(s, s[LAST])
        if behind > 0 then
          append(s, now, 1, 0)
          s[NEWEST], s[TOTAL] = s[NEWEST] - 1, s[TOTAL] - 1
        end
        s[LAST], s[AHEAD] = now, 0
      end
      return given
    end
    local kept, given = {}, 0
    walk(s, function(index, charged)
      if index == wanted then
        given = min(permits, charged)
        charged = charged - given
      end
      if charged > 0 then
        kept[#kept + 1] = {index, charged}
      end
    end)
    if given == 0 then
      return 0
    end
    local permits_now, index = s[NEWEST], newest
    local last, ahead = rebuild(s, kept)
    append(s, last_instant(s, index), max(1, permits_now), 0)
    if permits_now == 0 then
      s[NEWEST], s[TOTAL] = s[NEWEST] - 1, s[TOTAL] - 1
    end
    s[LAST], s[AHEAD] = last, ahead
    return given
  end

  function log.remaining(s, now, p)
    if s[LAST] > now then
      return 0
    end
    return max(0, p[LIMIT] - counted(s, now))
  end

  function log.rested(s)
    return last_instant(s, granule(s, s[LAST])) + s[WINDOW], 0
  end

  function log.outline(s, now, charged)
    local oldest = cut(s, now)
    local index = walk(s, function(index, permits)
      if index >= oldest then
        charged(min(last_instant(s, index), s[LAST]), permits)
      end
    end)
    if index >= oldest and s[NEWEST] > 0 then
      charged(s[LAST], s[NEWEST])
    end
  end
end

-- Sliding-window counter: hits in this window plus the covered share of the previous one's.
local counter = {}
do
  local CURRENT, PREVIOUS = 8, 9

  function counter.fresh(s)
    s[LAST], s[AHEAD], s[CURRENT], s[PREVIOUS] = LONG_AGO, 0, 0, 0
  end

  counter.effective = effective

  local function index_of(s, at)
    return floor(at / s[WINDOW])
  end

  -- Returns the hits as they read in a window not before the latest.
  local function hits(s, index)
    local later = index - index_of(s, s[LAST])
    if later == 0 then
      return s[CURRENT], s[PREVIOUS]
    end
    return 0, later == 1 and s[CURRENT] or 0
  end

  -- Returns the most of the previous window that may be covered so that its share is in the room.
  local function covered(s, room, previous)
    return previous <= room and s[WINDOW] or muldiv(room, s[WINDOW], previous, false)
  end

  function counter.wait(s, now, permits, p)
    local at = max(now, s[LAST])
    local index = index_of(s, at)
    local current, previous = hits(s, index)
    local room = p[LIMIT] - permits - current
    if room >= 0 then
      return max(at, (index + 1) * s[WINDOW] - covered(s, room, previous)) - now
    end
    return (index + 2) * s[WINDOW] - covered(s, p[LIMIT] - permits, current) - now
  end

  counter.queue = counter.wait

  local function count(s, now, at, permits)
    local current, previous = hits(s, index_of(s, max(at, s[LAST])))
    s[CURRENT], s[PREVIOUS] = min(MOST_PERMITS, current + permits), previous
    stamp(s, now, at)
  end

  function counter.charge(s, now, wait, permits)
    count(s, now, now + wait, permits)
  end

  counter.force = count

  function counter.refund(s, now, permits, at)
    local index = index_of(s, at)
    local age = index_of(s, s[LAST]) - index
    if age < 0 or age > 1 or index_of(s, now) - index > 1 then
      return 0
    end
    local which = age == 0 and CURRENT or PREVIOUS
    local given = min(permits, s[which])
    s[which] = s[which] - given
    return given
  end

  function counter.remaining(s, now, p)
    if s[LAST] > now then
      return 0
    end
    local index = index_of(s, now)
    local current, previous = hits(s, index)
    local left = (index + 1) * s[WINDOW] - now
    return max(0, p[LIMIT] - current - muldiv(previous, left, s[WINDOW], true))
  end

  function counter.rested(s)
    return (index_of(s, s[LAST]) + (s[CURRENT] > 0 and 2 or 1)) * s[WINDOW], 0
  end

  function counter.outline(s, now, charged)
    if s[PREVIOUS] > 0 then
      charged(index_of(s, s[LAST]) * s[WINDOW] - 1, s[PREVIOUS])
    end
    if s[CURRENT] > 0 then
      charged(s[LAST], s[CURRENT])
    end
  end
end

-- Fixed window: one counter. DETAIL is 1 where windows start at their first request.
local fixed = {}
do
  local COUNT, START = 8, 9

  function fixed.fresh(s)
    s[LAST], s[AHEAD], s[COUNT] = LONG_AGO, 0, 0
    if s[DETAIL] == 1 then
      s[START] = LONG_AGO
    end
  end

  fixed.effective = effective

  local function aligned(s, at)
    return floor(at / s[WINDOW]) * s[WINDOW]
  end

  -- Returns the start of the window that is counted.
  local function counted(s)
    return s[DETAIL] == 1 and s[START] or aligned(s, s[LAST])
  end

  local function holds(s, at)
    local start = counted(s)
    return at >= start and start > at - s[WINDOW]
  end

  -- Returns the start of the window that an instant falls into.
  local function start_at(s, at)
    if s[DETAIL] == 0 then
      return aligned(s, at)
    end
    return holds(s, at) and s[START] or at
  end

  function fixed.wait(s, now, permits, p)
    local from = counted(s)
    local start = max(start_at(s, now), from)
    local fits = start > from or s[COUNT] + permits <= p[LIMIT]
    return max(0, (fits and start or start + s[WINDOW]) - now)
  end

  fixed.queue = fixed.wait

  local function count(s, now, at, permits)
    local start = start_at(s, at)
    if start > counted(s) then
      s[COUNT] = 0
      if s[DETAIL] == 1 then
        s[START] = start
      end
    end
    s[COUNT] = min(MOST_PERMITS, s[COUNT] + permits)
    stamp(s, now, at)
  end

  function fixed.charge(s, now, wait, permits)
    count(s, now, now + wait, permits)
  end

  fixed.force = count

  function fixed.refund(s, now, permits, at)
    if not (holds(s, at) and counted(s) > now - s[WINDOW]) then
      return 0
    end
    local given = min(permits, s[COUNT])
    s[COUNT] = s[COUNT] - given
    return given
  end

  function fixed.remaining(s, now, p)
    local from, start = counted(s), start_at(s, now)
    if start > from then
      return p[LIMIT]
    end
    return start < from and 0 or max(0, p[LIMIT] - s[COUNT])
  end

  function fixed.rested(s)
    return counted(s) + s[WINDOW], 0
  end

  function fixed.outline(s, now, charged)
    if s[COUNT] > 0 and now < counted(s) + s[WINDOW] then
      charged(s[LAST], s[COUNT])
    end
  end
end

-- Token and leaky bucket: the generic cell rate algorithm over the theoretical arrival time, in
-- ticks of a nanosecond; of a microsecond for the LONG ones, whose full bucket is worth more than
-- 2^52 nanoseconds.
-- DETAIL and MORE are the emission interval and the burst of a bucket with its own burst, else 0.
local bucket = {}
do
  -- The arrival time and its nanoseconds; the largest limit that may still matter, and when another
  -- was asked for instead; charges with a reset up to BARRED keep their permits.
  local TAT, NANOS, WIDEST, NARROWED, BARRED, BARRED_NANOS = 6, 7, 8, 9, 10, 11
  local MOST_TICKS = 4503599627370496

  local function tick_per_micro(s)
    return s[ALGORITHM] >= LONG_TOKEN and 1 or 1000
  end

  local function leaky(s)
    return s[ALGORITHM] == LEAKY or s[ALGORITHM] == LONG_LEAKY
  end

  function bucket.fresh(s)
    s[TAT], s[NANOS], s[WIDEST], s[NARROWED], s[BARRED], s[BARRED_NANOS] = LONG_AGO, 0, 0, 0, 0, 0
  end

  -- A clock further behind than a bucket can be full is taken to be no further.
  function bucket.effective(s, now)
    return max(now, s[TAT] - floor(MOST_TICKS / tick_per_micro(s)))
  end

  local function ticks(s, from, at, nanos)
    return max(0, tick_per_micro(s) == 1 and at - from or (at - from) * 1000 + nanos)
  end

  local function backlog(s, now)
    return ticks(s, now, s[TAT], s[NANOS])
  end

  local function full_in(s, now, backlog)
    local per = tick_per_micro(s)
    s[TAT] = now + floor(backlog / per)
    s[NANOS] = per == 1 and 0 or backlog % per
  end

  local function micros(s, ticks)
    return ceil(ticks / tick_per_micro(s))
  end

  local function emission(s, limit)
    if s[DETAIL] > 0 then
      return s[DETAIL]
    end
    return limit == 0 and 0 or ceil(s[WINDOW] * tick_per_micro(s) / limit)
  end

  function bucket.wait(s, now, permits, p)
    return micros(s, max(0, p[EMISSION] * permits - (p[TOLERANCE] - backlog(s, now))))
  end

  function bucket.queue(s, now, permits, p)
    local wait = bucket.wait(s, now, permits, p)
    if not leaky(s) then
      return wait
    end
    return wait > 0 and huge or micros(s, backlog(s, now))
  end

  function bucket.charge(s, now, _, permits, p)
    full_in(s, now, backlog(s, now) + p[EMISSION] * permits)
    if p[LIMIT] >= s[WIDEST] then
      s[WIDEST], s[NARROWED] = p[LIMIT], 0
    elseif s[NARROWED] == 0 then
      s[NARROWED] = now
    elseif now - s[NARROWED] > 2 * s[WINDOW] then
      s[WIDEST], s[NARROWED] = p[LIMIT], 0
    end
  end

  -- What another algorithm admitted costs as under the smaller of the two limits.
  function bucket.force(s, _, at, permits, p)
    local cost = emission(s, s[WIDEST])
    local full = s[DETAIL] > 0 and s[DETAIL] * s[MORE] or cost * s[WIDEST]
    if s[DETAIL] == 0 then
      cost = max(cost, p[LIMIT] == 0 and 0 or emission(s, p[LIMIT]) + 1)
      full = max(full, s[WINDOW] * tick_per_micro(s))
    end
    local before = backlog(s, at)
    local added = (cost == 0 or permits >= full / cost) and full or cost * permits
    local after = min(before + added, full)
    if after > before then
      full_in(s, at, after)
    end
  end

  local function before(at, nanos, than, than_nanos)
    return at < than or at == than and nanos < than_nanos
  end

  function bucket.refund(s, now, permits, _, reset, nanos, p)
    local cost = p[EMISSION]
    local others = before(reset, nanos, s[TAT], s[NANOS])
    if cost == 0 or before(s[TAT], s[NANOS], reset, nanos) or reset <= now
        or not before(s[BARRED], s[BARRED_NANOS], reset, nanos) then
      return 0
    end
    local backlog = backlog(s, now)
    if others and (leaky(s) or backlog > p[TOLERANCE]) then
      return 0
    end
    local given = min(permits, p[BURST], floor(ticks(s, now, reset, nanos) / cost))
    if given > 0 then
      if others then
        s[BARRED], s[BARRED_NANOS] = s[TAT], s[NANOS]
      end
      full_in(s, now, backlog - given * cost)
    end
    return given
  end

  function bucket.remaining(s, now, p)
    if p[EMISSION] == 0 then
      return 0
    end
    return max(0, floor((p[TOLERANCE] - backlog(s, now)) / p[EMISSION]))
  end

  -- Returns how long a full bucket takes to rest, at most.
  function bucket.drain(s)
    return micros(s, s[DETAIL] * s[MORE]) + s[WINDOW] + 4294968
  end

  function bucket.rested(s)
    return s[TAT], s[NANOS]
  end

  function bucket.outline(s, now, charged)
    local cost = emission(s, s[WIDEST])
    local used = backlog(s, now)
    if used > 0 and cost > 0 then
      charged(now, ceil(used / cost))
    end
  end
end

local meters = {[LOG] = log, [COUNTER] = counter, [FIXED] = fixed, [TOKEN] = bucket, [LEAKY] = bucket,
  [LONG_TOKEN] = bucket, [LONG_LEAKY] = bucket}

-- The call.

local input = cmsgpack.unpack(ARGV[1])
local at_input = 0

local function take()
  at_input = at_input + 1
  return input[at_input]
end

local now = take()
local own_time = now == NO_TIME
if own_time then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local policies = {}
for i = 1, take() do
  policies[i] = {take(), take(), take(), take(), take(), take(), take(), take()}
end

local values = redis.call('MGET', spread(KEYS))
local held = {}

-- Returns the sections of a key, or nil if what is stored is not ours.
local function sections(k)
  local known = held[k]
  if known == nil then
    known = {changed = false}
    if values[k] then
      local read = {pcall(cmsgpack.unpack, values[k])}
      for i = 2, #read do
        if type(read[i]) ~= 'table' or not meters[read[i][ALGORITHM]] then
          read[1] = false
        end
        known[i - 1] = read[i]
      end
      if not read[1] then
        known = false
      end
    end
    held[k] = known
  end
  return known or nil
end

local function find(known, p)
  for i = 1, #known do
    local s = known[i]
    if s[ALGORITHM] == p[ALGORITHM] and s[WINDOW] == p[WINDOW] and s[DETAIL] == p[DETAIL]
        and s[MORE] == p[MORE] then
      return s
    end
  end
end

-- Returns a section that knows everything in the window, the exact one if there is a choice.
local function complete(known, window)
  local best
  for i = 1, #known do
    local s = known[i]
    if s[ALGORITHM] == LOG and s[WINDOW] >= window and (not best or s[DETAIL] == 1) then
      best = s
    end
  end
  return best
end

-- Returns a section with what the others know of the key; without a complete one among them what
-- all of them know is added up, which can only deny.
local function seeded(known, p)
  local s = {p[ALGORITHM], p[WINDOW], p[DETAIL], p[MORE], 0}
  local meter = meters[p[ALGORITHM]]
  meter.fresh(s)
  if meter == bucket then
    s[8] = p[LIMIT] -- WIDEST
  end
  local witness = complete(known, p[WINDOW])
  for i = 1, #known do
    local other = known[i]
    if not witness or other == witness then
      local from = meters[other[ALGORITHM]]
      from.outline(other, from.effective(other, now), function(at, permits)
        meter.force(s, min(at, now), at, permits, p)
      end)
    end
  end
  return s
end

local function look(charge)
  local known = sections(charge.key)
  if not known then
    return false
  end
  charge.known = known
  local s = find(known, charge.policy)
  if not s then
    if #known >= MOST_SECTIONS then
      return false
    end
    s = seeded(known, charge.policy)
  end
  charge.section = s
  charge.meter = meters[s[ALGORITHM]]
  charge.at = charge.meter.effective(s, now)
  return true
end

local function wait_for(charge, permits, queued)
  local p = charge.policy
  if permits == 0 then
    return 0
  end
  if permits > p[BURST] or p[LIMIT] == 0 then
    return huge
  end
  local ask = queued and charge.meter.queue or charge.meter.wait
  return ask(charge.section, charge.at, permits, p)
end

-- A section that is asked about no more goes when it cannot matter any more.
local function outlived(s)
  local drain = s[ALGORITHM] >= TOKEN and bucket.drain(s) or 0
  return s[ASKED] > 0 and now - max(s[ASKED], s[LAST]) > max(2 * s[WINDOW] + s[DETAIL], drain)
end

local function record_with_others(known, own, at, then_at, permits, p)
  local kept = {}
  for i = 1, #known do
    local s = known[i]
    if s == own then
      kept[#kept + 1] = s
    elseif not outlived(s) then
      local meter = meters[s[ALGORITHM]]
      if s[ASKED] == 0 then
        s[ASKED] = max(1, now, s[LAST])
      end
      meter.force(s, at, then_at, permits, p)
      kept[#kept + 1] = s
    end
  end
  for i = 1, max(#known, #kept) do
    known[i] = kept[i]
  end
end

local function charge_now(charge, wait, permits, p)
  local known = charge.known
  local s = find(known, p)
  if not s then
    s = known.changed and seeded(known, p) or charge.section
    known[#known + 1] = s
  end
  if #known > 1 then
    s[ASKED] = max(s[ASKED], now, 1)
    record_with_others(known, s, charge.at, charge.at + wait, permits, p)
    if #known == 1 then
      s[ASKED] = 0
    end
  end
  charge.meter.charge(s, charge.at, wait, permits, p)
  charge.section = s
  known.changed = true
end

local output = {now}

local function put(value)
  output[#output + 1] = value
end

local function put_result(code, charge, remaining, wait, at)
  local rested, nanos = charge.meter.rested(charge.section)
  put(code)
  put(max(0, min(charge.policy[BURST], remaining)))
  put(wait == huge and -1 or wait)
  put(max(0, rested - at))
  put(rested >= at and nanos or 0)
  put(at)
end

local function put_uncertain()
  put(UNCERTAIN)
  for _ = 1, 5 do
    put(0)
  end
end

local function remaining(charge)
  return charge.meter.remaining(charge.section, charge.at, charge.policy)
end

-- Returns the wait as seen from now, also if the key's time is ahead of it.
local function later(charge, wait)
  return wait + charge.at - now
end

local function check(charges, i, queued, most_wait)
  local charge = charges[i]
  if charge.permits < 0 then
    charge.code, charge.wait = INVALID, huge
    return look(charge)
  end
  if not look(charge) then
    charge.code = UNCERTAIN
    return false
  end
  local also = 0
  for j = 1, i - 1 do
    if charges[j].key == charge.key and charges[j].code == FITS then
      also = also + charges[j].permits
    end
  end
  charge.also = also
  local wait = wait_for(charge, queued and charge.permits or charge.permits + also, queued)
  if charge.permits == 0 then
    wait = 0
  end
  local fits = wait <= most_wait
  if not fits and wait == huge and queued then
    wait = wait_for(charge, charge.permits, false) -- The queue is full: say when it has room.
  end
  charge.code = fits and FITS or OVER_LIMIT
  charge.wait = wait
  return fits
end

local function ask()
  local count, peeking, most_wait = take(), take(), take()
  local queued = most_wait ~= NOT_QUEUED
  local charges = {}
  local required, any, some = true, false, false
  for i = 1, count do
    charges[i] = {key = take(), policy = policies[take()], permits = take(), role = take(), also = 0}
    check(charges, i, queued, max(0, most_wait))
    local charge = charges[i]
    local fits = charge.code == FITS
    if charge.role == REQUIRED then
      required = required and fits
    elseif charge.role == ANY then
      any, some = true, some or fits
    else
      required = required and charge.code ~= INVALID
    end
  end
  local allowed = required and (some or not any)
  put(allowed and 1 or 0)
  -- What is left when nothing is charged has to be told before anything is.
  for i = 1, count do
    local charge = charges[i]
    charge.charges = allowed and peeking == 0 and charge.code == FITS and charge.permits > 0
    charge.left = charge.code ~= UNCERTAIN and charge.meter and remaining(charge) - charge.also or 0
  end
  for i = 1, count do
    local charge = charges[i]
    if charge.code == UNCERTAIN or not charge.meter then
      put_uncertain()
    elseif charge.charges then
      charge_now(charge, charge.wait, charge.permits, charge.policy)
      local wait = charge.wait > 0 and later(charge, charge.wait) or 0
      put_result(FITS, charge, remaining(charge), wait, charge.at + charge.wait)
    else
      local fits = charge.code == FITS
      local wait = fits and charge.wait == 0 and 0 or later(charge, charge.wait)
      put_result(charge.code, charge, charge.left, wait, charge.at)
    end
  end
end

local function some()
  local charge = {key = take(), policy = policies[take()], permits = take()}
  local most = take()
  if not look(charge) then
    put(0)
    put_uncertain()
    return
  end
  local permits, times = charge.permits, 0
  if permits == 0 then
    times = most
  elseif wait_for(charge, permits, false) == 0 then
    times = min(most, floor(min(charge.policy[BURST], remaining(charge)) / permits))
    if times > 0 then
      charge_now(charge, 0, times * permits, charge.policy)
    end
  end
  put(times)
  local wait = times < most and wait_for(charge, permits, false) or 0
  put_result(times > 0 and FITS or OVER_LIMIT, charge, remaining(charge),
      times < most and later(charge, wait) or 0, charge.at)
end

local function record()
  local charge = {key = take(), policy = policies[take()], permits = take()}
  if not look(charge) then
    put_uncertain()
    return
  end
  if charge.permits > 0 then
    charge_now(charge, 0, charge.permits, charge.policy)
  end
  put_result(FITS, charge, remaining(charge), 0, charge.at)
end

-- Gives back in the section that charged, and in no other: those may keep too much.
local function refund()
  local key, p, permits, at, reset, nanos = take(), policies[take()], take(), take(), take(), take()
  local known = sections(key)
  local s = known and find(known, p)
  if not s or permits < 0 then
    put(0)
    return
  end
  local meter = meters[s[ALGORITHM]]
  local given = meter.refund(s, meter.effective(s, now), permits, at, reset, nanos, p)
  known.changed = known.changed or given > 0
  put(given)
end

local kinds = {[ASK] = ask, [SOME] = some, [RECORD] = record, [REFUND] = refund}
while at_input < #input do
  kinds[take()]()
end

for k, known in pairs(held) do
  if known and known.changed then
    local value, expires = '', now
    for i = 1, #known do
      local rested, nanos = meters[known[i][ALGORITHM]].rested(known[i])
      expires = max(expires, rested + (nanos > 0 and 1 or 0))
      value = value .. cmsgpack.pack(known[i])
    end
    if own_time then
      redis.call('SET', KEYS[k], value, 'PXAT', string.format('%.0f', ceil(expires / 1000)))
    else
      redis.call('SET', KEYS[k], value)
    end
  end
end

return cmsgpack.pack(output)
