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
