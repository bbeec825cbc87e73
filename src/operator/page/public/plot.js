// Draws counts over time as stacked bars, and says the same in a readout and in a table.
import uPlot from './uplot.js';
import { h } from './dom.js';
import { table } from './table.js';
import { momentInWords, number, wholeTime } from './wording.js';

const HEIGHT_PX = 240;
const dark = matchMedia('(prefers-color-scheme: dark)');

/**
 * @param {{ from: string, until: string, known: boolean, passed: number, refused: number }[]} buckets the oldest first
 * @param {string} label says what is drawn
 * @param {AbortSignal} signal the page is left
 */
export function plot(buckets, label, signal) {
  const canvas = h('div', { class: 'plot', role: 'img', 'aria-label': label });
  const readout = h('p', { class: 'soft readout' }, 'Point at a bar to read it.');
  const draw = () => {
    const width = canvas.clientWidth;
    if (width === 0) return;
    canvas.replaceChildren();
    new uPlot(
      optionsFor(buckets, width, colours(), (index) => tell(readout, buckets[index])),
      seriesOf(buckets),
      canvas,
    );
  };
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
      h('span', { class: 'key passed' }, 'Succeeded'),
      h('span', { class: 'key refused' }, 'Refused'),
      h('span', { class: 'soft' }, 'events per bar'),
    ),
    canvas,
    readout,
    h('details', {}, h('summary', {}, 'The same as a table'), asTable(buckets, label)),
  );
}

/** Stacked: what is drawn first reaches up to the sum, and the other stands before it. */
function seriesOf(buckets) {
  return [
    buckets.map(({ from }) => new Date(from).getTime() / 1000),
    buckets.map(({ known, passed, refused }) => (known ? passed + refused : null)),
    buckets.map(({ known, passed }) => (known ? passed : null)),
  ];
}

function optionsFor(buckets, width, { ink, line, passed, refused }, point) {
  const bars = uPlot.paths.bars({ size: [0.8, 48], align: 1, radius: 0.08 });
  const font = '12px system-ui, sans-serif';
  const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const [first, last] = [buckets.at(0), buckets.at(-1)].map(
    (bucket) => new Date(bucket.from).getTime() / 1000,
  );
  const lengthS = (new Date(buckets.at(-1).until) - new Date(buckets.at(-1).from)) / 1000;
  const series = (color) => ({ fill: color, stroke: color, width: 0, paths: bars, points: { show: false } });
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
    series: [{}, series(refused), series(passed)],
    hooks: { setCursor: [({ cursor: { idx } }) => idx !== null && idx !== undefined && point(idx)] },
  };
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

function tell(readout, { from, until, known, passed, refused }) {
  const counts = known ? `${number(passed)} succeeded, ${number(refused)} refused` : 'not counted';
  readout.textContent = `${momentInWords(from)} to ${momentInWords(until).replace(/^.*, /, '')}: ${counts}`;
}

function asTable(buckets, label) {
  const unknown = () => h('span', { class: 'soft' }, 'not counted');
  return table(
    label,
    [
      { title: 'From', cell: ({ from }) => wholeTime(from) },
      {
        title: 'Succeeded (events)',
        class: 'number',
        cell: ({ known, passed }) => (known ? number(passed) : unknown()),
      },
      {
        title: 'Refused (events)',
        class: 'number',
        cell: ({ known, refused }) => (known ? number(refused) : unknown()),
      },
    ],
    buckets,
  );
}

/** As theme.css has them at this moment. */
function colours() {
  const probe = h('span', { class: 'probe' });
  document.body.append(probe);
  const of = (name) => {
    probe.dataset.colour = name;
    return getComputedStyle(probe).color;
  };
  const found = { ink: of('soft'), line: of('line'), passed: of('passed'), refused: of('refused') };
  probe.remove();
  return found;
}
