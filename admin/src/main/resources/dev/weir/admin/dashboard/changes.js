import {ask, get, me} from './api.js';
import {button, diff, el, field, plural, say, section, select, time} from './dom.js';

const KINDS = [['', 'all'], ['rules', 'rules'], ['record', 'customers'], ['token', 'tokens'], ['reset', 'resets'], ['reveal', 'revealed keys'], ['login', 'failed logins'], ['refused', 'refused changes'], ['rollout', 'rollouts']];

/** Who changed what, when and why; back again; and whether the log is as it was written. */
export async function changes(view) {
  const {actor, kind, target, before} = view.query;
  const one = Number(view.query.number) || 0;
  const [page, head] = await Promise.all([get('/audit', one ? {before: one + 1, after: one - 1} : {actor, kind, target, before, limit: 50}), ask('GET', '/rules')]);
  const newest = page.changes[0];
  const who = el('input', {value: actor ?? '', size: 12});
  const what = el('input', {value: target ?? '', size: 16, placeholder: 'shop/user/alice'});
  const which = select(KINDS, kind ?? '');
  const verified = el('span', {role: 'status'});
  view.show(one ? `Change ${one}` : newest ? `Last changed: ${newest.kind} ${newest.target}` : 'Nothing was changed',
    one || !newest ? null : [time(newest.at), ` by ${newest.author}: ${newest.reason}`],
    section('Find', null, el('form', {class: 'acts', submit: (event) => {
      event.preventDefault();
      view.search({actor: who.value, kind: which.value, target: what.value, before: '', number: ''});
    }}, field('Who', who), field('Kind', which), field('What', what), el('button', {class: 'go'}, 'Find'), me.may('operator') && button('Verify the log', verify), verified)),
    el('section', {}, el('h2', {class: 'away'}, 'Log of changes'), page.changes.length ? el('ul', {class: 'plain log'}, page.changes.map(entry)) : el('p', {class: 'note'}, 'No change fits.'),
      page.next && !one && button('Older', () => view.search({before: page.next})), one > 0 && button('All changes', () => view.go('/dashboard/changes'))));

  function entry(change) {
    const inside = el('div', {});
    const more = el('details', {open: one > 0, toggle: () => more.open && !inside.firstChild && fill(change, inside)},
      el('summary', {}, el('b', {}, `${change.kind} ${change.target ?? ''}`), change.unreadable ?? change.reason,
        el('small', {}, time(change.at), ` · ${change.author}, ${change.role || 'no role'}${change.via ? `, by ${change.via}` : ''} · #${change.number}`)), inside);
    return el('li', {}, more);
  }

  async function fill(change, inside) {
    const revision = change.kind === 'rules' ? Number(/^r(\d+)$/.exec(change.target ?? '')?.[1]) : 0;
    inside.replaceChildren(el('dl', {}, [['from', change.source], ['request', change.request], ['hash', change.hash]].filter(([, value]) => value)
      .flatMap(([name, value]) => [el('dt', {}, name), el('dd', {class: 'mono'}, value)])));
    if (!revision) {
      for (const [name, value] of [['before', change.before], ['after', change.after]]) {
        if (value) inside.append(el('h3', {}, name), el('pre', {tabindex: 0, 'aria-label': name}, JSON.stringify(value, null, 2)));
      }
      return;
    }
    if (revision > 1) {
      try {
        const found = await get('/rules/diff', {from: revision - 1, to: revision});
        inside.append(el('ul', {class: 'plain'}, found.diff.map((each) => el('li', {}, each))), diff(found.text_diff));
      } catch (problem) {
        inside.append(el('p', {class: 'note'}, problem.message));
      }
    }
    if (me.may('editor') && head.body.source !== 'files') {
      if (revision > 1 && revision === head.body.revision) back(inside, revision - 1, 'Undo');
      if (revision < head.body.revision) back(inside, revision, `Back to revision ${revision}`);
    }
  }

  function back(inside, to, text) {
    const reason = el('input', {required: true, minlength: 3, maxlength: 500});
    inside.append(el('form', {class: 'acts', submit: async (event) => {
      event.preventDefault();
      try {
        const {body} = await ask('POST', '/rules/rollback?wait=applied', {match: head.tag, body: {to, reason: reason.value}});
        say(`Revision ${body.revision} is in force, with the rules of revision ${to}.`);
        view.go('/dashboard/changes');
      } catch (problem) {
        say(problem.status === 412 ? 'The rules have changed meanwhile: load the page again.' : problem.message, true);
      }
    }}, el('div', {class: 'grow'}, field('Reason', reason)), el('button', {class: 'danger'}, text)));
  }

  async function verify() {
    verified.textContent = 'Verifying …';
    try {
      const found = await get('/audit/verify');
      verified.className = found.ok ? '' : 'bad';
      verified.textContent = found.ok ? `All ${plural(found.up_to, 'change')} are as they were written.` : `Not as it was written: ${found.problem}`;
    } catch (problem) {
      verified.textContent = problem.message;
    }
  }
}
