// The first page: what is wrong now, what came in over time, and the way to why somebody was refused.
import { h } from './dom.js';
import { select } from './form.js';
import { read } from './instance-api.js';
import { plot } from './plot.js';
import { problemsOf } from './problems.js';
import { findBox } from './refusals-page.js';
import { pageHead, section } from './shell.js';
import { empty, fill, filled } from './states.js';
import { table } from './table.js';
import { counted, number, reasonInWords, wholeTime } from './wording.js';

/** How far one can look back, and in how many bars. */
const RANGES = [
  { value: '1', text: 'Last hour', hours: 1, buckets: 30 },
  { value: '24', text: 'Last 24 hours', hours: 24, buckets: 48 },
  { value: '168', text: 'Last 7 days', hours: 168, buckets: 56 },
  { value: '744', text: 'Last 31 days', hours: 744, buckets: 62 },
];

export function overviewPage({ signal, query, goTo, reload }) {
  const refresh = h(
    'button',
    { type: 'button', onclick: () => reload('Everything here was read again.') },
    'Refresh',
  );
  const chosen = RANGES.find(({ value }) => value === query.get('hours')) ?? RANGES[1];
  const range = select(RANGES, chosen.value);
  range.ariaLabel = 'Time';
  const activity = h('div', { class: 'activity' });
  const show = () => {
    const { hours, buckets } = RANGES.find(({ value }) => value === range.value);
    return fill(
      activity,
      () => readActivity({ hours, buckets }, signal),
      (data) => showActivity(data, signal),
    );
  };
  range.addEventListener('change', show);
  show();
  return [
    pageHead('Overview', { actions: [refresh] }),
    findBox(goTo),
    section(
      'What is wrong now',
      filled(() => readState(signal), showProblems, { class: 'problems-place' }),
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
      h(
        'div',
        { class: 'card padded all-well' },
        h('span', { class: 'state good' }, 'All well'),
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
          h('span', { class: `state ${isSevere ? 'bad' : 'warn'}` }, isSevere ? 'Problem' : 'Notice'),
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

function readActivity({ hours, buckets }, signal) {
  const query = new URLSearchParams({ lastHours: hours, buckets });
  return read(`/activity?${query}`, { signal });
}

function showActivity(data, signal) {
  const bars = data.buckets.map((bucket, index) => ({
    from: bucket.from,
    until: data.buckets[index + 1]?.from ?? data.until,
    known: bucket.complete,
    passed: bucket.exchanges + bucket.logins,
    refused: bucket.refusedExchanges + bucket.refusedLogins + bucket.refusedCalls,
  }));
  const passed = sumOf(bars, 'passed');
  const refused = sumOf(bars, 'refused');
  const parts = [
    h(
      'p',
      { class: 'sum' },
      h('strong', {}, number(passed)),
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
  ];
  if (passed + refused === 0)
    return [
      ...parts.filter(Boolean),
      empty(
        'Nothing came in',
        'Each token exchange, embedded login and refused call of this time will be counted here.',
      ),
    ];
  return [
    ...parts.filter(Boolean),
    h(
      'div',
      { class: 'card padded' },
      plot(
        bars,
        `Events from ${data.since} to ${data.until}: ${passed} succeeded, ${refused} refused`,
        signal,
      ),
    ),
    h('div', { class: 'two' }, reasonsTable(data.reasons), issuersTable(data.issuers)),
  ];
}

function reasonsTable(reasons) {
  if (reasons.length === 0)
    return empty('No refusals', 'Reasons for refusals will be listed here, the most frequent first.');
  return h(
    'div',
    {},
    h('h3', {}, 'Refusals by reason'),
    table(
      'Refusals by reason',
      [
        {
          title: 'Reason',
          cell: ({ reason }) =>
            h(
              'a',
              { href: `#/refusals?${new URLSearchParams({ reason })}`, title: reason },
              reasonInWords(reason),
            ),
        },
        { title: 'Events', class: 'number', cell: ({ count }) => number(count) },
      ],
      reasons,
    ),
  );
}

function issuersTable(issuers) {
  if (issuers.length === 0) return empty('No issuers', 'Issuers whose tokens came in will be listed here.');
  return h(
    'div',
    {},
    h('h3', {}, 'By issuer'),
    table(
      'Events by issuer',
      [
        {
          title: 'Issuer',
          cell: ({ issuer }) =>
            h('a', { href: `#/refusals?${new URLSearchParams({ issuer })}` }, h('bdi', {}, issuer)),
        },
        { title: 'Succeeded', class: 'number', cell: ({ succeeded }) => number(succeeded) },
        { title: 'Refused', class: 'number', cell: ({ refused }) => number(refused) },
      ],
      issuers,
    ),
  );
}

function sumOf(bars, member) {
  return bars.reduce((sum, bar) => sum + bar[member], 0);
}
