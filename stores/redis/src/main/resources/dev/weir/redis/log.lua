-- Sliding-window log, and buckets: the log of granules. DETAIL is the granule's length. Entries are
-- packed, the oldest first, each with its distance in granules to the next and its permits if they
-- are not 1; the newest is in NEWEST. Beyond MOST_ENTRY_BYTES, neighbours are merged at the later
-- instant, which can only refuse.
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

  -- An entry's distance is packed into MORE bytes, the highest bit of which marks a wide entry.
  local FORMATS = {'>I1', '>I2', '>I3', '>I4', '>I5', '>I6', '>I7'}
  local WIDE = {128, 32768, 8388608, 2147483648, 549755813888, 140737488355328, 36028797018963968}

  -- Calls visit(index, permits) for each entry, the oldest first, until it returns true. Returns
  -- the index of the first entry that was not passed, and the offset at which it begins.
  local function walk(s, visit)
    local entries, index, from = s[ENTRIES], s[OLDEST], 1
    local bytes = s[MORE]
    local format, wide = FORMATS[bytes], WIDE[bytes]
    while from <= #entries do
      local distance = unpack_at(format, entries, from)
      local permits, next = 1, from + bytes
      if distance >= wide then
        distance = distance - wide
        permits = unpack_at('>I5', entries, next)
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
    local format, wide = FORMATS[s[MORE]], WIDE[s[MORE]]
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
    if s[OLDEST] >= oldest then
      return sum
    end
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

  function log.record(s, now, at, permits)
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
      -- The last reservation is cancelled: new charges queue behind the one before it.
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

  function log.balance(s, now, p)
    if s[LAST] > now then
      return 0
    end
    return p[LIMIT] - counted(s, now)
  end

  function log.reset_at(s)
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
