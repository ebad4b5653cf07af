// Requests to the administration interface.

/** An answer that is none: its text says what was wrong and what was expected. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.body = body ?? {};
  }
}

/**
 * Asks. Returns {status, body, tag}; throws a Problem. Without a valid session the page turns to the sign-in.
 * More may have a body, and the fields match (If-Match) and none (If-None-Match).
 */
export async function ask(method, path, {body, match, none} = {}) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (match) headers['If-Match'] = match;
  if (none) headers['If-None-Match'] = none;
  let answer;
  try {
    answer = await fetch(`/admin/v1${path}`, {method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: 'no-store'});
  } catch {
    throw new Problem(0, {detail: 'The server does not answer.'});
  }
  const text = await answer.text();
  const json = /json/.test(answer.headers.get('Content-Type') ?? '');
  const read = json && text ? JSON.parse(text) : text;
  if (!answer.ok) {
    if (answer.status === 401 && path !== '/session') document.dispatchEvent(new Event('weir-out'));
    throw new Problem(answer.status, json ? read : null);
  }
  return {status: answer.status, body: read, tag: answer.headers.get('ETag')};
}

export const get = async (path, query) => (await ask('GET', path + search(query))).body;

export const post = async (path, body) => (await ask('POST', path, {body})).body;

/** Writes a query, without what is empty. */
export function search(query) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value != null && value !== '');
  return given.length ? `?${new URLSearchParams(given)}` : '';
}

/** The address of a customer's record. */
export const record = (domain, key, value) => `/limits/${[domain, key, value].map(encodeURIComponent).join('/')}`;

const ROLES = ['viewer', 'editor', 'operator'];
/** Who is signed in. */
export const me = {role: '', name: '', may: (role) => ROLES.indexOf(me.role) >= ROLES.indexOf(role)};
