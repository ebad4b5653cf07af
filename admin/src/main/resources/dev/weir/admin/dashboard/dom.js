// Elements, numbers and times. Texts from outside only ever become text nodes and plain attributes.

/** Makes an element. Functions are listeners, null and false leave an attribute or a child out. */
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value != null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((child) => child != null && child !== false));
  return element;
}

/** Has a number written with at most so many digits behind the point. */
const digits = (most) => new Intl.NumberFormat('en', {maximumFractionDigits: most});
const [whole, tenth, hundredth] = [digits(0), digits(1), digits(2)];
const two = new Intl.NumberFormat('en', {maximumSignificantDigits: 2});

export function plain(value) {
  const size = Math.abs(value);
  return (size >= 100 || Number.isInteger(value) ? whole : size >= 10 ? tenth : size >= 0.1 ? hundredth : two).format(value);
}

export function short(value) {
  if (value == null) return '–';
  for (const [least, by, unit] of [[9.995e8, 1e9, ' G'], [9.995e5, 1e6, ' M'], [1e4, 1e3, ' k']]) {
    if (Math.abs(value) >= least) return (value / by >= 100 ? whole : tenth).format(value / by) + unit;
  }
  return plain(value);
}

/** A number in short, and exact on hover and focus. */
export function number(value) {
  const text = short(value);
  return value == null || Math.abs(value) < 1e4 ? text : exact(text, whole.format(value));
}

function exact(text, full, name = 'span', more = {}) {
  return el(name, {...more, class: 'exact', tabindex: 0, 'data-exact': full}, text, el('span', {class: 'away'}, ` (${full})`));
}

export function share(part, all) {
  if (!all || part == null) return '–';
  const percent = (100 * part) / all;
  return percent > 0 && percent < 0.01 ? '< 0.01 %' : `${percent >= 10 ? tenth.format(percent) : hundredth.format(percent)} %`;
}

const pad = (value) => String(value).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
export const clock = (date, seconds) =>
  `${pad(date.getHours())}:${pad(date.getMinutes())}${seconds ? `:${pad(date.getSeconds())}` : ''}`;
export const day = (date) => `${date.getDate()} ${MONTHS[date.getMonth()]}`;

/** A time in the reader's zone, and in UTC on hover and focus. */
export function time(at, seconds = true) {
  const date = new Date(at);
  if (!at || Number.isNaN(date.getTime())) return '–';
  const year = date.getFullYear() === new Date().getFullYear() ? '' : ` ${date.getFullYear()}`;
  const today = date.toDateString() === new Date().toDateString();
  const utc = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return exact(`${today ? '' : `${day(date)}${year} `}${clock(date, seconds)}`, utc, 'time', {datetime: date.toISOString()});
}

/** A length of time as rules have it, written out: 15m as 15 min. */
export const lasts = (text) => String(text).replace(/(\d)(ms|[smhd])/g, (_, count, unit) => `${count} ${unit === 'm' ? 'min' : unit}`);

/** How long, in its two largest units: 1 min 20 s. */
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  let left = Math.round(ms / 1000);
  const parts = [];
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]) {
    const count = Math.floor(left / size);
    if (count && parts.length < 2) parts.push(`${count} ${unit}`);
    left -= count * size;
  }
  return parts.join(' ');
}

export const plural = (count, one, many = `${one}s`) => `${short(count)} ${count === 1 ? one : many}`;

/**
 * A table that becomes cards on a small screen. A column is {name, cell, kind}; kinds: n (number), key, wide.
 * Without rows it is a sentence.
 */
export function table(caption, columns, rows, empty) {
  if (!rows.length) return el('p', {class: 'note'}, empty);
  return el('div', {class: 'scroll'}, el('table', {class: 'cards'},
    el('caption', {class: 'away'}, caption),
    el('thead', {}, el('tr', {}, columns.map((column) => el('th', {scope: 'col', class: column.kind}, column.name)))),
    el('tbody', {}, rows.map((row) => el('tr', {}, columns.map((column) =>
      el('td', {class: column.kind, 'data-h': column.name}, column.cell(row))))))));
}

export const section = (title, small, ...children) =>
  el('section', {}, el('h2', {}, title, small && el('small', {}, small)), ...children);

export const tile = (label, value, small, alarm) =>
  el('div', {class: alarm ? 'tile alarm' : 'tile'}, el('span', {}, label), el('b', {}, value), el('small', {}, small));

export const link = (to, text, kind) => el('a', {href: to, class: kind}, text);

export const button = (text, press, kind) => el('button', {type: 'button', class: kind, click: press}, text);

let ids = 0;
/** A labelled field. */
export function field(label, input, hint) {
  input.id ||= `f${++ids}`;
  const help = hint && el('small', {id: `${input.id}h`}, hint);
  if (help) input.setAttribute('aria-describedby', help.id);
  return el('div', {class: 'field'}, el('label', {for: input.id}, label), input, help);
}

/** A choice among [value, text] pairs. */
export const select = (options, chosen, attributes) => el('select', attributes, options.map(([value, text]) =>
  el('option', {value, selected: value === chosen}, text)));

/** The coloured text of a unified diff. */
export const diff = (text) => el('pre', {class: 'diff', tabindex: 0, 'aria-label': 'Differences of the texts'},
  text.replace(/\n$/, '').split('\n').map((line) => el('span', {class: {'+': 'plus', '-': 'minus', '@': 'hunk'}[line[0]]}, `${line}\n`)));

/** What happened, for eyes and for screen readers. */
export function say(text, bad) {
  const box = document.getElementById('say');
  box.className = bad ? 'bad' : 'good';
  box.replaceChildren(text, button('Dismiss', () => box.replaceChildren(), 'quiet'));
}
