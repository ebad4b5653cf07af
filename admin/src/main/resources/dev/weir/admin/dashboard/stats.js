// Numbers over time: what was, then what comes.
import {get, me, post} from './api.js';
import {live} from './live.js';
import {button, el, link, say, short, span, time} from './dom.js';

const SPANS = {'10m': ['10 minutes', 600, 1], '6h': ['6 hours', 21600, 10], '30d': ['30 days', 2592000, 1200]};
export const RULE = ['asked', 'within', 'near', 'over', 'tolerated', 'shadow'];
const GAUGES = new Set(['p50_nanos', 'p99_nanos', 'keys', 'full_percent', 'state_bytes', 'queued']);

export const spanOf = (view) => (SPANS[view.query.span] ? view.query.span : '10m');
export const spanText = (view) => `last ${SPANS[spanOf(view)][0]}`;

/** Buttons that choose the span, and whether one server is shown or all. */
export function choices(view, nodes) {
  const one = (name, value, text) => button(text, () => view.search({[name]: value}));
  const press = (each, on) => (each.setAttribute('aria-pressed', on), each);
  const all = view.query.scope === 'all';
  return el('div', {class: 'acts'},
    el('div', {class: 'switch', role: 'group', 'aria-label': 'Span'}, Object.entries(SPANS).map(([name, [text]]) =>
      press(one('span', name === '10m' ? '' : name, text), name === spanOf(view)))),
    nodes > 1 && el('div', {class: 'switch', role: 'group', 'aria-label': 'Servers'},
      press(one('scope', '', 'This server'), !all), press(one('scope', 'all', 'All servers'), all)));
}

/**
 * Hands the numbers of the address's span and scope to a function, again whenever there are newer ones. They are what
 * /stats answers, and rate(name), which is a column by the second.
 */
export async function follow(view, rule, draw) {
  const {scope} = view.query;
  const chosen = spanOf(view);
  let data = await get('/stats', {rule, scope});
  const load = async () => {
    const [, seconds, step] = SPANS[chosen];
    const to = (Math.floor(data.now / step) + 1) * step;
    data = await get('/stats', {rule, scope, from: to - seconds + step, to, step});
  };
  if (chosen !== '10m') await load();
  else if (scope !== 'all') await before(data, rule);
  const drawn = () => view.open && draw({...data, rate: (name) => rate(data, name)});
  drawn();
  if (chosen === '10m' && scope !== 'all') {
    let loading = false;
    view.page.close = live(async (tick) => {
      if (!view.open || loading) return;
      // Seconds between the answer and the stream, or of a stream that broke off.
      if (tick.time > (data.columns.time.at(-1) ?? tick.time) + 1) {
        loading = true;
        const next = await get('/stats', {rule, scope}).catch(() => data);
        await before(next, rule).catch(() => {});
        data = next;
        loading = false;
      }
      append(data, tick, rule);
      drawn();
    });
    return;
  }
  const pause = {'10m': 2, '6h': 10, '30d': 60}[chosen];
  const again = setInterval(async () => {
    if (document.hidden) return;
    try {
      data.now += pause;
      await load();
      drawn();
    } catch {
      // The next one may come.
    }
  }, pause * 1000);
  view.page.close = () => clearInterval(again);
}

/**
 * Seconds are kept in memory, ten seconds on the disk: what was before a restart comes from there. A row that knows only
 * a part of its time fills as many seconds.
 */
async function before({columns, from, to, step, tiers}, rule) {
  if (tiers.length < 2 || !(tiers[1].since < (tiers[0].since ?? to)) || step !== 1) return;
  const older = (await get('/stats', {rule, from: from - (from % 10), to, step: 10})).columns;
  older.time.forEach((time, row) => {
    if (time + 10 > (tiers[0].since ?? to)) return; // Its seconds are known by themselves.
    for (let at = time; at < time + Math.round(older.millis[row] / 1000); at++) {
      const i = at - columns.time[0];
      if (columns.millis[i] !== 0) continue;
      for (const [name, column] of Object.entries(columns)) {
        const value = older[name][row];
        if (name !== 'time') column[i] = name === 'millis' ? 1000 : value == null || GAUGES.has(name) ? value : (value * 1000) / older.millis[row];
      }
    }
  });
}

/** Adds what came in the last second; seconds between that are not known become gaps. */
function append({columns}, tick, rule) {
  const length = columns.time.length;
  const last = columns.time.at(-1) ?? tick.time - 1;
  const values = rule ? byRule(tick, rule) : tick.global;
  const known = (name) => (name === 'time' ? tick.time : name === 'millis' ? tick.millis : values[name] ?? (GAUGES.has(name) ? null : 0));
  if (tick.time <= last) {
    // The answer had this second before its numbers were there.
    const i = columns.time.indexOf(tick.time);
    if (columns.millis[i] === 0) Object.entries(columns).forEach(([name, column]) => (column[i] = known(name)));
    return;
  }
  for (let at = Math.max(last + 1, tick.time - 600); at <= tick.time; at++) {
    for (const [name, column] of Object.entries(columns)) {
      column.push(at === tick.time ? known(name) : name === 'time' ? at : name === 'millis' ? 0 : null);
    }
  }
  for (const column of Object.values(columns)) column.splice(0, column.length - Math.max(length, 60));
}

function byRule(tick, rule) {
  const found = rule === 'other' ? tick.other : tick.rules.find((each) => each[0] === rule)?.slice(-6);
  return Object.fromEntries(RULE.map((name, i) => [name, found?.[i] ?? 0]));
}

/** A column by the second. A row that stands for several steps fills those before it. */
function rate({columns, step}, name) {
  const found = columns[name].map((value, i) => (value == null || !columns.millis[i] ? null : GAUGES.has(name) ? value : (value / columns.millis[i]) * 1000));
  columns.millis.forEach((millis, i) => {
    for (let by = 1; by < Math.round(millis / 1000 / step) && found[i - by] === null; by++) found[i - by] = found[i];
  });
  return found;
}

export const last = (values) => values.findLast((value) => value != null) ?? null;
export const sum = (values) => values.reduce((all, value) => all + (value ?? 0), 0);

/** Changes of the rules as marks for charts. */
export const marks = (changes) => changes.filter((change) => change.kind === 'rules')
  .map((change) => ({at: Date.parse(change.at), text: `${change.target}: ${change.reason}`}));

/** How long numbers are kept, and which servers are missing. */
export function kept(data) {
  const {nodes} = data;
  const known = Math.round(sum(data.columns.millis) / 1000);
  return el('p', {class: 'note'}, data.persistent
    ? 'Kept for 30 days on this server. Restarts are gaps.'
    : 'Memory only: this server keeps 10 minutes and loses them when it stops. Start it with --data-dir to keep 30 days.',
  known < 0.9 * (data.columns.time.length * data.step) && ` Of this time ${span(known * 1000)} are known.`,
  data.problem && ` Not written to the disk now: ${data.problem}.`,
  nodes && nodes.answered < nodes.asked && el('b', {class: 'bad'}, ` ${nodes.answered} of ${nodes.asked} servers: without ${nodes.missing.map((each) => `${each.id} (${each.why})`).join(', ')}.`));
}

export const ruleLink = (path) => (path === 'other' ? 'all others' : link(`/dashboard/rule?${new URLSearchParams({rule: path})}`, path));

/** A key as it may be shown. Operators may have it told in full, which the log of changes then has. */
export function keyText(each) {
  if (!me.may('operator') || !/[·#]/.test(each.text)) return each.text;
  const box = el('span', {}, each.text, ' ', button('reveal', () => {
    const reason = el('input', {required: true, minlength: 3, maxlength: 500, placeholder: 'reason', 'aria-label': `Reason to reveal ${each.text}`});
    box.replaceChildren(each.text, el('form', {class: 'acts', submit: async (event) => {
      event.preventDefault();
      try {
        const {text} = await post('/reveal', {ref: each.ref, reason: reason.value});
        box.replaceChildren(text);
      } catch (problem) {
        say(problem.message, true);
      }
    }}, reason, el('button', {}, 'Reveal')));
    reason.focus();
  }, 'quiet'));
  return box;
}

/** Columns of a table of refusals. */
export const REFUSALS = [
  {name: 'time', kind: 'word', cell: (each) => time(each.time_millis)},
  {name: 'key', kind: 'key', cell: (each) => [keyText(each), each.stands_for > 1 && [' ', el('span', {class: 'chip', title: 'of so many, this one was kept'}, `1 of ${each.stands_for}`)]]},
  {name: 'rule', kind: 'wide', cell: (each) => ruleLink(each.rule)},
  {name: 'limit', cell: (each) => `${short(each.limit)} in ${span(each.window_seconds * 1000)}${each.plan ? `, plan ${each.plan}` : each.origin === 'rule' ? '' : `, ${each.origin}`}`},
  {name: 'why', cell: (each) => each.reason.replaceAll('_', ' ') + (each.cause ? ` (${each.cause})` : '')},
  {name: 'may pass in', kind: 'n', cell: (each) => (each.retry_after_millis == null ? 'never' : span(each.retry_after_millis))},
];
