#!/usr/bin/env bash
# ratelimit-header-parser 0.1.0 (npm): the present form of RateLimit becomes NaN, also beside older fields that it can read.
#
# The guess: the parser is by the authors of express-rate-limit, so it reads each form that express-rate-limit 8.7.5 sends; and
# of a form that it does not read it returns undefined, as it does of a response without fields.
# Seen: of draft-6 and draft-7 it returns the numbers. Of draft-8 ("name"; r=4; t=60, a list of RFC 9651) it returns an object of
# NaN and an Invalid Date, without an error. The older three fields beside it change nothing.
# Why it matters here: NaN < 1 is false, so a client that slows down by `remaining` never does, and a wait by `reset` is none.
# Weir sends the present form unless it is switched off; docs/refusals.md names what such a client should read.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-fund --no-audit express@5.1.0 express-rate-limit@8.7.5 ratelimit-header-parser@0.1.0

cat >try.mjs <<'P'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { parseRateLimit } from 'ratelimit-header-parser'

const seen = {}
for (const form of ['draft-6', 'draft-7', 'draft-8']) {
  const app = express()
  app.use(rateLimit({ windowMs: 60_000, limit: 5, standardHeaders: form, legacyHeaders: false }))
  app.get('/', (request, response) => response.send('ok'))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { headers } = await fetch(`http://127.0.0.1:${server.address().port}/`)
  server.close()
  seen[form] = Object.fromEntries([...headers].filter(([name]) => name.startsWith('ratelimit')))
  const { limit, remaining, reset } = parseRateLimit(headers)
  console.log(form, limit, remaining, Number.isNaN(reset.getTime()) ? 'no date' : 'a date')
}
const both = parseRateLimit({ ...seen['draft-6'], ratelimit: seen['draft-8'].ratelimit })
console.log('draft-8 beside draft-6', both.limit, both.remaining)
console.log('neither', parseRateLimit({ server: 'none' }))
P
node try.mjs | tee seen
diff seen - <<'W'
draft-6 5 4 a date
draft-7 5 4 a date
draft-8 NaN NaN no date
draft-8 beside draft-6 NaN NaN
neither undefined
W
echo 'as described: ratelimit-header-parser 0.1.0 returns NaN for the form of express-rate-limit 8.7.5 that is newest'
