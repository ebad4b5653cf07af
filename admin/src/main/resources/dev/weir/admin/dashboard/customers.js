import {ask, get, me, post, record, search} from './api.js';
import {button, el, field, lasts, link, number, plural, say, section, select, short, span, table, time} from './dom.js';
import {REFUSALS, ruleLink} from './stats.js';

const address = (domain, key, value) => `/dashboard/customers${search({domain, key, value})}`;
const ORIGINS = {rule: 'the rule', plan: 'its plan', own: 'its own limit', request: 'the request', unknown: 'not known'};

/** What is in force for one customer, and why; and how to change it. */
export async function customers(view) {
  const {domain = '', key = '', value = ''} = view.query;
  const [head, list] = await Promise.all([get('/rules'), get('/rules/list')]);
  const domains = [...new Set(list.rules.map((each) => each.domain))];
  const input = (text, options, more) => el('input', {value: text, autocomplete: 'off', ...more});
  const which = {domain: input(domain || domains[0] || ''), key: input(key || list.rules.find((each) => each.by)?.by || ''), value: input(value)};
  const form = el('form', {class: 'acts', submit: (event) => {
    event.preventDefault();
    view.go(address(which.domain.value, which.key.value, which.value.value));
  }}, field('Domain', which.domain), field('Key', which.key), field('Customer', which.value), el('button', {class: 'go'}, which.value.value ? 'Look up' : 'Look up or list'));
  if (!value) {
    const page = key && domain ? await get('/limits', {domain, key, limit: 100, prefix: view.query.prefix, after: view.query.after}) : null;
    return view.show(page ? `${plural(page.records.length, 'customer')}${page.next ? ' and more' : ''} with limits or a plan of ${page.records.length === 1 ? 'its' : 'their'} own` : 'Whose limits?',
      'A customer is a domain, a key and a value: shop, user, alice. Without a value those are listed that have a record.', section('Look up', null, form),
      page && section('Customers', null, table('Customers', [
        {name: 'customer', kind: 'key', cell: (each) => link(address(each.domain, each.key, each.value), each.value)},
        {name: 'plan', cell: (each) => each.plan ?? ''},
        {name: 'limits of its own', kind: 'wide', cell: (each) => each.limits.map((limit) => `${limit.rule}: ${limit.requests_per_unit}`).join(', ')},
        {name: 'note', kind: 'wide', cell: (each) => each.note ?? ''}], page.records, 'Nobody has a record here: the numbers of the rules count for all.'),
      page.next && link(`/dashboard/customers${search({domain, key, after: page.next})}`, 'More')));
  }
  const [explained, refused] = await Promise.all([
    post('/explain', {domain, descriptor: {[key]: value}}).catch((problem) => ({descriptors: [], problem: problem.message})),
    get('/refusals', {subject: value, limit: 10, scope: view.query.scope})]);
  // Asked for by its prefix first: that there is none is no error.
  const page = await get('/limits', {domain, key, prefix: value, limit: 1});
  const {body: found, tag} = page.records[0]?.value === value ? await ask('GET', record(domain, key, value)) : {};
  const limited = explained.descriptors.filter((each) => each.limit);
  const first = limited[0];
  view.show(!first ? `${value} has no limit in ${domain}` : first.state.allowed
    ? `${value} has ${short(first.state.remaining)} of ${short(first.limit.requests_per_unit)} left in ${lasts(first.limit.window)}`
    : [el('em', {}, `${value} is refused now`), ` and may pass in ${span(first.state.retry_after_ms ?? 0)}`],
  explained.problem ?? `${domain}, ${key}`, section('Look up', null, form),
  section('In force', null, table('In force', [
    {name: 'rule', kind: 'wide', cell: (each) => ruleLink(each.rule.path)},
    {name: 'limit', cell: (each) => `${each.limit.requests_per_unit} in ${lasts(each.limit.window)}`},
    {name: 'number from', cell: (each) => `${ORIGINS[each.limit.origin]}${each.limit.plan ? `, ${each.limit.plan}` : ''}`},
    {name: 'left', kind: 'n', cell: (each) => number(each.state.remaining)},
    {name: 'as new in', kind: 'n', cell: (each) => (each.state.reset_after_ms ? span(each.state.reset_after_ms) : 'now')},
  ], limited, 'No rule limits a request with this entry alone.'), found?.problems?.map((each) => el('p', {class: 'bad'}, each))),
  me.may('editor') ? form2() : section('Plan and limits', null, el('p', {class: 'note'}, found ? JSON.stringify(found.limits) : 'None of its own. Editors may give it some.')),
  section('Refused last', 'newest first', table('Refusals', REFUSALS, refused.refusals, 'This customer was not refused lately.')));

  function form2() {
    const plans = head.plans[domain] ?? [];
    const rules = list.rules.filter((each) => each.domain === domain && each.by === key).map((each) => [each.name || each.path, each.name || each.path]);
    const plan = select([['', 'none'], ...plans.map((each) => [each, each]), ...(found?.plan && !plans.includes(found.plan) ? [[found.plan, `${found.plan} (not there)`]] : [])], found?.plan ?? '');
    const note = el('input', {value: found?.note ?? '', maxlength: 500});
    const reason = el('input', {required: true, minlength: 3, maxlength: 500});
    const own = el('div', {});
    const rows = new Set();
    const add = (limit) => {
      const choice = rules.some(([name]) => name === limit.rule) || !limit.rule ? rules : [...rules, [limit.rule, limit.rule]];
      const row = {limit, rule: select(choice, limit.rule), count: el('input', {type: 'number', min: 0, max: 4294967295, required: true, value: limit.requests_per_unit}),
        until: el('input', {type: 'datetime-local', value: limit.until ? local(limit.until) : ''})};
      row.element = el('div', {class: 'acts'}, field('Rule', row.rule), field('Permits', row.count), field('Until (empty: for ever)', row.until), button('Remove', () => {
        rows.delete(row);
        row.element.remove();
      }));
      rows.add(row);
      own.append(row.element);
    };
    found?.limits.forEach(add);
    const write = async (method, path, more) => {
      try {
        await ask(method, `${path}${path.includes('?') ? '&' : '?'}wait=applied`, {...more, ...(tag ? {match: tag} : {none: '*'})});
        say(`The limits of ${value} are changed.`);
        view.go(location.pathname + location.search, true);
      } catch (problem) {
        say(problem.status === 412 ? 'Somebody else has changed this customer meanwhile: load the page again.' : problem.message, true);
      }
    };
    const at = record(domain, key, value);
    return section('Plan and limits', found ? `version ${found.version}` : 'none of its own', el('form', {submit: (event) => {
      event.preventDefault();
      const limits = [...rows].map((row) => ({...row.limit, rule: row.rule.value, requests_per_unit: Number(row.count.value), until: row.until.value ? new Date(row.until.value).toISOString() : undefined}));
      write('PUT', at, {body: {plan: plan.value || undefined, limits, note: note.value || undefined, reason: reason.value}});
    }}, el('div', {class: 'acts'}, field('Plan', plan), el('div', {class: 'grow'}, field('Note', note))), own,
    rules.length ? el('div', {class: 'acts'}, button('Add a limit of its own', () => add({rule: rules[0][0], requests_per_unit: 100})))
      : el('p', {class: 'note'}, `No rule of ${domain} has "by: ${key}", so limits of single customers do not count there.`),
    el('div', {class: 'acts'}, el('div', {class: 'grow'}, field('Reason', reason)), el('button', {class: 'go'}, 'Save'),
      found && button('Delete the record', () => reason.reportValidity() && write('DELETE', at + search({reason: reason.value})), 'danger'))),
    found?.limits.some((each) => each.until) && el('p', {class: 'note'}, found.limits.filter((each) => each.until).map((each) => [`${each.rule} ends `, time(each.until), '. '])));
  }
}

const local = (text) => {
  const date = new Date(text);
  return new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
};
