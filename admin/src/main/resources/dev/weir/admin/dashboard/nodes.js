import {get} from './api.js';
import {el, number, plural, section, share, span, table, time} from './dom.js';

/** Which servers there are, and what each of them has in force. */
export async function nodes(view) {
  const found = await get('/nodes');
  const alive = found.nodes.filter((node) => node.alive);
  const done = alive.filter((node) => node.revision === found.revision);
  const {rollout} = found;
  view.show(!found.nodes.length ? 'No server has reported yet' : alive.length < found.nodes.length
    ? [el('em', {}, `${alive.length} of ${plural(found.nodes.length, 'server')}`), ' answer']
    : done.length < alive.length ? [el('em', {}, `${done.length} of ${plural(alive.length, 'server')}`), ` have revision ${found.revision}`]
      : `${alive.length === 1 ? 'The server has' : `All ${alive.length} servers have`} revision ${found.revision}`,
  `The store is at change ${found.position}`,
  rollout && section('Some servers first', rollout.state, el('p', {}, `Revision ${rollout.revision} for ${plural(rollout.nodes.length, 'server')} (${rollout.nodes.join(', ')}), `, time(rollout.since), `, for ${rollout.for}.`,
    ` It is undone if these refuse ${rollout.max_refused_rise} more than the others.`), rollout.outcome && el('p', {class: 'note'}, rollout.outcome)),
  section('Servers', null, table('Servers', [
    {name: 'server', cell: (node) => node.id},
    {name: 'state', cell: (node) => el('span', {class: node.alive ? 'chip good' : 'chip bad'}, node.alive ? 'live' : `silent for ${span(node.silent_seconds * 1000)}`)},
    {name: 'revision', kind: 'n', cell: (node) => node.revision},
    {name: 'change', kind: 'n', cell: (node) => node.position},
    {name: 'asked', kind: 'n', cell: (node) => number(node.asked)},
    {name: 'refused', kind: 'n', cell: (node) => (node.asked == null ? '–' : share(node.refused, node.asked))},
    {name: 'version', cell: (node) => node.version},
    {name: 'last heard', cell: (node) => time(node.at)},
    {name: 'problems', kind: 'wide', cell: (node) => (node.problems?.length ? el('span', {class: 'bad'}, node.problems.join('; ')) : '')},
  ], found.nodes, 'Servers report each second once they follow a store.')));
  const again = setInterval(() => document.hidden || !view.open || getSelection().toString() || document.activeElement.closest('main a, main button') || view.go(location.pathname, true), 5000);
  view.page.close = () => clearInterval(again);
}
