-- Decides requests for permits, each atomically, several in one call.
--
-- How is this designed, and why? One value holds the whole state of a key: a section for each shape
-- (algorithm and window) of its recent requests, nearly always one. A section is an array: the shape,
-- the time of the last request under it (kept only beside other sections), and the state in the form
-- of the meters below. If a request comes under a shape that the key does not have yet, a section is
-- made from the others; admitted permits are recorded in all of them. So processes may have different
-- revisions of the rules in force, and no change of a rule adds permits.
--
-- Time is Redis's own, in integer microseconds, and never goes back for a key: if the clock is behind
-- the latest charge of a key, the key is decided at that charge's time. Every number is an integer of
-- at most 2^53, so doubles are exact. Every rounding can only refuse. A value expires when it has the
-- same effect as no value.
--
-- All keys are read first and written last, so that an error in between changes nothing.
--
-- The library consists of several files in this order: this one, log, counter, fixed, bucket, seats, decide.
-- The last defines decide(keys, args), which a script calls, or which is a function of Redis 7.
--
-- The store has a mark, which shows when its counts have been lost. A process sends it as it knows it.
-- If it is missing then, or another, or more than ROLLED_BACK older, counts were lost before this
-- instant, LOST, which the mark has from then on for all processes. A process under DENY has every key
-- decided as if its quota had been used up at that instant. No other instant is as safe: until then, keys
-- may have been charged without these charges.
--
-- keys     the requested keys, each once; then the mark, if args[2] is given
-- args[1]  MessagePack, one array of numbers:
--            now in microseconds, or NO_TIME for Redis's own (any other is for tests: nothing expires)
--            how many policies, then for each: algorithm, window, detail, more detail,
--              permits of the quota, burst, emission interval, tolerance
--            then the requests, each beginning with its kind:
--              ASK    how many charges, whether to peek, how long it may wait or NOT_QUEUED,
--                     then for each charge: key, policy, permits, role
--              SOME   key, policy, permits, count: as often as they fit, at most count times
--              RECORD key, policy, permits: already admitted, to be counted even if they do not fit
--              REFUND key, policy, permits, instant charged, reset instant, its nanoseconds
--              RESET  key, policy, 0: the key's state is removed
--              RENEW  key, policy, 0, instant charged: the seat counts anew from now on
-- args[2]  AMNESTY or DENY, and the mark as the caller knows it, or zeros: its birth, beat and loss
-- Returns  MessagePack, one array of numbers: the time; 0, or 1 and the mark if it is another than the
--          one in args[2]; then for each
--              ASK    1 or 0 for the whole, then for each charge a result
--              SOME   how often they fitted, then a result
--              RECORD a result
--              REFUND how many permits were given back
--              RESET  1 if there was a state to remove, else 0
--              RENEW  1 if the seat was still held, else 0
--          A result: its code, remaining (less than 0 for a debt), wait or retry-after (-1: never), reset-after, its
--          nanoseconds, the instant for which it counts. Times are microseconds.

-- Set by the first call: a function has no libraries while it is loaded.
local floor, ceil, max, min, huge, spread, pack, unpack_at

local NO_TIME = -9007199254740992
local NOT_QUEUED = -1
local ASK, SOME, RECORD, REFUND, RESET, RENEW = 1, 2, 3, 4, 5, 6
local REQUIRED, ANY, OPTIONAL, REPORTED, REPORTED_SHADOW = 0, 1, 2, 3, 4
local FITS, OVER_LIMIT, INVALID, UNCERTAIN = 0, 1, 2, 3
local LOG, COUNTER, FIXED, TOKEN, LEAKY, LONG_TOKEN, LONG_LEAKY, SEATS = 1, 2, 3, 4, 5, 6, 7, 8

-- Indexes of a section's fields; a policy begins with the first four as well.
local ALGORITHM, WINDOW, DETAIL, MORE, ASKED = 1, 2, 3, 4, 5
-- Indexes of a policy's other fields.
local LIMIT, BURST, EMISSION, TOLERANCE = 5, 6, 7, 8

-- The mark: the instants at which it was made, at which it was last written, and of the last loss. A
-- process that has seen a beat notices a store that is older than that.
local MARK, MARK_BYTES, SENT = '>I7I7I7', 21, '>I1I7I7I7'
local DENY = 2
local BEAT, ROLLED_BACK = 1000000, 2000000

local LONG_AGO = -4611686018427387
local MOST_SECTIONS = 16
local MOST_ENTRY_BYTES = 32768
local MOST_PERMITS = 1099511627775

-- A meter whose state has the instant of the latest charge, LAST, and whether that lay ahead.
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

-- Returns a * b / c, rounded down or up; the product may exceed 2^53, b and c are at most 2^45.
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
