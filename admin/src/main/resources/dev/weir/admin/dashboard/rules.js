import {get, me} from './api.js';
import {spark} from './chart.js';
import {el, field, lasts, link, number, plural, share, short, table} from './dom.js';
import {ruleLink} from './stats.js';

export const limitText = (rule) => (rule.unlimited ? 'unlimited' : rule.limit == null ? 'no limit' : rule.algorithm === 'concurrency' ? `${short(rule.limit)} at once` : `${short(rule.limit)} in ${lasts(rule.window)}`);

/** Which limits there are, and which of them refuse. */
export async function rules(view) {
  const [list, stats] = await Promise.all([get('/rules/list'), get('/stats/rules', {scope: view.query.scope})]);
  const now = new Map(stats.rules.map((each) => [each.rule, each]));
  const refused = (rule) => (now.get(rule.path)?.over ?? 0) - (now.get(rule.path)?.shadow ?? 0);
  const refusing = list.rules.filter((rule) => refused(rule) > 0);
  const shown = el('div', {});
  const text = el('input', {type: 'search', value: view.query.find ?? '', input: () => draw()});
  const draw = () => {
    const wanted = text.value.toLowerCase();
    const fits = list.rules.filter((rule) => `${rule.path} ${rule.name} ${rule.algorithm} ${rule.store}`.toLowerCase().includes(wanted));
    shown.replaceChildren(table('Rules', [
      {name: 'rule', kind: 'wide', cell: (rule) => [ruleLink(rule.path), rule.name && rule.name !== rule.path && el('small', {class: 'note'}, ` ${rule.name}`)]},
      {name: 'limit', cell: limitText},
      {name: 'how', cell: (rule) => [rule.algorithm, rule.shadow && [' ', el('span', {class: 'chip'}, 'shadow')]]},
      {name: 'store', cell: (rule) => [rule.store || 'default', rule.plans && `, ${plural(Object.keys(rule.plans).length, 'plan')}`]},
      {name: 'asked', cell: (rule) => now.get(rule.path)?.spark && spark(now.get(rule.path).spark.asked, `asked in the last 10 minutes: ${now.get(rule.path).asked}`)},
      {name: 'refused', kind: 'n', cell: (rule) => number(refused(rule))},
      {name: 'share', kind: 'n', cell: (rule) => share(refused(rule), now.get(rule.path)?.asked)},
      {name: 'would refuse', kind: 'n', cell: (rule) => (rule.shadow ? number(now.get(rule.path)?.shadow ?? 0) : '')},
    ], fits, list.rules.length ? 'No rule has this in its name.' : 'There are no rules yet: nothing is limited.'));
  };
  draw();
  view.show(!list.rules.length ? 'There are no rules yet' : refusing.length
    ? [el('em', {}, `${refusing.length} of ${plural(list.rules.length, 'rule')}`), ` refused requests in the last 10 minutes`]
    : `None of ${plural(list.rules.length, 'rule')} refused a request in the last 10 minutes`,
  list.source === 'files' ? 'From files of the server' : `Revision ${list.revision}`,
  el('section', {}, el('div', {class: 'acts'}, field('Find', text), me.may('editor') && link('/dashboard/edit', 'Edit the rules')), shown));
}
