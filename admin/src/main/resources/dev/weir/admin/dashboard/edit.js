import {ask, get, me, post, search} from './api.js';
import {button, diff, el, field, number, plural, say, section, select, share, short, table, time} from './dom.js';

/** Changes the rules: problems while typing, what would change, a dry run, then in force. */
export async function edit(view) {
  const {body: head, tag} = await ask('GET', '/rules');
  const files = head.source === 'files';
  const texts = {};
  const edited = {};
  const gone = new Set();
  let file = head.files.some((each) => each.name === view.query.file) ? view.query.file : head.files[0]?.name ?? 'rules.yaml';
  let checked = null;
  let timer = 0;
  let asked = 0;

  const area = el('textarea', {spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-label': 'Text of the file', input: typed, scroll: () => (lines.scrollTop = area.scrollTop)});
  const lines = el('div', {class: 'lines', 'aria-hidden': true});
  const problems = el('div', {});
  const verdict = el('span', {});
  const differences = el('div', {}, el('p', {class: 'note'}, 'Nothing has been changed yet.'));
  const picker = el('div', {class: 'acts'});
  const reason = el('input', {required: true, minlength: 3, maxlength: 500, autocomplete: 'off'});
  const rollout = select([['', 'All servers at once'], ['10%', 'A tenth first'], ['50%', 'Half first']], '');
  const minutes = select([['60', 'last hour'], ['10', 'last 10 minutes']], '60', {'aria-label': 'Traffic of'});
  const dry = el('div', {'aria-live': 'polite'});
  const tryIt = button('Dry run', dryRun);
  const apply = button('Put in force', put, 'go');
  const changed = () => Object.keys(edited).length + gone.size > 0;
  view.page.leave = () => !changed() || window.confirm('Leave this page? What was edited is lost.');
  const keep = (event) => changed() && event.preventDefault();
  addEventListener('beforeunload', keep);
  view.page.close = () => {
    removeEventListener('beforeunload', keep);
    clearTimeout(timer);
  };

  async function open(name) {
    file = name;
    texts[name] ??= head.files.some((each) => each.name === name) ? await get(`/rules/files/${encodeURIComponent(name)}`) : '';
    area.value = edited[name] ?? texts[name];
    area.disabled = gone.has(name);
    pick();
    mark();
  }

  function pick() {
    const names = [...new Set([...head.files.map((each) => each.name), ...Object.keys(edited), file])];
    const fresh = el('input', {placeholder: 'shop.yaml', size: 14});
    picker.replaceChildren(
      field('File', select(names.map((name) => [name, name + (gone.has(name) ? ' (deleted)' : name in edited ? ' (edited)' : '')]), file, {change: (event) => open(event.target.value)})),
      field('New file', fresh), button('Add', () => fresh.value.trim() && open(fresh.value.trim())),
      button(gone.has(file) ? 'Keep this file' : 'Delete this file', () => {
        gone.delete(file) || gone.add(file);
        delete edited[file];
        open(file);
        typed();
      }));
  }

  function typed() {
    if (!gone.has(file)) {
      if (area.value === texts[file]) delete edited[file];
      else edited[file] = area.value;
    }
    mark();
    clearTimeout(timer);
    timer = setTimeout(check, 300);
  }

  const change = () => ({put: edited, delete: [...gone].filter((name) => head.files.some((each) => each.name === name))});

  async function check() {
    const mine = ++asked;
    checked = null;
    if (changed()) {
      try {
        const answer = await post('/rules/check', change());
        if (mine !== asked) return;
        checked = answer;
      } catch (problem) {
        if (mine !== asked) return;
        checked = {valid: false, problems: [{severity: 'error', message: problem.message}], diff: [], text_diff: ''};
      }
    }
    mark();
    show();
  }

  /** Line numbers, and beside them which lines have problems. */
  function mark() {
    const bad = new Map();
    for (const each of checked?.problems ?? []) {
      if (each.file === file && bad.get(each.line) !== 'error') bad.set(each.line, each.severity);
    }
    const count = area.value.split('\n').length;
    lines.replaceChildren(...Array.from({length: count}, (_, i) => el('span', {class: bad.get(i + 1)}, i + 1)));
    lines.scrollTop = area.scrollTop;
    tryIt.disabled = apply.disabled = !checked?.valid;
    rollout.disabled = head.revision === 0;
  }

  function show() {
    const errors = checked?.problems.filter((each) => each.severity === 'error').length ?? 0;
    area.setAttribute('aria-invalid', errors > 0);
    verdict.replaceChildren(...(!changed() ? ['Edit the rules'] : errors ? [el('em', {}, plural(errors, 'problem')), ' to mend before this can be put in force']
      : [checked?.diff.length ? `${plural(checked.diff.length, 'change')}, not in force yet` : 'No rule changes by this; texts do']));
    problems.replaceChildren(checked?.problems.length ? el('ul', {class: 'plain', 'aria-label': 'Problems'}, checked.problems.map((each) => el('li', {},
      el('span', {class: each.severity === 'error' ? 'chip bad' : 'chip'}, each.severity), ' ',
      each.line ? button(`${each.file}, line ${each.line}, column ${each.column}`, () => to(each), 'quiet') : '', ' ', each.message))) : '');
    differences.replaceChildren(!checked ? el('p', {class: 'note'}, 'Nothing has been changed yet.') : '',
      checked?.diff.length ? el('ul', {class: 'plain', 'aria-label': 'Changes of rules'}, checked.diff.map((each) => el('li', {}, each))) : '',
      checked?.text_diff ? diff(checked.text_diff) : '');
    dry.replaceChildren();
  }

  async function to({file: name, line, column}) {
    if (name !== file) await open(name);
    const from = area.value.split('\n').slice(0, line - 1).reduce((all, each) => all + each.length + 1, 0) + Math.max(0, column - 1);
    area.focus();
    area.setSelectionRange(from, from);
    area.scrollTop = Math.max(0, line - 8) * 20;
  }

  async function dryRun() {
    tryIt.disabled = true;
    dry.replaceChildren(el('p', {class: 'note'}, 'The traffic is being replayed …'));
    try {
      const {id} = await post('/dry-runs', {rules: change(), minutes: Number(minutes.value)});
      let run;
      do {
        await new Promise((done) => setTimeout(done, 250));
        run = await get(`/dry-runs/${id}`);
      } while (view.open && run.state === 'running');
      dry.replaceChildren(...(run.summary ? outcome(id, run.summary) : [el('p', {class: 'bad'}, run.problem ?? run.state)]));
    } catch (problem) {
      dry.replaceChildren(el('p', {class: 'bad'}, problem.message));
    }
    mark();
  }

  async function put() {
    if (!reason.reportValidity()) return;
    apply.disabled = true;
    const body = {...change(), reason: reason.value};
    if (rollout.value) body.rollout = {nodes: rollout.value, for: '5m', max_refused_rise: '2%'};
    try {
      const {status, body: made} = await ask('PATCH', `/rules${search({wait: 'applied'})}`, {match: tag, body});
      say(status === 202 ? `Revision ${made.revision} is made; ${plural(made.waiting?.length ?? 0, 'server')} not there yet.`
        : `Revision ${made.revision} is in force${rollout.value ? ` on ${plural(made.rollout.nodes.length, 'server')}; the others follow` : ''}.`);
      for (const name of Object.keys(edited)) delete edited[name];
      gone.clear();
      view.go('/dashboard/changes');
    } catch (problem) {
      say(problem.status === 412 ? 'Somebody else was faster: the rules have changed meanwhile. Copy your text, load this page again, and decide again.' : problem.message, true);
      if (problem.body.problems) {
        checked = {...checked, valid: false, problems: problem.body.problems};
        show();
      }
      mark();
    }
  }

  view.show(verdict, files ? 'These rules come from files of the server: they can be tried here, and are changed there.' : `Based on revision ${head.revision}`,
    section('1 · Text', null, picker, el('div', {class: 'editor'}, lines, area), problems),
    section('2 · What changes', null, differences),
    section('3 · Dry run', 'on recorded traffic; changes nothing', me.may('editor') ? el('div', {class: 'acts'}, minutes, tryIt) : el('p', {class: 'note'}, 'Editors may do this.'), dry),
    !files && section('4 · In force', null, me.may('editor')
      ? el('div', {class: 'acts'}, el('div', {class: 'grow'}, field('Reason, for the log of changes', reason)), field('Servers', rollout), apply)
      : el('p', {class: 'note'}, 'Editors may put rules in force.')));
  await open(file);
  show();
  if (view.query.line) to({file, line: Number(view.query.line), column: 1});
}

/** What a dry run found, its answer first. */
function outcome(id, {before, after, rules, refused_more: more, refused_less: less, ...rest}) {
  const by = after.refused - before.refused;
  const keys = (title, list) => list.length > 0 && [el('h3', {}, title), table(title, [{name: 'key', kind: 'key', cell: (each) => each.key}, {name: 'rule', cell: (each) => each.rule},
    {name: 'refused now', kind: 'n', cell: (each) => number(each.before)}, {name: 'then', kind: 'n', cell: (each) => number(each.after)}], list.slice(0, 8))];
  return [el('p', {}, el('b', {}, by === 0 ? 'As many requests would be refused as now' : `${short(Math.abs(by))} ${by > 0 ? 'more' : 'fewer'} ${Math.abs(by) === 1 ? 'request' : 'requests'} would be refused`),
    `: ${short(after.refused)} of ${short(after.asked)} (${share(after.refused, after.asked)}), now ${short(before.refused)}.`),
  el('p', {class: 'note'}, 'Traffic from ', time(rest.from), ' to ', time(rest.to), rest.keys_per_replayed > 1 && `, one of ${rest.keys_per_replayed} keys`, '. ', rest.warnings.join(' ')),
  table('By rule', [{name: 'rule', cell: (each) => each.rule}, {name: 'refused now', kind: 'n', cell: (each) => number(each.before?.refused)},
    {name: 'then', kind: 'n', cell: (each) => number(each.after?.refused)}, {name: 'asked', kind: 'n', cell: (each) => number((each.after ?? each.before)?.asked)}], rules, 'No rule was asked.'),
  keys('Refused more often', more), keys('Refused less often', less),
  el('p', {}, el('a', {href: `/admin/v1/dry-runs/${id}/report`, target: '_blank', rel: 'noopener'}, 'The whole report'))].flat().filter(Boolean);
}
