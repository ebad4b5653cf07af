// The shell: addresses, the pages' bar, signing in and out, colours.
import {ask, get, me} from './api.js';
import {button, el, field, link, section, select} from './dom.js';
import {start, stop} from './live.js';
import {access} from './access.js';
import {changes} from './changes.js';
import {customers} from './customers.js';
import {edit} from './edit.js';
import {nodes} from './nodes.js';
import {overview} from './overview.js';
import {rule} from './rule.js';
import {rules} from './rules.js';
import {why} from './why.js';

const ROOT = '/dashboard/';
const PAGES = {'': ['Overview', overview], rules: ['Rules', rules], rule: ['Rule', rule], edit: ['Edit', edit],
  customers: ['Customers', customers], why: ['Why', why], changes: ['Changes', changes], nodes: ['Nodes', nodes], access: ['Access', access]};
const BAR = ['', 'rules', 'edit', 'customers', 'why', 'changes', 'nodes', 'access'];

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const who = document.getElementById('who');
const pulse = el('span', {class: 'pulse'}, 'connecting');
let page = null;
let visit = 0;

/** Goes to an address of ours. */
function go(address, replace) {
  if (page?.leave && !page.leave()) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  open(true);
}

/** Opens the page of the address. It gets a query, and show(...) to put its elements where they belong. */
async function open(moved) {
  const mine = ++visit;
  page?.close?.();
  page = {};
  document.dispatchEvent(new CustomEvent('weir-cross', {detail: null}));
  const name = location.pathname.slice(ROOT.length).split('/')[0];
  const [title, run] = PAGES[name] ?? ['Not found', nothing];
  for (const each of nav.children) {
    const here = each.dataset.page === name || (name === 'rule' && each.dataset.page === 'rules');
    here ? each.setAttribute('aria-current', 'page') : each.removeAttribute('aria-current');
  }
  const own = page;
  const view = {
    query: Object.fromEntries(new URLSearchParams(location.search)),
    page: own,
    go,
    get open() {
      return mine === visit;
    },
    /** Shows a page: its headline answers the question that the page is for. */
    show(headline, below, ...parts) {
      if (mine !== visit) return;
      const heading = el('h1', {}, headline);
      document.title = `${heading.textContent} · Weir`;
      main.replaceChildren(el('div', {class: 'lead'}, el('p', {class: 'page'}, title), heading, below && el('p', {}, below)), ...parts.flat(2).filter(Boolean));
      main.removeAttribute('aria-busy');
    },
    /** Sets the query of the address anew, and the page. */
    search(query) {
      const given = Object.entries({...view.query, ...query}).filter(([, value]) => value != null && value !== '');
      go(location.pathname + (given.length ? `?${new URLSearchParams(given)}` : ''));
    },
  };
  main.setAttribute('aria-busy', 'true');
  try {
    await run(view);
  } catch (problem) {
    if (mine === visit && problem.status !== 401) view.show('This page cannot be shown now', problem.message, button('Try again', () => open()));
  }
  if (mine === visit && moved) {
    window.scrollTo(0, 0);
    main.focus();
  }
}

function nothing(view) {
  view.show('There is no such page', null, el('p', {}, link(ROOT, 'To the overview')));
}

function bar() {
  nav.replaceChildren(...BAR.map((name) => el('a', {href: ROOT + name, 'data-page': name}, PAGES[name][0])));
  const theme = document.documentElement.dataset.theme;
  const colours = select([['', 'As the system'], ['light', 'Light'], ['dark', 'Dark']], theme, {'aria-label': 'Colours', change: (event) => {
    document.documentElement.dataset.theme = event.target.value;
    try {
      localStorage.setItem('weir-theme', event.target.value);
    } catch {
      // Then it lasts as long as the page.
    }
  }});
  who.replaceChildren(pulse, el('span', {}, `${me.name}, ${me.role}`), colours);
}

/** Signs in by {token} or {code}. */
async function enter(by) {
  await ask('POST', '/session', {body: by});
  Object.assign(me, await get('/session'));
  bar();
  start();
  open(true);
}

function sign(why) {
  visit++;
  page?.close?.();
  page = null;
  stop();
  Object.assign(me, {role: '', name: ''});
  nav.replaceChildren();
  who.replaceChildren();
  document.title = 'Sign in · Weir';
  const token = el('input', {type: 'password', autocomplete: 'off', required: true, name: 'token'});
  const wrong = el('p', {class: 'bad', role: 'alert'}, why);
  const form = el('form', {submit: async (event) => {
    event.preventDefault();
    try {
      await enter({token: token.value.trim()});
    } catch (problem) {
      wrong.textContent = problem.status === 401 ? 'This token is not known, was revoked or has expired.' : problem.message;
      token.select();
    }
  }}, field('Token', token, 'It begins with weir_.'), el('button', {class: 'go'}, 'Sign in'));
  main.replaceChildren(el('div', {class: 'sign'}, el('h1', {}, 'Sign in to Weir'), wrong, section('By a link', null,
    el('p', {class: 'note'}, 'On a machine that reaches this server, with a token at hand:'), el('pre', {tabindex: 0}, 'weir dashboard --token-file token'),
    el('p', {class: 'note'}, 'It prints a link that is good for one sign-in within 60 s.')), section('By a token', null, form)));
  main.removeAttribute('aria-busy');
}

async function begin() {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, '', location.pathname + location.search);
  try {
    if (code) return await enter({code: decodeURIComponent(code)});
    Object.assign(me, await get('/session'));
    bar();
    start();
    await open();
  } catch (problem) {
    sign(code ? 'The link was used, or is older than 60 s. Make a new one.' : problem.status === 401 ? '' : problem.message);
  }
}

document.addEventListener('click', (event) => {
  const to = event.target.closest?.('a[href]');
  if (!to || event.ctrlKey || event.metaKey || event.shiftKey || event.button || to.target) return;
  const address = to.getAttribute('href');
  if (address === '#main') {
    event.preventDefault();
    main.focus();
  } else if (address.startsWith(ROOT)) {
    event.preventDefault();
    go(address);
  }
});
addEventListener('popstate', () => me.role && open(true));
document.addEventListener('weir-out', () => me.role && sign('Your session has ended. Sign in again.'));
document.addEventListener('weir-lost', () => me.role && get('/session').catch((problem) => problem.status === 401 && sign('Your session has ended. Sign in again.')));
document.addEventListener('weir-live', ({detail}) => {
  pulse.className = `pulse ${detail}`;
  pulse.textContent = {on: 'live', off: 'no connection', paused: 'paused'}[detail];
});
addEventListener('pageshow', (event) => event.persisted && begin());
document.addEventListener('weir-end', async () => {
  await ask('DELETE', '/session', {body: {}}).catch(() => {});
  sign('You are signed out.');
});
begin();
