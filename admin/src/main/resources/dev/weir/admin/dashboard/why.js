import {get, post} from './api.js';
import {el, field, lasts, link, number, section, span, table} from './dom.js';
import {limitText} from './rules.js';
import {REFUSALS, ruleLink} from './stats.js';

const REASONS = {within_limit: 'within the limit', over_limit: 'beyond the limit', no_limit: 'no rule limits this', uncertain: 'no decision is possible now'};

/** Why a request is answered as it is. Takes what was asked, or the answer that a client got. */
export async function why(view) {
  const {domain = '', text = ''} = view.query;
  const where = el('input', {value: domain, autocomplete: 'off'});
  const what = el('textarea', {rows: 4, class: 'mono', cols: 60}, text);
  const form = section('Ask', null, el('form', {submit: (event) => {
    event.preventDefault();
    view.go(`/dashboard/why?${new URLSearchParams({domain: where.value, text: what.value})}`);
  }}, el('div', {class: 'narrow'}, field('Domain', where)), field('Descriptor, or the problem document of a refusal', what, 'path=/login,ip=192.0.2.1, or {"user": "alice"}, or the JSON of a 429.'),
  el('div', {class: 'acts'}, el('button', {class: 'go'}, 'Explain'))));
  if (!text.trim()) {
    if (!domain) get('/rules/list').then((list) => (where.value ||= list.rules[0]?.domain ?? '')).catch(() => {});
    return view.show('Why was this refused?', 'Nothing is charged by asking.', form);
  }
  let read;
  try {
    read = parse(text);
  } catch (problem) {
    return view.show('This cannot be read', problem.message, form);
  }
  if (read['violated-policies']) return document_(view, read, form);
  const answer = await post('/explain', {domain, ...(Array.isArray(read) ? {descriptors: read} : read.descriptors ? {descriptors: read.descriptors} : {descriptor: read.descriptor ?? read})})
    .catch((problem) => view.show('This cannot be explained', problem.message, form));
  if (!answer) return;
  const waits = answer.descriptors.map((each) => (each.state.allowed ? 0 : each.state.retry_after_ms ?? Infinity));
  const wait = Math.max(0, ...waits);
  view.show(answer.allowed ? 'It would pass now' : [el('em', {}, 'It would be refused now'), wait === Infinity ? ' and can never pass' : ` and pass in ${span(wait)}`],
    answer.domain_known ? REASONS[answer.reason] ?? answer.reason.replaceAll('_', ' ') : `The rules know no domain ${domain}.`, form,
    answer.descriptors.map((each) => section(each.entries.map((entry) => `${entry.key}=${entry.value}`).join(', '), null,
      el('p', {}, each.verdict),
      each.state.cause && el('p', {class: 'note'}, `No decision: ${each.state.cause}.`),
      each.limit && el('dl', {}, pairs({
        rule: ruleLink(each.rule.path), limit: `${each.limit.requests_per_unit} ${each.limit.algorithm === 'concurrency' ? 'at once' : `in ${lasts(each.limit.window)}`}, ${each.limit.algorithm}`,
        'number from': `${each.limit.origin}${each.limit.plan ? ` ${each.limit.plan}` : ''}`, ...(each.store_key && {'key in Redis': each.store_key}), left: number(each.state.remaining),
        'would pass': each.state.allowed ? 'now' : each.state.retry_after_ms == null ? 'never' : `in ${span(each.state.retry_after_ms)}`})),
      each.steps.length > 0 && [el('h3', {}, 'How the rule was found'), el('ol', {}, each.steps.map((step) => el('li', {}, `${step.entry.key}=${step.entry.value}`, step.note && `: ${step.note}`,
        step.candidates.length > 0 && el('ul', {class: 'plain'}, step.candidates.map((one) => el('li', {}, el('span', {class: one.chosen ? 'chip good' : 'chip'}, one.chosen ? 'chosen' : 'not'), ` ${one.path || one.name} (${one.position}): ${one.why}`))))))])));
}

const pairs = (members) => Object.entries(members).flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);

/** A descriptor as text or JSON, or a problem document. */
function parse(text) {
  if (/^\s*[[{]/.test(text)) return JSON.parse(text);
  const entries = text.split(',').map((part) => /^\s*([^=]+)=(.*?)\s*$/.exec(part));
  const wrong = entries.indexOf(null);
  if (wrong >= 0) throw new Error(`${text.split(',')[wrong].trim() || 'nothing'}: no key=value`);
  return Object.fromEntries(entries.map((each) => [each[1].trim(), each[2]]));
}

/** What a refusal that a client got says, and what this server remembers of it. */
async function document_(view, read, form) {
  const [list, ...found] = await Promise.all([get('/rules/list'), ...read['violated-policies'].map((name) =>
    get('/refusals', {rule: (read.statuses ?? []).find((each) => each.policy === name)?.rule ?? name, limit: 10}))]);
  const known = list.rules.filter((each) => read['violated-policies'].includes(each.name) || read['violated-policies'].includes(each.path));
  view.show([el('em', {}, 'Refused'), ` by ${read['violated-policies'].join(', ')}`], read.detail ?? '', form,
    section('The limits', null, table('The limits', [{name: 'rule', cell: (each) => ruleLink(each.path)}, {name: 'limit', cell: (each) => limitText(each)},
      {name: 'written in', cell: (each) => link(`/dashboard/edit?${new URLSearchParams({file: each.file, line: each.line})}`, `${each.file}, line ${each.line}`)}], known, 'No rule in force has this name any more.'),
    read.revision != null && el('p', {class: 'note'}, `It was refused under revision ${read.revision}; now ${list.revision} is in force.`)),
    section('Refused last by these', 'newest first', table('Refusals', REFUSALS, found.flatMap((each) => each.refusals), 'Nothing lately on this server.')));
}
