-- Fixed window: one counter; windows begin at multiples of their length.
local fixed = {}
do
  local COUNT = 8

  function fixed.fresh(s)
    s[LAST], s[AHEAD], s[COUNT] = LONG_AGO, 0, 0
  end

  fixed.effective = effective

  -- Returns the start of the window that contains an instant.
  local function start_at(s, at)
    return floor(at / s[WINDOW]) * s[WINDOW]
  end

  -- Returns the start of the window that is counted.
  local function counted(s)
    return start_at(s, s[LAST])
  end

  function fixed.wait(s, now, permits, p)
    local from = counted(s)
    local start = max(start_at(s, now), from)
    local fits = start > from or s[COUNT] + permits <= p[LIMIT]
    return max(0, (fits and start or start + s[WINDOW]) - now)
  end

  fixed.queue = fixed.wait

  local function count(s, now, at, permits)
    if start_at(s, at) > counted(s) then
      s[COUNT] = 0
    end
    s[COUNT] = min(MOST_PERMITS, s[COUNT] + permits)
    stamp(s, now, at)
  end

  function fixed.charge(s, now, wait, permits)
    count(s, now, now + wait, permits)
  end

  fixed.record = count

  function fixed.refund(s, now, permits, at)
    local start = counted(s)
    if start_at(s, at) ~= start or start <= now - s[WINDOW] then
      return 0
    end
    local given = min(permits, s[COUNT])
    s[COUNT] = s[COUNT] - given
    return given
  end

  function fixed.balance(s, now, p)
    local from, start = counted(s), start_at(s, now)
    if start > from then
      return p[LIMIT]
    end
    return start < from and 0 or p[LIMIT] - s[COUNT]
  end

  function fixed.reset_at(s)
    return counted(s) + s[WINDOW], 0
  end

  function fixed.outline(s, now, charged)
    if s[COUNT] > 0 and now < counted(s) + s[WINDOW] then
      charged(s[LAST], s[COUNT])
    end
  end
end
