-- Token and leaky bucket: the generic cell rate algorithm over the theoretical arrival time, in
-- ticks of a nanosecond; of a microsecond for the LONG ones, whose full bucket takes more than 2^52
-- nanoseconds to refill.
-- DETAIL and MORE are the emission interval and the burst of a bucket with its own burst, else 0.
local bucket = {}
do
  -- The arrival time and its nanoseconds; the largest limit of a request since the bucket was full;
  -- a field that is not used any more; charges with a reset up to BARRED get no permits back.
  local TAT, NANOS, WIDEST, UNUSED, BARRED, BARRED_NANOS = 6, 7, 8, 9, 10, 11
  local MOST_TICKS = 4503599627370496

  local function tick_per_micro(s)
    return s[ALGORITHM] >= LONG_TOKEN and 1 or 1000
  end

  local function leaky(s)
    return s[ALGORITHM] == LEAKY or s[ALGORITHM] == LONG_LEAKY
  end

  function bucket.fresh(s)
    s[TAT], s[NANOS], s[WIDEST] = LONG_AGO, 0, 0
  end

  -- A clock that is further behind than the longest refill counts as no further behind.
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
    local owed = backlog(s, now)
    full_in(s, now, min(MOST_TICKS, owed + p[EMISSION] * permits)) -- A report may be of any size.
    if p[LIMIT] > s[WIDEST] or owed == 0 then
      s[WIDEST] = p[LIMIT] -- Nothing is owed for earlier limits any more, or they were smaller.
    end
  end

  -- Permits that another algorithm admitted cost as much as under the smaller of the two limits.
  function bucket.record(s, _, at, permits, p)
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

  -- Makes the bucket as full at an instant as a policy lets it be, or any policy if none is given.
  function bucket.fill(s, at, p)
    local full = p and p[TOLERANCE]
        or s[DETAIL] > 0 and s[DETAIL] * s[MORE]
        or max(emission(s, s[WIDEST]) * s[WIDEST], s[WINDOW] * tick_per_micro(s))
    if backlog(s, at) < full then
      full_in(s, at, full)
    end
  end

  local function before(at, nanos, than, than_nanos)
    return at < than or at == than and nanos < than_nanos
  end

  function bucket.refund(s, now, permits, _, reset, nanos, p)
    local cost = p[EMISSION]
    local others = before(reset, nanos, s[TAT], s[NANOS])
    if cost == 0 or before(s[TAT], s[NANOS], reset, nanos) or reset <= now
        or not before(s[BARRED] or LONG_AGO, s[BARRED_NANOS] or 0, reset, nanos) then
      return 0
    end
    local backlog = backlog(s, now)
    if others and (leaky(s) or backlog > p[TOLERANCE]) then
      return 0
    end
    -- A part of the charge has refilled by now. The latest charge can still be undone as a whole.
    local weight = ticks(s, now, reset, nanos) / cost
    local given = min(permits, p[BURST], others and floor(weight) or ceil(weight))
    if given > 0 then
      if others then
        s[UNUSED], s[BARRED], s[BARRED_NANOS] = 0, s[TAT], s[NANOS]
      end
      full_in(s, now, max(0, backlog - given * cost))
    end
    return given
  end

  function bucket.balance(s, now, p)
    if p[EMISSION] == 0 then
      return 0
    end
    return floor((p[TOLERANCE] - backlog(s, now)) / p[EMISSION])
  end

  -- Returns the longest time that a full bucket takes to reset.
  function bucket.drain(s)
    return micros(s, s[DETAIL] * s[MORE]) + s[WINDOW] + 4294968
  end

  function bucket.reset_at(s)
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
