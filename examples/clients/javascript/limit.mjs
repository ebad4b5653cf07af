// Asks Weir over HTTP whether a request may pass. Node.js 18 or newer, or a browser; no package needed.
//
//   ./weir serve &
//   node examples/clients/javascript/limit.mjs

/**
 * Asks whether a request may pass.
 *
 * @param {string} url of the server, such as http://127.0.0.1:8080
 * @param {string} domain of the rules
 * @param {Object<string, string>} descriptor the keys and values of a rule, such as {user: 'alice'}
 * @param {{permits?: number, token?: string, timeoutMillis?: number}} [options]
 * @returns {Promise<{allowed: boolean, remaining: number, retryAfterSeconds: number}>} remaining is
 *     Infinity where no limit applies
 * @throws {Error} if the server does not answer in time, or refuses the question: the caller decides
 *     whether such a request passes
 */
export async function check(url, domain, descriptor, options = {}) {
  const { permits = 1, token, timeoutMillis = 500 } = options;
  const response = await fetch(`${url}/v1/check`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ domain, descriptor, permits }),
    signal: AbortSignal.timeout(timeoutMillis),
  });
  const answer = await response.json();
  if (typeof answer.allowed !== 'boolean') {
    throw new Error(`weir: ${response.status} ${answer.detail ?? answer.title}`);
  }
  const limited = answer.statuses.filter((status) => status.limit !== undefined);
  return {
    allowed: answer.allowed,
    remaining: Math.min(...limited.map((status) => status.remaining)),
    retryAfterSeconds: Number(response.headers.get('Retry-After') ?? 0),
  };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const url = process.argv[2] ?? 'http://127.0.0.1:8080';
  for (let i = 0; i < 4; i++) {
    const { allowed, remaining, retryAfterSeconds } = await check(url, 'demo', { user: 'javascript' });
    console.log(allowed ? `allowed, ${remaining} left` : `refused, ask again in ${retryAfterSeconds} s`);
  }
}
