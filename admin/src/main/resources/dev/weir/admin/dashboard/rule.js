import {get} from './api.js';
import {chart} from './chart.js';
import {el, lasts, link, plural, section, share, short, table, tile} from './dom.js';
import {hottest, lastChanges} from './overview.js';
import {REFUSALS, RULE, choices, follow, kept, marks, spanText, sum} from './stats.js';
import {limitText} from './rules.js';

const STRICT = (n, w) => `No window of ${w} ever holds more than ${n} admitted permits of a key.`;
const BOUNDS = {
  'sliding-window': STRICT,
  'sliding-window-log': STRICT,
  'sliding-window-buckets': STRICT,
  'sliding-window-counter': (n, w) => `About ${n} permits of a key in any ${w}: the window before counts by its share.`,
  'concurrency': (n, w) => `Never more than ${n} permits of a key are out at the same time; a seat that is not renewed for ${w} is free again.`,
  'fixed-window': (n, w) => `${n} permits of a key between two marks of ${w}; across a mark up to ${2 * n}.`,
  'token-bucket': (n, w, burst) => `${burst} permits of a key at once, then ${n} in ${w}.`,
  'leaky-bucket': (n, w, burst) => `${burst} permits of a key at once, then ${n} in ${w}, evenly.`,
};

/** What one rule does, to whom, and where it is written. */
export async function rule(view) {
  const path = view.query.rule ?? '';
  const {scope} = view.query;
  const [list, top, refusals, audit, nodes] = await Promise.all([get('/rules/list'), get('/top', {rule: path, limit: 8, scope}),
    get('/refusals', {rule: path, limit: 8, scope}), get('/audit', {kind: 'rules', limit: 20}), get('/nodes')]);
  const found = list.rules.find((each) => each.path === path);
  const classes = chart({title: path, unit: 'permits per second'});
  const headline = el('span', {});
  const tiles = el('div', {class: 'tiles'});
  const note = el('div', {});
  const text = found && await get(`/rules/files/${encodeURIComponent(found.file)}`);
  view.show(headline, found ? `${path}: ${limitText(found)}, ${found.algorithm}` : path,
    tiles, section('Over time', spanText(view), choices(view, nodes.nodes.length), classes.element, note),
    found && section('What it promises', null, el('p', {}, BOUNDS[found.algorithm]?.(found.limit, lasts(found.window), found.burst) ?? limitText(found),
      found.shadow && ' Its shadow mode lets everything pass, and counts what it would refuse.'),
    found.plans && table('Plans', [{name: 'plan', cell: ([name]) => name}, {name: 'limit', kind: 'n', cell: ([, limit]) => short(limit)}], Object.entries(found.plans), '')),
    el('div', {class: 'beside'}, section('Most refused keys', 'last two minutes', hottest(top)), found && section('Where it is written', `${found.file}, line ${found.line}`,
      yaml(text, found.line), link(`/dashboard/edit?${new URLSearchParams({file: found.file, line: found.line})}`, 'Edit'))),
    section('Refused last', 'newest first', table('Refusals', REFUSALS, refusals.refusals, 'This rule has refused nothing lately.')),
    section('Changes of the rules', null, lastChanges(audit.changes)));
  await follow(view, path, (data) => {
    const rates = Object.fromEntries(RULE.map((name) => [name, data.rate(name)]));
    classes.update({start: data.columns.time[0] * 1000, step: data.step * 1000, marks: marks(audit.changes), series: [
      {name: 'within', tone: 'admitted', kind: 'area', values: rates.within.map((value, i) => (value == null ? null : Math.max(0, value - (rates.near[i] ?? 0))))},
      {name: 'near', tone: 'near', kind: 'area', values: rates.near},
      {name: 'over', tone: 'refused', kind: 'area', values: rates.over},
      ...['tolerated', 'shadow'].filter((name) => sum(rates[name])).map((name) => ({name, tone: name, values: rates[name]}))]});
    const total = Object.fromEntries(RULE.map((name) => [name, Math.round(sum(data.columns[name]))]));
    const out = total.over - total.shadow;
    headline.replaceChildren(...(out ? [el('em', {}, share(out, total.asked)), ` of ${short(total.asked)} permits refused`]
      : [total.asked ? `Nothing refused of ${plural(total.asked, 'permit')}` : 'Not asked']), ` in the ${spanText(view)}`);
    tiles.replaceChildren(tile('asked', short(total.asked), 'permits'), tile('refused', short(out), share(out, total.asked), out > 0),
      tile('near the limit', short(total.near), share(total.near, total.asked)), tile('would be refused', short(total.shadow), 'but for the shadow mode'));
    note.replaceChildren(kept(data));
  });
  const close = view.page.close;
  view.page.close = () => {
    close?.();
    classes.close();
  };
}

/** Lines around one line of a text. */
function yaml(text, line) {
  const lines = text.split('\n');
  const from = Math.max(0, line - 4);
  return el('pre', {tabindex: 0, 'aria-label': 'The rule as it is written'}, lines.slice(from, line + 8).map((each, i) =>
    el('span', {class: from + i + 1 === line ? 'plus' : ''}, `${String(from + i + 1).padStart(4)}  ${each}`)));
}
