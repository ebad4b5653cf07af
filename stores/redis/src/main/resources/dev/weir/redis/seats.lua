-- Seats: permits that are out until they are given back, or have not been renewed for the window. A
-- seat is an entry: the instant at which it was taken, by which it is known, the instant since which it
-- counts, and its permits. They lie in the order of the second: a seat that is renewed moves to the
-- end, and those that are lost are the first. Beyond MOST_SEATS, permits are added to the last one, which
-- nobody can renew or give back then: they count until it is lost.
local seats = {}
do
  local TOTAL, ENTRIES = 8, 9
  local TAKEN, ENTRY, ENTRY_BYTES = '>i7', '>i7i7I5', 19
  local MOST_SEATS = 131072

  function seats.fresh(s)
    s[LAST], s[AHEAD], s[TOTAL], s[ENTRIES] = LONG_AGO, 0, 0, ''
  end

  -- Each change has an instant of its own, so that no two seats of a key have the same.
  function seats.effective(s, now)
    return max(now, s[LAST] + 1)
  end

  -- Returns the offset of the first entry that is not lost, and the permits of those before it.
  local function first_held(s, now)
    local entries, from, lost = s[ENTRIES], 1, 0
    while from <= #entries do
      local _, since, permits = unpack_at(ENTRY, entries, from)
      if since + s[WINDOW] > now then
        break
      end
      from, lost = from + ENTRY_BYTES, lost + permits
    end
    return from, lost
  end

  local function counted(s, now)
    local _, lost = first_held(s, now)
    return s[TOTAL] - lost
  end

  function seats.wait(s, now, permits, p)
    local from, lost = first_held(s, now)
    local over = s[TOTAL] - lost + permits - p[LIMIT]
    if over <= 0 then
      return 0
    end
    local entries, free_at = s[ENTRIES], now
    while from <= #entries and over > 0 do
      local _, since, held = unpack_at(ENTRY, entries, from)
      from, over, free_at = from + ENTRY_BYTES, over - held, since + s[WINDOW]
    end
    return max(1, free_at - now)
  end

  -- Permits cannot queue: a seat that is renewed would still be there at their turn.
  function seats.queue(s, now, permits, p)
    return seats.wait(s, now, permits, p) == 0 and 0 or huge
  end

  -- Returns the offset of the first entry that counts since a later instant.
  local function place(entries, since)
    local from = #entries + 1
    while from > 1 do
      local _, before = unpack_at(ENTRY, entries, from - ENTRY_BYTES)
      if before <= since then
        break
      end
      from = from - ENTRY_BYTES
    end
    return from
  end

  -- Adds a seat that was taken at an instant, and counts since another, which may be ahead: a seat that
  -- was taken under another window ends with that.
  local function add(s, taken, since, permits)
    local entries, more = s[ENTRIES], min(permits, MOST_PERMITS - s[TOTAL])
    local from = place(entries, since)
    local last, before, held
    if from > 1 then
      last, before, held = unpack_at(ENTRY, entries, from - ENTRY_BYTES)
    end
    local full = #entries >= MOST_SEATS * ENTRY_BYTES
    if last and (last == taken and before == since or full) then -- Of the same request; or of several, known no more.
      local entry = pack(ENTRY, full and LONG_AGO or last, max(before, since), held + more)
      s[ENTRIES] = entries:sub(1, from - ENTRY_BYTES - 1) .. entry .. entries:sub(from)
    else
      last = taken
      s[ENTRIES] = entries:sub(1, from - 1) .. pack(ENTRY, last, since, more) .. entries:sub(from)
    end
    s[TOTAL] = s[TOTAL] + more
    s[LAST] = max(s[LAST], last)
  end

  -- A seat of another section keeps the instant at which it was taken.
  function seats.record(s, now, at, permits, p, taken)
    local from, lost = first_held(s, now)
    if lost > 0 then
      s[ENTRIES], s[TOTAL] = s[ENTRIES]:sub(from), s[TOTAL] - lost
    end
    add(s, taken or now, at, permits)
  end

  function seats.charge(s, now, wait, permits)
    seats.record(s, now, now + wait, permits)
  end

  -- Returns the offset of the seat that was taken at an instant, and its permits; nil if there is none
  -- any more.
  local function find(s, now, at)
    local entries, taken = s[ENTRIES], pack(TAKEN, at)
    local from = entries:find(taken, 1, true)
    while from and (from - 1) % ENTRY_BYTES ~= 0 do
      from = entries:find(taken, from + 1, true)
    end
    if not from then
      return nil
    end
    local _, since, permits = unpack_at(ENTRY, entries, from)
    if since + s[WINDOW] > now then
      return from, permits, since
    end
  end

  -- Replaces the entry at an offset.
  local function put(s, from, entry)
    s[ENTRIES] = s[ENTRIES]:sub(1, from - 1) .. entry .. s[ENTRIES]:sub(from + ENTRY_BYTES)
  end

  function seats.refund(s, now, permits, at)
    local from, held, since = find(s, now, at)
    local given = from and min(permits, held) or 0
    if given > 0 then
      put(s, from, given < held and pack(ENTRY, at, since, held - given) or '')
      s[TOTAL] = s[TOTAL] - given
    end
    return given
  end

  -- Makes the seat that was taken at an instant count anew from a time after now on; returns whether it
  -- was held.
  function seats.renew(s, now, at, later)
    local from, held, since = find(s, now, at)
    if from then
      put(s, from, '')
      since = max(since, now + later)
      from = place(s[ENTRIES], since)
      s[ENTRIES] = s[ENTRIES]:sub(1, from - 1) .. pack(ENTRY, at, since, held) .. s[ENTRIES]:sub(from)
      s[LAST] = now
    end
    return from ~= nil
  end

  function seats.balance(s, now, p)
    return p[LIMIT] - counted(s, now)
  end

  function seats.reset_at(s)
    local entries, free_at = s[ENTRIES], LONG_AGO
    if entries ~= '' then
      local _, since = unpack_at(ENTRY, entries, #entries - ENTRY_BYTES + 1)
      free_at = since + s[WINDOW]
    end
    return max(s[LAST] + 1, free_at), 0
  end

  function seats.outline(s, now, charged)
    local entries = s[ENTRIES]
    for from = first_held(s, now), #entries, ENTRY_BYTES do
      local taken, since, permits = unpack_at(ENTRY, entries, from)
      charged(since, permits, taken)
    end
  end
end
