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

  -- Returns the hits of a window and of the one before it; the window is the latest or a later one.
  local function hits(s, index)
    local later = index - index_of(s, s[LAST])
    if later == 0 then
      return s[CURRENT], s[PREVIOUS]
    end
    return 0, later == 1 and s[CURRENT] or 0
  end

  -- Returns the longest part of the previous window that may be covered if its hits must fit in room.
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

  counter.record = count

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

  function counter.balance(s, now, p)
    if s[LAST] > now then
      return 0
    end
    local index = index_of(s, now)
    local current, previous = hits(s, index)
    local left = (index + 1) * s[WINDOW] - now
    return p[LIMIT] - current - muldiv(previous, left, s[WINDOW], true)
  end

  function counter.reset_at(s)
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
