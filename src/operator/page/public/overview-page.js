// The first page: what is wrong now, what came in over time, and the way to why somebody was refused.
import { card, h, isolated, mark, soft } from './dom.js';
import { select } from './form.js';
import { read } from './instance-api.js';
import { plot } from './plot.js';
import { problemsOf } from './problems.js';
import { findBox } from './refusals-page.js';
import { pageHead, section } from './shell.js';
import { empty, fill, filled } from './states.js';
import { table } from './table.js';
import { TIMES, filtersIn } from './trail-search.js';
import { counted, number, reasonInWords, wholeTime } from './wording.js';

/** In how many bars one looks back so many hours. */
const BUCKETS = { 1: 30, 24: 48, 168: 56, 744: 62 };

/** Of operator.css, for the most frequent reasons. */
const REASON_COLOURS = ['refused', 'accent', 'warn', 'violet', 'teal'];

export function overviewPage({ signal, query, goTo, reload }) {
  const refresh = h(
    'button',
    { type: 'button', onclick: () => reload('Everything here was read again.') },
    'Refresh',
  );
  const { hours: asked } = filtersIn(query, ['hours']);
  const range = select(TIMES, asked);
  range.ariaLabel = 'Time';
  const activity = h('div', { class: 'activity' });
  const show = () => {
    const hours = range.value;
    return fill(
      activity,
      () => readActivity(hours, signal),
      (data) => showActivity(data, hours, signal),
    );
  };
  range.addEventListener('change', show);
  show();
  return [
    pageHead('Overview', { actions: [refresh] }),
    findBox(goTo),
    section(
      'What is wrong now',
      filled(() => readState(signal), showProblems),
    ),
    h(
      'section',
      { class: 'section' },
      h('div', { class: 'title-row' }, h('h2', {}, 'Exchanges and logins'), range),
      activity,
    ),
  ];
}

async function readState(signal) {
  const [overview, entries] = await Promise.all([
    read('/overview', { signal }),
    read('/entries', { signal }),
  ]);
  return { overview, entries: entries.data };
}

function showProblems({ overview, entries }) {
  const problems = problemsOf(overview, entries);
  const asOf = h('p', { class: 'soft as-of' }, 'As of ', wholeTime(overview.now));
  if (problems.length === 0)
    return [
      card(
        mark('good', 'All well'),
        ` ${counted(entries.length, 'trusted entry', 'trusted entries')}; no key set fails, no sink lags behind, the licence holds.`,
      ),
      asOf,
    ];
  return [
    h(
      'ul',
      { class: 'card problems', role: 'list' },
      problems.map(({ isSevere, title, text, href, link }) =>
        h(
          'li',
          {},
          isSevere ? mark('bad', 'Problem') : mark('warn', 'Notice'),
          h(
            'div',
            {},
            h('strong', {}, title),
            ' ',
            h('span', {}, text),
            href && [' ', h('a', { href }, link)],
          ),
        ),
      ),
    ),
    asOf,
  ];
}

function readActivity(hours, signal) {
  const query = new URLSearchParams({ lastHours: hours, buckets: BUCKETS[hours] });
  return read(`/activity?${query}`, { signal });
}

function showActivity(data, hours, signal) {
  const bars = data.buckets.map((bucket, index) => ({
    ...bucket,
    until: data.buckets[index + 1]?.from ?? data.until,
    known: bucket.complete,
  }));
  const { succeeded, refused } = sumOf(bars);
  const parts = [
    h(
      'p',
      { class: 'sum' },
      h('strong', {}, number(succeeded)),
      ' succeeded, ',
      h('strong', {}, number(refused)),
      ' refused, from ',
      wholeTime(data.since),
      ' to ',
      wholeTime(data.until),
    ),
    !data.complete &&
      h(
        'p',
        { class: 'flash' },
        'There were more events than are counted at once: the counts hold from ',
        wholeTime(data.countedSince),
        ' on. Choose a shorter time.',
      ),
  ].filter(Boolean);
  if (succeeded + refused === 0)
    return [
      ...parts,
      empty(
        'Nothing came in',
        'Each token exchange, login, logout and refused call of this time will be counted here.',
      ),
    ];
  const outcomes = {
    label: `Events from ${data.since} to ${data.until}: ${succeeded} succeeded, ${refused} refused`,
    unit: 'events per bar',
    series: [
      { title: 'Succeeded', colour: 'passed' },
      { title: 'Refused', colour: 'refused' },
    ],
    linkOf: ({ from, until }) => `#/trail?${new URLSearchParams({ since: from, until, also: 'strangers' })}`,
  };
  const counts = bars.map((bar) => ({ ...bar, values: [bar.succeeded, bar.refused] }));
  return [
    ...parts,
    card(plot(counts, outcomes, signal)),
    refused > 0 && refusalsByReason(bars, data, signal),
    h(
      'div',
      { class: 'two' },
      titled('Refusals by reason', reasonsTable(data.reasons, hours)),
      titled('By issuer', issuersTable(data.issuers, hours)),
    ),
  ].filter(Boolean);
}

function sumOf(bars) {
  const sum = (member) => bars.reduce((total, bar) => total + bar[member], 0);
  return { succeeded: sum('succeeded'), refused: sum('refused') };
}

/** The most frequent reasons have a colour each, and the others one together. */
function refusalsByReason(bars, { reasons, since, until }, signal) {
  const shown = reasons.slice(0, REASON_COLOURS.length).map(({ reason }) => reason);
  const others = reasons.length > shown.length ? [{ title: 'Other reasons', colour: 'soft' }] : [];
  const series = shown.map((reason, index) => ({
    title: reasonInWords(reason),
    colour: REASON_COLOURS[index],
  }));
  const counts = bars.map((bar) => {
    const values = shown.map((reason) => bar.reasons[reason] ?? 0);
    const rest = bar.refused - values.reduce((sum, value) => sum + value, 0);
    return { ...bar, values: others.length > 0 ? [...values, rest] : values };
  });
  const what = {
    label: `Refusals by reason from ${since} to ${until}`,
    unit: 'refusals per bar',
    series: [...series, ...others],
    linkOf: (bar) => `#/refusals?${new URLSearchParams({ since: bar.from, until: bar.until })}`,
  };
  return titled('Refusals over time', card(plot(counts, what, signal)));
}

function reasonsTable(reasons, hours) {
  if (reasons.length === 0)
    return empty('No refusals', 'Reasons for refusals will be listed here, the most frequent first.');
  return table(
    'Refusals by reason',
    [
      {
        title: 'Reason',
        cell: ({ reason }) =>
          h('a', { href: refusalsAt({ reason, hours }), title: reason }, reasonInWords(reason)),
      },
      { title: 'Events', class: 'number', cell: ({ count }) => number(count) },
    ],
    reasons,
  );
}

function issuersTable(issuers, hours) {
  if (issuers.length === 0) return empty('No issuers', 'Issuers whose tokens came in will be listed here.');
  return table(
    'Events by issuer',
    [
      {
        title: 'Issuer',
        cell: ({ issuer }) =>
          issuer === null
            ? soft('none that is trusted, or no token')
            : h('a', { href: refusalsAt({ issuer, hours }) }, isolated(issuer)),
      },
      { title: 'Succeeded', class: 'number', cell: ({ succeeded }) => number(succeeded) },
      { title: 'Refused', class: 'number', cell: ({ refused }) => number(refused) },
    ],
    issuers,
  );
}

function titled(title, content) {
  return h('div', {}, h('h3', {}, title), content);
}

function refusalsAt(filters) {
  return `#/refusals?${new URLSearchParams(filters)}`;
}
