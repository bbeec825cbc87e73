// Draws counts over time as stacked bars, with the same values as a readout and as a table.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { Soft, WholeTime } from './parts.js';
import { Table } from './table.js';
import { momentInWords, number } from './words.js';

const HEIGHT_PX = 240;
const dark = matchMedia('(prefers-color-scheme: dark)');

export interface Bar {
  from: string;
  until: string;
  /** Whether the whole time of the bar was counted. */
  known: boolean;
  /** One count for each series. */
  values: readonly number[];
}

export interface Series {
  title: string;
  /** A custom property of operator.css or theme.css. */
  colour: string;
}

interface PlotProps {
  /** Oldest first. */
  bars: readonly Bar[];
  /** The plot's title. */
  label: string;
  unit: string;
  series: readonly Series[];
  /** The address of a bar. */
  linkOf?: (bar: Bar) => string;
}

export function Plot(props: PlotProps) {
  const { label, unit, series, linkOf } = props;
  const [pointed, setPointed] = useState<Bar | undefined>(undefined);
  const usual = linkOf
    ? 'Point at a bar to read it, press it to see what it counts.'
    : 'Point at a bar to read it.';
  return (
    <figure class="figure">
      <p class="legend">
        {series.map(({ title, colour }) => (
          <span key={title} class="key" style={{ '--key': `var(--${colour})` }}>
            {title}
          </span>
        ))}
        <Soft>{unit}</Soft>
      </p>
      <Canvas {...props} pointed={pointed} point={setPointed} label={label} />
      <p class="soft readout">{pointed === undefined ? usual : inWords(pointed, series)}</p>
      <details>
        <summary>The same as a table</summary>
        <AsTable {...props} />
      </details>
    </figure>
  );
}

interface CanvasProps extends PlotProps {
  pointed: Bar | undefined;
  point: (bar: Bar) => void;
}

function Canvas({ bars, series, label, linkOf, pointed, point }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current: canvas } = place;
    if (canvas === null) return;
    let drawn: uPlot | undefined;
    const draw = () => {
      const width = canvas.clientWidth;
      if (width === 0) return;
      drawn?.destroy();
      drawn = new uPlot(optionsFor(bars, width, series, point), stacked(bars, series), canvas);
    };
    const observer = new ResizeObserver(draw);
    observer.observe(canvas);
    dark.addEventListener('change', draw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', draw);
      drawn?.destroy();
    };
  }, []);
  // Listens before uPlot, which stops a click that it mistakes for the end of a drag.
  const follow = () => pointed && linkOf && location.assign(linkOf(pointed));
  return (
    <div
      ref={place}
      class={`plot${linkOf ? ' leads' : ''}`}
      role="img"
      aria-label={label}
      onClickCapture={follow}
    />
  );
}

const secondsOf = (moment: string) => Date.parse(moment) / 1000;

/** The first series is drawn up to the sum, and the others in front of it. */
function stacked(bars: readonly Bar[], series: readonly Series[]): uPlot.AlignedData {
  const sumUpTo = (values: readonly number[], last: number) =>
    values.slice(0, last + 1).reduce((sum, value) => sum + value, 0);
  const sums = series.map((_, index) =>
    bars.map(({ known, values }) => (known ? sumUpTo(values, index) : null)),
  );
  return [bars.map(({ from }) => secondsOf(from)), ...sums.reverse()];
}

function optionsFor(
  bars: readonly Bar[],
  width: number,
  series: readonly Series[],
  point: (bar: Bar) => void,
): uPlot.Options {
  const paths = uPlot.paths.bars?.({ size: [0.8, 48], align: 1, radius: 0.08 });
  const font = '12px system-ui, sans-serif';
  const line = { stroke: colourOf('line'), width: 1 };
  const axis = { stroke: colourOf('soft'), font, grid: line, ticks: line };
  const drawn = series.map(({ colour }) => {
    const fill = colourOf(colour);
    return { fill, stroke: fill, width: 0, paths, points: { show: false } };
  });
  const incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6];
  const values = (_: uPlot, ticks: number[]) => ticks.map(number);
  const pointAt = (plot: uPlot) => {
    const bar = bars[indexAt(plot)];
    if (bar !== undefined) point(bar);
  };
  return {
    ...{ width, height: HEIGHT_PX, legend: { show: false }, select: NO_SELECT },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: [secondsOf(bars[0]?.from ?? ''), secondsOf(bars.at(-1)?.until ?? '')] },
      y: { range: (_, __, most) => [0, Math.max(most * 1.1, 4)] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: timeLabels },
      { ...axis, size: 48, incrs, values },
    ],
    series: [{}, ...drawn.reverse()],
    hooks: { setCursor: [pointAt] },
  };
}

const NO_SELECT = { show: false, left: 0, top: 0, width: 0, height: 0 };

/** The bar under the pointer; -1 outside the bars. */
function indexAt(plot: uPlot): number {
  const at = plot.posToVal(plot.cursor.left ?? -1, 'x');
  return plot.data[0].findLastIndex((from) => from <= at);
}

/** Hours and minutes. The day is added if it changes, or replaces them for whole days. */
function timeLabels(_: uPlot, ticks: number[], __: number, ___: number, incrementS: number): string[] {
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

function inWords({ from, until, known, values }: Bar, series: readonly Series[]): string {
  const counts = series.map(({ title }, index) => `${number(values[index] ?? 0)} ${title.toLowerCase()}`);
  const span = `${momentInWords(from)} to ${momentInWords(until).replace(/^.*, /, '')}`;
  return `${span}: ${known ? counts.join(', ') : 'not counted'}`;
}

function AsTable({ bars, label, series, linkOf }: PlotProps) {
  const counts = series.map(({ title }, index) => ({
    title,
    class: 'number',
    cell: ({ known, values }: Bar) => (known ? number(values[index] ?? 0) : <Soft>not counted</Soft>),
  }));
  const from = (bar: Bar) =>
    linkOf ? (
      <a href={linkOf(bar)}>
        <WholeTime at={bar.from} />
      </a>
    ) : (
      <WholeTime at={bar.from} />
    );
  return <Table caption={label} columns={[{ title: 'From', cell: from }, ...counts]} rows={bars} />;
}

/** The current value of a custom property. */
function colourOf(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
