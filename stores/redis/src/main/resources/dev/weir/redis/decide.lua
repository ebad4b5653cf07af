local meters = {[LOG] = log, [COUNTER] = counter, [FIXED] = fixed, [TOKEN] = bucket, [LEAKY] = bucket,
  [LONG_TOKEN] = bucket, [LONG_LEAKY] = bucket, [SEATS] = seats}

-- The state of one call, from here on: its arguments, the values it has read, and its results.

local input, at_input, now, keys, values, held, policies, output, size
-- The instant before which counts were lost, as far as this call heeds that, else 0; the mark to write.
local lost, mark

-- The least and the most fields of a section, by its algorithm.
local LEAST = {11, 9, 8, 8, 8, 8, 8, 9}
local MOST = {11, 9, 8, 11, 11, 11, 11, 9}
-- The field that is a string, by the algorithm; the others are numbers.
local TEXT = {[LOG] = 11, [SEATS] = 9}

local function is_section(s)
  local algorithm = type(s) == 'table' and s[ALGORITHM]
  local least = LEAST[algorithm]
  if not least or #s < least or #s > MOST[algorithm] then
    return false
  end
  for i = 1, #s do
    if type(s[i]) ~= (i == TEXT[algorithm] and 'string' or 'number') then
      return false
    end
  end
  return true
end

-- Returns the sections that were read, or false if another program wrote them.
local function filled(known, fine, first, ...)
  if not fine or not is_section(first) then
    return false
  end
  known[1] = first
  for i = 1, select('#', ...) do
    local section = select(i, ...)
    if not is_section(section) then
      return false
    end
    known[i + 1] = section
  end
  return known
end

-- Returns the sections of a key, or nil if another program wrote its value.
local function sections(k)
  local known = held[k]
  if known == nil then
    known = {changed = false}
    if values[k] then
      known = filled(known, pcall(cmsgpack.unpack, values[k]))
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

-- Returns how much later a charge of one section has to count in another, or earlier: a seat counts for as
-- long as its own window.
local function longer(from, s)
  local seats_only = from[ALGORITHM] == SEATS and s[ALGORITHM] == SEATS
  return seats_only and from[WINDOW] - s[WINDOW] or 0
end

-- Returns a section with all charges in the window of a policy, the exact one if there is a choice. None
-- has them beside seats, which are renewed in no other section.
local function complete(known, p)
  local best
  for i = 1, #known do
    if known[i][ALGORITHM] == SEATS or p[ALGORITHM] == SEATS then
      return nil
    end
  end
  for i = 1, #known do
    local s, window = known[i], p[WINDOW]
    if s[ALGORITHM] == LOG and s[WINDOW] >= window and (not best or s[DETAIL] == 1) then
      best = s
    end
  end
  return best
end

-- Returns a new section with the charges of the others. If none of them is complete, the charges of
-- all of them are added up, which can only refuse.
local function seeded(known, p)
  local s = {p[ALGORITHM], p[WINDOW], p[DETAIL], p[MORE], 0}
  local meter = meters[p[ALGORITHM]]
  meter.fresh(s)
  if meter == bucket then
    s[8] = p[LIMIT] -- WIDEST
  end
  local witness = complete(known, p)
  for i = 1, #known do
    local other = known[i]
    if not witness or other == witness then
      local from = meters[other[ALGORITHM]]
      from.outline(other, from.effective(other, now), function(charged, permits, taken)
        local at = charged + longer(other, s)
        meter.record(s, min(at, now), at, permits, p, taken)
      end)
    end
  end
  return s
end

-- Counts a section's quota as used up when counts were lost, unless it has been counted so already. A
-- section that has been charged since has it: whatever charges it comes here first.
local function make_up(s, p)
  if lost == 0 then
    return
  end
  local meter = meters[s[ALGORITHM]]
  if meter == bucket then
    bucket.fill(s, lost, p)
  elseif s[LAST] < lost and now - lost < 2 * s[WINDOW] then -- No window reaches further back.
    meter.record(s, lost, lost, p and p[LIMIT] or MOST_PERMITS, p)
  end
end

local function locate(charge)
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
  make_up(s, charge.policy)
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

-- Returns whether a section can be dropped: it has no recent requests, and has no effect any more.
local function outlived(s)
  local drain = meters[s[ALGORITHM]] == bucket and bucket.drain(s) or 0
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
      make_up(s)
      meter.record(s, at, then_at + longer(own, s), permits, p)
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
    make_up(s, p)
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

local function put(value)
  size = size + 1
  output[size] = value
end

local function put_six(a, b, c, d, e, f)
  output[size + 1], output[size + 2], output[size + 3] = a, b, c
  output[size + 4], output[size + 5], output[size + 6] = d, e, f
  size = size + 6
end

local function put_result(code, charge, remaining, wait, at)
  local reset_at, nanos = charge.meter.reset_at(charge.section)
  put_six(code, min(charge.policy[BURST], remaining), wait == huge and -1 or wait,
      max(0, reset_at - at), reset_at >= at and nanos or 0, at)
end

local function put_uncertain()
  put_six(UNCERTAIN, 0, 0, 0, 0, 0)
end

-- Returns what is left; minus the debt, if more is counted than fits.
local function balance(charge)
  return charge.meter.balance(charge.section, charge.at, charge.policy)
end

local function remaining(charge)
  return max(0, balance(charge))
end

-- Returns whether a charge is counted whatever is left.
local function is_report(charge)
  return charge.role == REPORTED or charge.role == REPORTED_SHADOW
end

-- Returns the wait from now on, even if the key's time is ahead of now.
local function later(charge, wait)
  return wait + charge.at - now
end

local function check(charges, i, queued, most_wait)
  local charge = charges[i]
  if charge.permits < 0 then
    charge.code, charge.wait = INVALID, huge
    return locate(charge)
  end
  if not locate(charge) then
    charge.code = UNCERTAIN
    return false
  end
  local also = 0
  for j = 1, i - 1 do
    if charges[j].key == charge.key and (charges[j].code == FITS or is_report(charges[j])) then
      also = also + charges[j].permits
    end
  end
  charge.also = also
  local wait = wait_for(charge, queued and charge.permits or charge.permits + also, queued)
  if charge.permits == 0 then
    wait = is_report(charge) and wait_for(charge, 1 + also, false) or 0
  end
  local fits = wait <= most_wait
  if not fits and wait == huge and queued then
    wait = wait_for(charge, charge.permits, false) -- The queue is full: return when it has room.
  end
  charge.code = fits and FITS or OVER_LIMIT
  charge.wait = wait
  return fits
end

-- Reads a charge: key, policy and permits.
local function next_charge()
  local charge = {
    key = input[at_input + 1],
    policy = policies[input[at_input + 2]],
    permits = input[at_input + 3]
  }
  at_input = at_input + 3
  return charge
end

-- Returns whether the request is allowed, by the codes of all charges. Charges.settle in Java does the
-- same, and also handles failure modes, which no script decides.
local function settle(charges)
  local refused, any_asked, any_fits = false, false, false
  for i = 1, #charges do
    local role, fits = charges[i].role, charges[i].code == FITS
    if role == REQUIRED or role == REPORTED then
      refused = refused or not fits
    elseif role == ANY then
      any_asked, any_fits = true, any_fits or fits
    else
      refused = refused or charges[i].code == INVALID
    end
  end
  return not refused and (any_fits or not any_asked)
end

local function ask()
  local count, peeking, most_wait = input[at_input + 1], input[at_input + 2], input[at_input + 3]
  at_input = at_input + 3
  local queued = most_wait ~= NOT_QUEUED
  local charges = {}
  for i = 1, count do
    local charge = next_charge()
    charge.role, charge.also = input[at_input + 1], 0
    at_input = at_input + 1
    charges[i] = charge
    check(charges, i, queued, max(0, most_wait))
  end
  local allowed = settle(charges)
  put(allowed and 1 or 0)
  -- The permits that remain if nothing is charged must be computed before anything is charged.
  for i = 1, count do
    local charge = charges[i]
    local fits = charge.code == FITS
    charge.charges = peeking == 0 and charge.permits > 0
        and (allowed and fits or is_report(charge) and (fits or charge.code == OVER_LIMIT))
    charge.left = charge.code ~= UNCERTAIN and charge.meter and max(0, remaining(charge) - charge.also) or 0
  end
  for i = 1, count do
    local charge = charges[i]
    if charge.code == UNCERTAIN or not charge.meter then
      put_uncertain()
    elseif charge.charges and is_report(charge) then
      charge_now(charge, 0, charge.permits, charge.policy)
      local wait = charge.code ~= FITS and later(charge, wait_for(charge, 1, false)) or 0
      put_result(charge.code, charge, balance(charge), wait, charge.at)
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
  local charge = next_charge()
  local most = input[at_input + 1]
  at_input = at_input + 1
  if not locate(charge) then
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
  local charge = next_charge()
  if not locate(charge) then
    put_uncertain()
    return
  end
  if charge.permits > 0 then
    charge_now(charge, 0, charge.permits, charge.policy)
  end
  put_result(FITS, charge, remaining(charge), 0, charge.at)
end

-- Refunds permits in the section that charged them, and in no other: the others may count too much.
local release

local function refund()
  if policies[input[at_input + 2]][ALGORITHM] == SEATS then
    return release()
  end
  local charge = next_charge()
  local p, permits = charge.policy, charge.permits
  local at, reset, nanos = input[at_input + 1], input[at_input + 2], input[at_input + 3]
  at_input = at_input + 3
  local known = sections(charge.key)
  local s = known and find(known, p)
  if not s or permits < 0 then
    put(0)
    return
  end
  make_up(s, p)
  local meter = meters[s[ALGORITHM]]
  local given = meter.refund(s, meter.effective(s, now), permits, at, reset, nanos, p)
  known.changed = known.changed or given > 0
  put(given)
end

-- Gives a seat back in all sections that have it: it has one name.
function release()
  local charge = next_charge()
  local at, given = input[at_input + 1], 0
  at_input = at_input + 3
  local known = sections(charge.key) or {}
  for i = 1, #known do
    local s = known[i]
    if s[ALGORITHM] == SEATS then
      make_up(s, s == find(known, charge.policy) and charge.policy or nil)
      given = max(given, seats.refund(s, seats.effective(s, now), charge.permits, at))
    end
  end
  known.changed = known.changed or given > 0
  put(given)
end

-- Renews a seat in all sections that have it.
local function renew()
  local charge, at, held = next_charge(), input[at_input + 1], false
  at_input = at_input + 1
  local known = sections(charge.key) or {}
  for i = 1, charge.policy[ALGORITHM] == SEATS and #known or 0 do
    local s = known[i]
    if s[ALGORITHM] == SEATS then
      make_up(s, s == find(known, charge.policy) and charge.policy or nil)
      held = seats.renew(s, seats.effective(s, now), at, longer(charge.policy, s)) or held
    end
  end
  known.changed = known.changed or held
  put(held and 1 or 0)
end

-- Removes the state of a key. A value of another program stays.
local function reset()
  local known = sections(next_charge().key)
  if not known then
    put(0)
    return
  end
  put(#known > 0 and 1 or 0)
  known.changed = known.changed or #known > 0
  for i = #known, 1, -1 do
    known[i] = nil
  end
end

-- Reads all values at once. MGET returns the same for a value that is no string as for none, so keys
-- without a value are looked up again: one EXISTS for all of them, which nearly always finds none.
local function read()
  values, held = #keys > 0 and redis.call('MGET', spread(keys)) or {}, {}
  local unknown = {}
  for k = 1, #keys do
    if not values[k] then
      unknown[#unknown + 1] = keys[k]
    end
  end
  if #unknown > 0 and redis.call('EXISTS', spread(unknown)) > 0 then
    for k = 1, #keys do
      if not values[k] and redis.call('EXISTS', keys[k]) > 0 then
        held[k] = false
      end
    end
  end
end

-- Compares the store's mark with the one that the caller knows, and puts what is new to it. A value of
-- another program under the mark's name stays, and then nothing is noticed.
local function look(sent)
  local at = #keys
  local value = values[at]
  local mode, known, known_beat, known_lost = unpack_at(SENT, sent)
  local born, beat, since = now, now, 0
  if value and #value == MARK_BYTES then
    born, beat, since = unpack_at(MARK, value)
    if born == known and beat + ROLLED_BACK < known_beat then
      born, beat, since = now, now, now
    elseif known > 0 and born ~= known and since == 0 then
      since = now -- A process that knew nothing of the lost counts has made it.
    end
  elseif value or held[at] == false then
    put(0)
    return
  elseif known > 0 then
    since = now
  end
  if now - beat >= BEAT then
    beat = now
  end
  local packed = pack(MARK, born, beat, since)
  if packed ~= value then
    mark = packed
  end
  lost = mode == DENY and since or 0
  if born == known and beat == known_beat and since == known_lost then
    put(0)
  else
    put(1)
    put(born)
    put(beat)
    put(since)
  end
end

local kinds = {[ASK] = ask, [SOME] = some, [RECORD] = record, [REFUND] = refund, [RESET] = reset,
  [RENEW] = renew}

local function write(own_time)
  if mark then
    redis.call('SET', keys[#keys], mark)
  end
  for k, known in pairs(held) do
    if known and known.changed then
      local value, expires = '', now
      for i = 1, #known do
        local reset_at, nanos = meters[known[i][ALGORITHM]].reset_at(known[i])
        expires = max(expires, reset_at + (nanos > 0 and 1 or 0))
        value = i == 1 and cmsgpack.pack(known[i]) or value .. cmsgpack.pack(known[i])
      end
      if #known == 0 then
        redis.call('SET', keys[k], '', 'PXAT', 1) -- Expires at once. DEL would need another permission.
      elseif own_time then
        redis.call('SET', keys[k], value, 'PXAT', ceil(expires / 1000))
      else
        redis.call('SET', keys[k], value)
      end
    end
  end
end

local function decide(given_keys, args)
  if not floor then
    floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
    spread, pack, unpack_at = unpack, struct.pack, struct.unpack
  end
  keys, input, at_input = given_keys, cmsgpack.unpack(args[1]), 2
  now = input[1]
  local own_time = now == NO_TIME
  if own_time then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  read()
  output, size, policies = {now}, 1, {}
  lost, mark = 0, nil
  if args[2] then
    look(args[2])
  else
    put(0)
  end
  for i = 1, input[2] do
    policies[i] = {spread(input, at_input + 1, at_input + 8)}
    at_input = at_input + 8
  end
  local last = #input
  while at_input < last do
    at_input = at_input + 1
    kinds[input[at_input]]()
  end
  write(own_time)
  return cmsgpack.pack(output)
end
