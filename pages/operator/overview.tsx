// The first view: current problems, requests over time, and the search for a refused person.
import { useState } from 'preact/hooks';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { Field, Form, Options } from './form.js';
import { textIn } from './form-data.js';
import type { PageProps } from './navigation.js';
import { address, goTo, reload } from './navigation.js';
import { Card, Mark, Name, PageHead, Section, Soft, WholeTime } from './parts.js';
import { Plot } from './plot.js';
import { problemsOf } from './problems.js';
import { Empty, Loaded } from './states.js';
import { Table } from './table.js';
import { addressOf, filtersIn, TIMES } from './trail-search.js';
import { counted, number, reasonInWords } from './words.js';

type Activity = AnswerOf<'GET /activity'>;

/** The number of bars for each number of hours. */
const BARS: Readonly<Record<string, number>> = { 1: 30, 24: 48, 168: 56, 744: 62 };

/** Custom properties of operator.css with the colours of the most frequent reasons. */
const REASON_COLOURS = ['refused', 'accent', 'warn', 'violet', 'teal'];

export function OverviewView({ query }: PageProps) {
  const [hours, setHours] = useState(filtersIn(query, ['hours'])['hours'] ?? '24');
  const refresh = (
    <button type="button" onClick={() => reload('Everything here was read again.')}>
      Refresh
    </button>
  );
  const range = (
    <select aria-label="Time" onChange={({ currentTarget }) => setHours(currentTarget.value)}>
      <Options options={TIMES} value={hours} />
    </select>
  );
  const readActivity = (signal: AbortSignal) =>
    call('GET /activity', { query: { lastHours: Number(hours), buckets: BARS[hours] }, signal });
  return (
    <>
      <PageHead title="Overview" actions={refresh} />
      <FindBox />
      <Section title="What is wrong now">
        <Loaded load={readState}>{(state) => <Problems {...state} />}</Loaded>
      </Section>
      <Section title="Exchanges and logins" beside={range}>
        <Loaded load={readActivity} by={hours}>
          {(data) => <ActivityParts data={data} hours={hours} />}
        </Loaded>
      </Section>
    </>
  );
}

async function readState(signal: AbortSignal) {
  const [overview, entries] = await Promise.all([
    call('GET /overview', { signal }),
    call('GET /entries', { signal }),
  ]);
  return { overview, entries: entries.data };
}

function Problems({ overview, entries }: Awaited<ReturnType<typeof readState>>) {
  const problems = problemsOf(overview, entries);
  return (
    <>
      {problems.length === 0 && (
        <Card>
          <p>
            <Mark kind="good">All well</Mark> {counted(entries.length, 'trusted entry', 'trusted entries')};
            no key set fails, no sink lags behind, the licence holds.
          </p>
        </Card>
      )}
      {problems.length > 0 && (
        <ul class="card problems" role="list">
          {problems.map(({ isSevere, title, text, href, link }, index) => (
            <li key={index}>
              {isSevere ? <Mark kind="bad">Problem</Mark> : <Mark kind="warn">Notice</Mark>}
              <div>
                <strong>{title}</strong> <span>{text}</span> <a href={href}>{link}</a>
              </div>
            </li>
          ))}
        </ul>
      )}
      <p class="soft">
        As of <WholeTime at={overview.now} />
      </p>
    </>
  );
}

interface ActivityProps {
  data: Activity;
  hours: string;
}

function ActivityParts({ data, hours }: ActivityProps) {
  const bars = barsOf(data);
  const sum = (name: 'succeeded' | 'refused') => bars.reduce((total, bar) => total + bar[name], 0);
  const [succeeded, refused] = [sum('succeeded'), sum('refused')];
  const { since, until } = data;
  return (
    <div class="activity">
      <p>
        <strong>{number(succeeded)}</strong> succeeded, <strong>{number(refused)}</strong> refused, from{' '}
        <WholeTime at={since} /> to <WholeTime at={until} />
      </p>
      {!data.complete && (
        <p class="flash">
          There were more events than are counted at once: the counts hold from{' '}
          <WholeTime at={data.countedSince} /> on. Choose a shorter time.
        </p>
      )}
      {succeeded + refused === 0 ? (
        <Empty
          title="Nothing came in"
          text="Each token exchange, login, logout and refused call of this time will be counted here."
        />
      ) : (
        <>
          <Card>
            <Plot
              bars={bars.map((bar) => ({ ...bar, values: [bar.succeeded, bar.refused] }))}
              label={`Events from ${since} to ${until}: ${succeeded} succeeded, ${refused} refused`}
              unit="events per bar"
              series={OUTCOMES}
              linkOf={(bar) =>
                `#/trail?${new URLSearchParams({ since: bar.from, until: bar.until, also: 'strangers' })}`
              }
            />
          </Card>
          {refused > 0 && <RefusalPlot data={data} />}
          <div class="two">
            <div>
              <h3>Refusals by reason</h3>
              <Reasons data={data} hours={hours} />
            </div>
            <div>
              <h3>By issuer</h3>
              <Issuers data={data} hours={hours} />
            </div>
          </div>
        </>
      )}
    </div>
  );
}

const OUTCOMES = [
  { title: 'Succeeded', colour: 'passed' },
  { title: 'Refused', colour: 'refused' },
];

function barsOf({ buckets, until }: Activity) {
  return buckets.map((bucket, index) => ({
    ...bucket,
    until: buckets[index + 1]?.from ?? until,
    known: bucket.complete,
  }));
}

/** The most frequent reasons have their own colours. The others share one. */
function RefusalPlot({ data }: { data: Activity }) {
  const { reasons, since, until } = data;
  const shown = reasons.slice(0, REASON_COLOURS.length).map(({ reason }) => reason);
  const others = reasons.length > shown.length ? [{ title: 'Other reasons', colour: 'soft' }] : [];
  const series = shown.map((reason, index) => ({
    title: reasonInWords(reason),
    colour: REASON_COLOURS[index] ?? 'soft',
  }));
  const bars = barsOf(data).map((bar) => {
    const values = shown.map((reason) => bar.reasons[reason] ?? 0);
    const rest = bar.refused - values.reduce((sum, value) => sum + value, 0);
    return { ...bar, values: others.length > 0 ? [...values, rest] : values };
  });
  return (
    <div>
      <h3>Refusals over time</h3>
      <Card>
        <Plot
          bars={bars}
          label={`Refusals by reason from ${since} to ${until}`}
          unit="refusals per bar"
          series={[...series, ...others]}
          linkOf={(bar) => refusalsAt({ since: bar.from, until: bar.until })}
        />
      </Card>
    </div>
  );
}

function Reasons({ data: { reasons }, hours }: ActivityProps) {
  return (
    <Table
      caption="Refusals by reason"
      columns={[
        {
          title: 'Reason',
          cell: ({ reason }) => (
            <a href={refusalsAt({ reason, hours })} title={reason}>
              {reasonInWords(reason)}
            </a>
          ),
        },
        { title: 'Events', class: 'number', cell: ({ count }) => number(count) },
      ]}
      rows={reasons}
      empty={{
        title: 'No refusals',
        text: 'Reasons for refusals will be listed here, the most frequent first.',
      }}
    />
  );
}

function Issuers({ data: { issuers }, hours }: ActivityProps) {
  return (
    <Table
      caption="Events by issuer"
      columns={[
        {
          title: 'Issuer',
          cell: ({ issuer }) =>
            issuer === null ? (
              <Soft>none that is trusted, or no token</Soft>
            ) : (
              <a href={refusalsAt({ issuer, hours })}>
                <Name>{issuer}</Name>
              </a>
            ),
        },
        { title: 'Succeeded', class: 'number', cell: ({ succeeded }) => number(succeeded) },
        { title: 'Refused', class: 'number', cell: ({ refused }) => number(refused) },
      ]}
      rows={issuers}
      empty={{ title: 'No issuers', text: 'Issuers of received tokens will be listed here.' }}
    />
  );
}

function refusalsAt(filters: Record<string, string>): string {
  return `#/refusals?${new URLSearchParams(filters)}`;
}

/** The format of the service's request ids. */
const REQUEST_ID = /^[0-9a-z]{20}$/;

/** A search box that leads to a person's refusals or to a request. */
function FindBox() {
  return (
    <Form button="Find out" search="find" send={(data) => placeOf(textIn(data, 'what'))} done={goTo}>
      <Field
        name="what"
        label="Why can somebody not sign in?"
        type="search"
        required
        hint="An e-mail address, a sub, the id of a user, an issuer, or the reference (request id) of an error page or answer."
      />
    </Form>
  );
}

/** The address that answers the input. It never contains an e-mail address or a `sub`. */
async function placeOf(text: string): Promise<string> {
  if (!text.includes('@')) {
    if (/^https?:/i.test(text)) return `#/refusals?${new URLSearchParams({ issuer: text })}`;
    const { data } = await call('POST /events/search', { body: { requestId: text, limit: 1 } });
    if (data.length > 0 || REQUEST_ID.test(text)) return address('#/requests/?', text);
  }
  return addressOf('refusals', { user: text, hours: '168' });
}
