import {get} from './api.js';
import {chart} from './chart.js';
import {button, el, link, number, plural, section, share, short, table, tile, time} from './dom.js';
import {live} from './live.js';
import {REFUSALS, choices, follow, keyText, kept, last, marks, ruleLink, spanText, sum} from './stats.js';

/** What is refused now, by which rules, of whom; and what needs attention. */
export async function overview(view) {
  const {scope} = view.query;
  const [nodes, rules, audit, refusals] = await Promise.all([
    get('/nodes'), get('/rules'), get('/audit', {limit: 100}), get('/refusals', {limit: 8, scope})]);
  const alive = nodes.nodes.filter((node) => node.alive);
  const headline = el('span', {});
  const tiles = el('div', {class: 'tiles'});
  const care = el('div', {});
  const note = el('div', {});
  const requests = chart({title: 'Requests', unit: 'requests per second'});
  const refused = chart({title: 'Refused', unit: 'refused per second', height: 130});
  const times = chart({title: 'Time to decide', unit: 'milliseconds', height: 130});
  const byRule = el('div', {});
  const keys = el('div', {});
  const recent = el('div', {});
  const seen = [...refusals.refusals];
  const version = nodes.revision ? `revision ${nodes.revision}` : 'rules from files';
  view.show(headline, `${alive.length < nodes.nodes.length ? `${alive.length} of ` : ''}${plural(nodes.nodes.length || 1, 'server')}, ${version}, ${rules.files.reduce((all, file) => all + file.rules, 0)} rules in force`,
    tiles, care, section('Over time', spanText(view), choices(view, nodes.nodes.length), requests.element, refused.element, times.element, note),
    el('div', {class: 'beside'}, section('Rules by refusals', spanText(view), byRule), section('Keys', 'last two minutes', keys)),
    section('Refused just now', 'newest first', recent), section('Last changes', null, lastChanges(audit.changes)));

  const drawRefusals = () => recent.replaceChildren(table('Refusals', REFUSALS, seen, 'Nothing was refused since the server began.'));
  drawRefusals();
  const endRefusals = live((tick) => {
    if (!view.open || !tick.refusals?.length) return;
    seen.unshift(...tick.refusals.filter((each) => !(each.number <= seen[0]?.number)));
    seen.length = Math.min(8, seen.length);
    if (!recent.querySelector('form')) drawRefusals();
  });
  let span = null;
  const drawRules = async () => {
    const found = await get('/stats/rules', {...span, points: 0, scope});
    if (view.open) byRule.replaceChildren(busiest(found.rules));
  };
  let by = 'refused';
  const drawKeys = async () => {
    const found = await get('/top', {by, limit: 8, scope});
    const choose = (name, text) => {
      const one = button(text, () => {
        by = name;
        drawKeys();
      });
      one.setAttribute('aria-pressed', by === name);
      return one;
    };
    if (view.open && !keys.querySelector('form')) {
      keys.replaceChildren(el('div', {class: 'switch', role: 'group', 'aria-label': 'Which keys'}, choose('refused', 'Most refused'), choose('asked', 'Busiest')), hottest(found));
    }
  };
  const charts = [requests, refused, times];
  await follow(view, null, (data) => {
    const asked = data.rate('asked');
    const no = data.rate('refused');
    const unsure = data.rate('uncertain');
    const frame = {start: data.columns.time[0] * 1000, step: data.step * 1000, marks: marks(audit.changes)};
    requests.update({...frame, series: [
      {name: 'admitted', tone: 'admitted', kind: 'area', values: asked.map((value, i) => (value == null ? null : value - no[i]))},
      {name: 'refused', tone: 'refused', kind: 'area', values: no}]});
    refused.update({...frame, series: [{name: 'refused', tone: 'refused', values: no}, {name: 'uncertain', tone: 'uncertain', values: unsure}]});
    const millis = (name) => data.rate(name).map((value) => (value == null ? null : value / 1e6));
    times.update({...frame, series: [{name: '99 %', tone: 'asked', values: millis('p99_nanos')}, {name: '50 %', tone: 'tolerated', values: millis('p50_nanos')}]});
    const all = sum(data.columns.asked);
    const out = sum(data.columns.refused);
    headline.replaceChildren(...(!all ? [`No requests in the ${spanText(view)}`] : out
      ? [el('em', {}, share(out, all)), ` of ${short(Math.round(all))} requests refused in the ${spanText(view)}`]
      : [`Nothing refused of ${plural(Math.round(all), 'request')} in the ${spanText(view)}`]));
    document.title = `${headline.textContent} · Weir`;
    const p99 = last(data.columns.p99_nanos);
    const full = last(data.columns.full_percent);
    tiles.replaceChildren(
      tile('asked', `${short(last(asked))}/s`, `${short(Math.round(all))} in all`),
      tile('refused', `${short(last(no))}/s`, `${short(Math.round(out))}, ${share(out, all)}`, last(no) > 0),
      tile('99 % decided within', p99 == null ? '–' : `${short(p99 / 1e6)} ms`, 'newest'),
      tile('keys', number(last(data.columns.keys)), full == null ? 'no bound' : `${full} % of the room`, full >= 90));
    care.replaceChildren(...attention(data, nodes));
    note.replaceChildren(kept(data));
    const first = !span;
    span = {from: data.columns.time[0], to: data.columns.time.at(-1) + data.step};
    if (first) Promise.all([drawRules(), drawKeys()]).catch(() => {});
  });
  const slow = setInterval(() => document.hidden || Promise.all([drawRules(), drawKeys()]).catch(() => {}), 5000);
  const close = view.page.close;
  view.page.close = () => {
    close?.();
    endRefusals();
    clearInterval(slow);
    charts.forEach((each) => each.close());
  };
}

const busiest = (rules) => table('Rules by refusals', [
  {name: 'rule', kind: 'wide', cell: (each) => ruleLink(each.rule)},
  {name: 'asked', kind: 'n', cell: (each) => number(each.asked)},
  {name: 'refused', kind: 'n', cell: (each) => number(each.over - each.shadow)},
  {name: 'share', kind: 'n', cell: (each) => share(each.over - each.shadow, each.asked)},
], rules.slice(0, 8), 'No rule was asked in this time.');

/** The keys that are refused or ask most. */
export function hottest(found) {
  if (!found.enabled) return el('p', {class: 'note'}, 'Not counted: the server was started with --no-hot-keys.');
  return table('Keys', [
    {name: 'key', kind: 'key', cell: keyText},
    {name: 'rule', kind: 'wide', cell: (each) => ruleLink(each.rule)},
    {name: found.by, kind: 'n', cell: (each) => number(each.count)},
    {name: 'too high by', kind: 'n', cell: (each) => (each.at_most_too_high_by ? `≤ ${short(each.at_most_too_high_by)}` : 'exact')},
  ], found.keys, `No key was ${found.by} in the last two minutes.`);
}

/** Changes, newest first, each with its reason. */
export const lastChanges = (changes) => table('Last changes', [
  {name: 'what', cell: (each) => link(`/dashboard/changes?${new URLSearchParams({number: each.number})}`, `${each.kind} ${each.target}`)},
  {name: 'why', kind: 'wide', cell: (each) => each.reason},
  {name: 'who', cell: (each) => each.author},
  {name: 'when', cell: (each) => time(each.at)},
], changes.slice(0, 5), 'Nothing was changed yet.');

function attention(data, nodes) {
  const found = nodes.nodes.filter((node) => !node.alive).map((node) => `Server ${node.id} has said nothing for ${plural(node.silent_seconds, 'second')}.`);
  for (const node of nodes.nodes.filter((each) => each.alive)) {
    if (node.problems?.length) found.push(`Server ${node.id}: ${node.problems.join('; ')}`);
    else if (node.revision < nodes.revision && nodes.rollout?.state !== 'running') found.push(`Server ${node.id} still has revision ${node.revision}.`);
  }
  if (nodes.rollout?.state === 'running') found.push(`Revision ${nodes.rollout.revision} is in force on ${plural(nodes.rollout.nodes.length, 'server')} first.`);
  for (const [name, text] of [['uncertain', 'that on_failure answered, because a shared store gave no decision'], ['overloaded', 'refused because the server had too much to do'],
    ['key_space_full', 'refused because there was no room for their key'], ['errors', 'that made no sense']]) {
    const count = Math.round(sum(data.columns[name]));
    if (count) found.push(`${plural(count, 'request')} ${text}.`);
  }
  if (last(data.columns.full_percent) >= 90) found.push('The room for keys is nearly used up.');
  return found.length ? [section('Needs attention', null, el('ul', {class: 'plain'}, found.map((text) => el('li', {}, text))))] : [];
}
