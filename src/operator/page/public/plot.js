// Draws counts over time as stacked bars, and says the same in a readout and in a table.
import uPlot from './uplot.js';
import { h, soft } from './dom.js';
import { table } from './table.js';
import { momentInWords, number, wholeTime } from './wording.js';

const HEIGHT_PX = 240;
const dark = matchMedia('(prefers-color-scheme: dark)');

/**
 * @param {{ from: string, until: string, known: boolean, values: number[] }[]} buckets the oldest first
 * @param {{ label: string, unit: string, series: { title: string, colour: string }[], linkOf?: (bucket: object) => string }} what
 *   `label` says what is drawn; `colour` is a custom property of operator.css; a bar leads to `linkOf`
 * @param {AbortSignal} signal the page is left
 */
export function plot(buckets, what, signal) {
  const { label, unit, series, linkOf } = what;
  const canvas = h('div', { class: `plot${linkOf ? ' leads' : ''}`, role: 'img', 'aria-label': label });
  const readout = h(
    'p',
    { class: 'soft readout' },
    linkOf ? 'Point at a bar to read it, press it to see what it counts.' : 'Point at a bar to read it.',
  );
  let pointed;
  const point = (index) => {
    if (index < 0) return;
    pointed = buckets[index];
    readout.textContent = inWords(pointed, series);
  };
  const draw = () => {
    const width = canvas.clientWidth;
    if (width === 0) return;
    canvas.replaceChildren();
    new uPlot(optionsFor(buckets, width, series, point), stacked(buckets, series), canvas);
  };
  // Before uPlot, which stops the event where it takes the click for the end of a drag.
  if (linkOf)
    canvas.addEventListener('click', () => pointed && location.assign(linkOf(pointed)), { capture: true });
  const observer = new ResizeObserver(draw);
  observer.observe(canvas);
  dark.addEventListener('change', draw, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
  return h(
    'figure',
    { class: 'figure' },
    h(
      'p',
      { class: 'legend' },
      series.map(({ title, colour }) => keyed(colour, title)),
      soft(unit),
    ),
    canvas,
    readout,
    h('details', {}, h('summary', {}, 'The same as a table'), asTable(buckets, what)),
  );
}

/** A text behind the colour that stands for it. */
function keyed(colour, text) {
  const made = h('span', { class: 'key' }, text);
  made.style.setProperty('--key', `var(--${colour})`);
  return made;
}

/** What is drawn first reaches up to the sum, and the others stand before it. */
function stacked(buckets, series) {
  const sumUpTo = (values, last) => values.slice(0, last + 1).reduce((sum, value) => sum + value, 0);
  return [
    buckets.map(({ from }) => new Date(from).getTime() / 1000),
    ...series
      .map((_, index) => buckets.map(({ known, values }) => (known ? sumUpTo(values, index) : null)))
      .toReversed(),
  ];
}

function optionsFor(buckets, width, series, point) {
  const bars = uPlot.paths.bars({ size: [0.8, 48], align: 1, radius: 0.08 });
  const font = '12px system-ui, sans-serif';
  const line = { stroke: colourOf('line'), width: 1 };
  const axis = { stroke: colourOf('soft'), font, grid: line, ticks: line };
  const [first, last] = [buckets.at(0), buckets.at(-1)].map(
    (bucket) => new Date(bucket.from).getTime() / 1000,
  );
  const lengthS = (new Date(buckets.at(-1).until) - new Date(buckets.at(-1).from)) / 1000;
  const drawn = series.map(({ colour }) => {
    const fill = colourOf(colour);
    return { fill, stroke: fill, width: 0, paths: bars, points: { show: false } };
  });
  return {
    ...{ width, height: HEIGHT_PX, legend: { show: false }, select: { show: false } },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: [first, last + lengthS] },
      y: { range: (_, __, most) => [0, Math.max(most * 1.1, 4)] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: timeLabels },
      {
        ...axis,
        size: 48,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6],
        values: (_, ticks) => ticks.map(number),
      },
    ],
    series: [{}, ...drawn.toReversed()],
    hooks: { setCursor: [(drawn) => point(indexAt(drawn))] },
  };
}

/** Of the bar below the pointer; -1 outside of the bars. */
function indexAt({ data: [froms], cursor, posToVal }) {
  return froms.findLastIndex((from) => from <= posToVal(cursor.left, 'x'));
}

/** Hours and minutes, with the day where it changes or nothing smaller is meant. */
function timeLabels(_, ticks, __, ___, incrementS) {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
  const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
  let before = '';
  return ticks.map((tick) => {
    const date = new Date(tick * 1000);
    const label = day.format(date);
    const isNewDay = label !== before;
    before = label;
    if (incrementS >= 86_400) return label;
    return isNewDay ? `${hour.format(date)}\n${label}` : hour.format(date);
  });
}

function inWords({ from, until, known, values }, series) {
  const counts = series.map(({ title }, index) => `${number(values[index])} ${title.toLowerCase()}`);
  const span = `${momentInWords(from)} to ${momentInWords(until).replace(/^.*, /, '')}`;
  return `${span}: ${known ? counts.join(', ') : 'not counted'}`;
}

function asTable(buckets, { label, series, linkOf }) {
  const counts = series.map(({ title }, index) => ({
    title,
    class: 'number',
    cell: ({ known, values }) => (known ? number(values[index]) : soft('not counted')),
  }));
  const from = (bucket) =>
    linkOf ? h('a', { href: linkOf(bucket) }, wholeTime(bucket.from)) : wholeTime(bucket.from);
  return table(label, [{ title: 'From', cell: from }, ...counts], buckets);
}

/** As operator.css and theme.css have it at this moment. */
function colourOf(name) {
  const probe = h('span', {});
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
