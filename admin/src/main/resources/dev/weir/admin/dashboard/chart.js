// Charts over time, as SVG. Where nothing is known there is a gap, never a zero. All charts of a page have
// the same margins and the same crosshair, so what stands under each other happened at the same time.
import {clock, day, el, plain, short, svg} from './dom.js';

const LEFT = 52;
const TOP = 12;
const BOTTOM = 24;
const WIDE = 560; // From here on lines have their name at their end.
const S = 1000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;
const TIMES = [S, 2 * S, 5 * S, 10 * S, 15 * S, 30 * S, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 15 * MIN, 30 * MIN, H, 2 * H,
  3 * H, 6 * H, 12 * H, D, 2 * D, 5 * D, 7 * D, 14 * D];

/** Returns ticks in local time: as many as fit, and two at least on any span of 2 s or more. */
export function timeTicks(from, to, width) {
  const most = Math.max(2, Math.floor(width / 70));
  const span = to - from;
  const step = TIMES.find((size) => span / size <= most) ?? TIMES.at(-1);
  for (let at = TIMES.indexOf(step); at >= 0; at--) {
    const ticks = ticksBy(TIMES[at], from, to);
    if (ticks.length >= 2) return ticks;
  }
  return ticksBy(S, from, to);
}

function ticksBy(step, from, to) {
  const ticks = [];
  const at = new Date(from);
  if (step >= H) at.setHours(0, 0, 0, 0);
  else at.setMinutes(0, 0, 0);
  while (at <= to) {
    if (at >= from) ticks.push({at: +at, text: step >= D || (step >= H && !at.getHours()) ? day(at) : clock(at, step < MIN)});
    // By the calendar where the step is of hours or days, for days of 23 and 25 hours.
    if (step >= D) at.setDate(at.getDate() + step / D);
    else if (step >= H) at.setHours(at.getHours() + step / H);
    else at.setTime(+at + step);
  }
  return ticks;
}

/** Returns the smallest round number that is not below, and how many steps lead to it. */
export function roof(value) {
  if (!(value > 0)) return [1, 1];
  const size = 10 ** Math.floor(Math.log10(value));
  for (const [most, steps] of [[1, 2], [1.5, 3], [2, 2], [3, 3], [4, 2], [5, 5], [6, 3], [8, 2], [10, 2]]) {
    if (value <= most * size * 1.0001) return [most * size, steps];
  }
  return [10 * size, 2];
}

/** Returns runs of indices without a gap, as [first, behind the last]. */
function runs(values) {
  const found = [];
  let from = -1;
  for (let i = 0; i <= values.length; i++) {
    const known = i < values.length && values[i] != null;
    if (known && from < 0) from = i;
    if (!known && from >= 0) {
      found.push([from, i]);
      from = -1;
    }
  }
  return found;
}

/**
 * A chart. Data is {start, step, series, marks}: the time of the first value and between two in milliseconds;
 * series of {name, tone, kind, values} with the kinds area (stacked in their order) and line; marks of {at, text}.
 * What the tones look like is in the style sheet.
 */
export function chart({title, unit, height = 220}) {
  const plot = el('div', {class: 'plot', tabindex: 0, role: 'img'});
  const legend = el('div', {class: 'legend'});
  const when = el('span', {class: 'when'});
  const more = el('details', {toggle: () => more.open && data && listed()}, el('summary', {}, 'As a table'));
  const element = el('figure', {}, el('figcaption', {}, el('span', {}, unit), when, legend), plot, more);
  plot.style.height = `${height}px`;
  let data = null;
  let width = 0;
  let shown = null; // the time under the crosshair
  let move = () => {};

  const index = (at) => Math.round((at - data.start) / data.step);
  const count = () => data.series[0]?.values.length ?? 0;
  const x = (i) => LEFT + (i / Math.max(1, count() - 1)) * (width - LEFT - right());
  const right = () => (width >= WIDE ? 84 : 8);

  function draw() {
    if (!data || !width) return;
    const base = height - BOTTOM;
    const areas = data.series.filter((series) => series.kind === 'area');
    const tops = stack(areas);
    const highest = Math.max(0, ...tops.flat(), ...data.series.filter((s) => s.kind !== 'area').flatMap((s) => s.values));
    const [most, steps] = roof(highest);
    const y = (value) => base - (value / most) * (base - TOP);
    const parts = [];
    for (let i = 0; i <= steps; i++) {
      const value = (most * i) / steps;
      parts.push(svg('path', {class: 'grid', d: `M${LEFT} ${y(value)}H${width - right()}`}),
        svg('text', {class: 'up', x: LEFT - 8, y: y(value) + 4}, short(value)));
    }
    const known = Array.from({length: count()}, (_, i) => (data.series.some((s) => s.values[i] != null) ? 1 : null));
    const unknown = runs(known.map((one) => (one ? null : 1)));
    for (const [from, to] of unknown) {
      const left = x(Math.max(0, from - 0.5));
      parts.push(svg('rect', {class: 'gap', x: left, y: TOP, width: Math.max(0, x(Math.min(count() - 1, to - 0.5)) - left), height: base - TOP}));
    }
    if (unknown.length === 1 && unknown[0][1] - unknown[0][0] === count()) {
      parts.push(svg('text', {class: 'none', x: (LEFT + width - right()) / 2, y: base / 2 + TOP}, 'Nothing is known of this time'));
    }
    areas.forEach((series, a) => parts.push(svg('path', {class: `area ${series.tone}`, d: band(tops[a], tops[a - 1], y)})));
    for (const series of data.series) {
      if (series.kind !== 'area') parts.push(svg('path', {class: `line ${series.tone}`, d: line(series.values, y)}));
    }
    for (const mark of data.marks ?? []) {
      const at = x((mark.at - data.start) / data.step);
      if (at >= LEFT && at <= width - right()) {
        parts.push(svg('path', {class: 'mark', d: `M${at} ${base}V${TOP}l-4 -7h8l-4 7`}, svg('title', {}, mark.text)));
      }
    }
    const ticks = timeTicks(data.start, data.start + (count() - 1) * data.step, width - LEFT - right());
    for (const tick of ticks) {
      const at = x((tick.at - data.start) / data.step);
      parts.push(svg('path', {class: 'tick', d: `M${at} ${base}v4`}), svg('text', {class: 'along', x: Math.min(at, width - 20), y: height - 4}, tick.text));
    }
    if (width >= WIDE) parts.push(...names(areas, tops, y));
    const cross = svg('path', {class: 'cross'});
    const dots = svg('g', {});
    plot.replaceChildren(svg('svg', {width, height, 'aria-hidden': true}, parts, cross, dots));
    plot.setAttribute('aria-label', `${title}, ${unit}. ${summary()} Arrow keys move along it; the table below has the numbers.`);
    move = () => {
      const i = shown == null ? -1 : index(shown);
      const inside = i >= 0 && i < count();
      cross.setAttribute('d', inside ? `M${x(i)} ${TOP}V${base}` : '');
      dots.replaceChildren(...(inside ? data.series.map((s) => {
        const top = s.kind === 'area' ? tops[areas.indexOf(s)][i] : s.values[i];
        return top == null ? '' : svg('circle', {class: s.tone, cx: x(i), cy: y(top), r: 3.5});
      }).filter(Boolean) : []));
      told(inside ? i : -1);
    };
    move();
  }

  /** The upper edge of each area: its own values on those below. */
  function stack(areas) {
    const tops = [];
    areas.forEach((series, a) => tops.push(series.values.map((value, i) => (value == null ? null : value + (tops[a - 1]?.[i] ?? 0)))));
    return tops;
  }

  const line = (values, y) => runs(values).map(([from, to]) => {
    if (to - from === 1) return `M${x(from) - 1} ${y(values[from])}h2`;
    return `M${values.slice(from, to).map((value, i) => `${x(from + i).toFixed(1)} ${y(value).toFixed(1)}`).join('L')}`;
  }).join('');

  const band = (top, below, y) => runs(top).map(([from, to]) => {
    const half = to - from === 1 ? 1 : 0;
    const upper = [];
    const lower = [];
    for (let i = from; i < to; i++) {
      for (const aside of half ? [-half, half] : [0]) {
        upper.push(`${(x(i) + aside).toFixed(1)} ${y(top[i]).toFixed(1)}`);
        lower.unshift(`${(x(i) + aside).toFixed(1)} ${y(below?.[i] ?? 0).toFixed(1)}`);
      }
    }
    return `M${upper.concat(lower).join('L')}Z`;
  }).join('');

  /** Names at the ends of lines, moved apart where they would cover each other. */
  function names(areas, tops, y) {
    const found = [];
    for (const series of data.series) {
      const a = areas.indexOf(series);
      const upper = a < 0 ? series.values : tops[a];
      const last = upper.findLastIndex((value) => value != null);
      if (last < 0 || (a >= 0 && !series.values[last])) continue;
      const below = a > 0 ? tops[a - 1][last] ?? 0 : 0;
      found.push({name: series.name, tone: series.tone, y: y(a < 0 ? upper[last] : (upper[last] + below) / 2) + 4});
    }
    found.sort((one, other) => other.y - one.y);
    let free = height - BOTTOM + 4;
    for (const each of found) {
      each.y = Math.min(each.y, free);
      free = each.y - 14;
    }
    return found.map((each) => svg('text', {class: `end ${each.tone}`, x: width - right() + 6, y: each.y}, each.name));
  }

  /** The values at an index, or the newest that are known. */
  function told(i) {
    const newest = i >= 0 ? i : data.series.reduce((last, s) => Math.max(last, s.values.findLastIndex((v) => v != null)), -1);
    const at = new Date(data.start + newest * data.step);
    const near = i < 0 ? null : (data.marks ?? []).find((mark) => Math.abs(mark.at - at) <= data.step * 3);
    when.textContent = newest < 0 ? '' : `${data.step >= 60 * S || Date.now() - at > D ? `${day(at)} ` : ''}${clock(at, data.step < MIN)}${near ? ` · ${near.text}` : ''}`;
    legend.replaceChildren(...data.series.map((s) => el('span', {},
      svg('svg', {width: 20, height: 10, 'aria-hidden': true}, s.kind === 'area'
        ? svg('rect', {class: `area ${s.tone}`, width: 12, x: 4, height: 10, rx: 2})
        : svg('path', {class: `line ${s.tone}`, d: 'M0 5h20'})),
      s.name, ' ', el('b', {}, newest < 0 ? '–' : s.values[newest] == null ? 'no data' : short(s.values[newest])))));
  }

  function summary() {
    return data.series.map((s) => {
      const known = s.values.filter((value) => value != null);
      return known.length ? `${s.name}: at most ${plain(Math.max(...known))}, last ${plain(known.at(-1))}.` : `${s.name}: nothing known.`;
    }).join(' ');
  }

  /** The newest 120 values as a table. */
  function listed() {
    const first = Math.max(0, count() - 120);
    const rows = Array.from({length: count() - first}, (_, i) => count() - 1 - i);
    const cell = (i) => (s) => el('td', {class: 'n'}, s.values[i] == null ? 'no data' : plain(s.values[i]));
    more.replaceChildren(more.firstChild, el('div', {class: 'scroll tall', tabindex: 0, role: 'group', 'aria-label': `${title} as a table`}, el('table', {},
      el('caption', {class: 'away'}, `${title}, ${unit}`),
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'time'), data.series.map((s) => el('th', {scope: 'col', class: 'n'}, s.name)))),
      el('tbody', {}, rows.map((i) => {
        const at = new Date(data.start + i * data.step);
        return el('tr', {}, el('th', {scope: 'row'}, `${day(at)} ${clock(at, true)}`), data.series.map(cell(i)));
      })))));
  }

  function point(at) {
    document.dispatchEvent(new CustomEvent('weir-cross', {detail: at}));
  }
  const hear = (event) => {
    if (!element.isConnected) return;
    shown = event.detail;
    move();
  };
  document.addEventListener('weir-cross', hear);
  plot.addEventListener('pointermove', (event) => {
    if (!data) return;
    const i = ((event.clientX - plot.getBoundingClientRect().left - LEFT) / (width - LEFT - right())) * (count() - 1);
    point(data.start + Math.min(count() - 1, Math.max(0, Math.round(i))) * data.step);
  });
  plot.addEventListener('pointerleave', () => point(null));
  plot.addEventListener('blur', () => point(null));
  plot.addEventListener('keydown', (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -count(), End: count()}[event.key];
    if (event.key === 'Escape') point(null);
    if (!by || !data) return;
    event.preventDefault();
    const i = shown == null ? count() - 1 : index(shown) + by;
    point(data.start + Math.min(count() - 1, Math.max(0, i)) * data.step);
  });
  const size = new ResizeObserver(() => {
    if (plot.clientWidth !== width) {
      width = plot.clientWidth;
      draw();
    }
  });
  size.observe(plot);

  return {
    element,
    update(next) {
      data = next;
      draw();
      if (more.open && more.children.length === 1) listed();
    },
    close() {
      size.disconnect();
      document.removeEventListener('weir-cross', hear);
    },
  };
}

/** A small line without axes, beside the numbers that it shows. */
export function spark(values, label) {
  const most = Math.max(1e-9, ...values);
  const d = runs(values).map(([from, to]) => `M${values.slice(from, to).map((value, i) =>
    `${(((from + i) / Math.max(1, values.length - 1)) * 120).toFixed(1)} ${(26 - (value / most) * 24).toFixed(1)}`).join('L')}`).join('');
  return svg('svg', {class: 'spark', viewBox: '0 0 120 28', preserveAspectRatio: 'none', role: 'img', 'aria-label': label}, svg('path', {class: 'line asked', d}));
}
