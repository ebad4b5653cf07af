import {ask, get, me, post, search} from './api.js';
import {button, el, field, plural, say, section, select, table, time} from './dom.js';

/** Who may do what: tokens, and this session. */
export async function access(view) {
  const [session, list] = await Promise.all([get('/session'), me.may('operator') ? get('/tokens') : null]);
  const live = list?.tokens.filter((token) => !token.expired);
  const linked = el('div', {});
  const made = el('div', {role: 'status'});
  const name = el('input', {required: true, maxlength: 50, autocomplete: 'off'});
  const role = select([['viewer', 'viewer: reads'], ['editor', 'editor: changes rules and limits'], ['operator', 'operator: also tokens, imports, resets']], 'viewer');
  const ttl = select([['1d', '1 day'], ['30d', '30 days'], ['90d', '90 days'], ['366d', '366 days']], '90d');
  const reason = el('input', {required: true, minlength: 3, maxlength: 500});
  view.show(live ? `${plural(live.length, 'token')} may sign in` : `You are signed in as ${session.name}, ${session.role}`,
    live ? `You are ${session.name}, ${session.role}` : 'Operators see and make tokens here.',
    section('This session', null, el('p', {class: 'note'}, 'It ends after 30 minutes without a request, after 12 hours, and with its token, ', time(session.expires), '.'),
      el('div', {class: 'acts'}, button('Sign out', () => document.dispatchEvent(new Event('weir-end')), 'danger'), button('Link for another browser', invite)), linked),
    list && section('New token', null, el('form', {class: 'acts', submit: create}, field('Name', name), field('Role', role), field('Good for', ttl), el('div', {class: 'grow'}, field('Reason', reason)), el('button', {class: 'go'}, 'Make')), made),
    list && section('Tokens', null, table('Tokens', [
      {name: 'name', cell: (token) => [token.name, token.id === session.id && [' ', el('span', {class: 'chip'}, 'you')]]},
      {name: 'id', kind: 'key', cell: (token) => token.id},
      {name: 'role', cell: (token) => token.role},
      {name: 'made', cell: (token) => time(token.created)},
      {name: 'by', cell: (token) => token.created_by},
      {name: 'until', cell: (token) => [time(token.expires), token.expired && [' ', el('span', {class: 'chip bad'}, 'expired')]]},
      {name: 'revoke', kind: 'wide', cell: (token) => revoker(token)},
    ], list.tokens, 'There are none.')));

  async function invite() {
    try {
      const {code} = await post('/session/links');
      linked.replaceChildren(el('p', {class: 'note'}, 'Good for one sign-in within 60 s, with your role:'), el('pre', {tabindex: 0, 'aria-label': 'Link'}, `${location.origin}/dashboard/#code=${code}`));
    } catch (problem) {
      say(problem.message, true);
    }
  }

  async function create(event) {
    event.preventDefault();
    try {
      const token = await post('/tokens', {name: name.value, role: role.value, ttl: ttl.value, reason: reason.value});
      made.replaceChildren(el('p', {}, `The token of ${token.name}. It is shown this once:`), el('pre', {tabindex: 0, 'aria-label': 'Token'}, token.token), button('I have it', () => view.go('/dashboard/access', true)));
    } catch (problem) {
      say(problem.message, true);
    }
  }

  function revoker(token) {
    const box = el('span', {}, button('Revoke', () => {
      const why = el('input', {required: true, minlength: 3, maxlength: 500, 'aria-label': `Reason to revoke ${token.name}`, placeholder: 'reason'});
      box.replaceChildren(el('form', {class: 'acts', submit: async (event) => {
        event.preventDefault();
        try {
          await ask('DELETE', `/tokens/${token.id}${search({reason: why.value})}`, {body: {}});
          say(`${token.name} may not sign in any more.`);
          view.go('/dashboard/access', true);
        } catch (problem) {
          say(problem.message, true);
        }
      }}, why, el('button', {class: 'danger'}, 'Revoke')));
      why.focus();
    }));
    return box;
  }
}
