// The audit trail: events, newest first, filtered by kind, person, issuer, key, request and time, and saved as a file.
import type { ItemOf } from './api.js';
import { call } from './api.js';
import { EventFacts, Outcome, What } from './event-facts.js';
import { Choice, Field, Form } from './form.js';
import type { PageProps } from './navigation.js';
import { address } from './navigation.js';
import { LinkButton, Name, PageHead, Soft, WholeTime } from './parts.js';
import { lookedBack } from './refusals.js';
import type { EmptyProps } from './states.js';
import { Empty, Pages, useSuggested } from './states.js';
import { Table } from './table.js';
import { ExportBar } from './trail-export.js';
import { bodyOf, filtersIn, search, timesFor } from './trail-search.js';
import { eventInWords, isRefused, kindOfEvent } from './words.js';

export type Event = ItemOf<'POST /events/search'>;
/** E-mail addresses by id. */
type People = Readonly<Record<string, string>>;

const KINDS = [
  { value: '', text: 'All' },
  { value: 'token-exchange.*', text: 'Tokens, logins and trust' },
  { value: 'session.*', text: 'Sessions' },
  { value: 'administration.*', text: 'Commands and this page' },
  { value: 'operator.*', text: 'Operator sign-ins' },
  { value: 'api.*', text: 'API calls' },
];
const PAGE_SIZE = 50;
/** The view's filters, in the order of its fields. */
const FILTERS = ['event', 'user', 'issuer', 'kid', 'requestId', 'also', 'hours'];
const ALSO = [
  { value: '', text: 'Nothing else' },
  { value: 'readings', text: 'What was read here and by commands' },
  { value: 'strangers', text: 'Refused tokens without a verified signature' },
  { value: 'everything', text: 'Both' },
];

export function TrailView({ query }: PageProps) {
  const filters = filtersIn(query, FILTERS);
  const { event = '', user, issuer, kid, requestId, also, hours } = filters;
  const clear = <LinkButton href="#/trail">Clear</LinkButton>;
  return (
    <>
      <PageHead
        title="Audit trail"
        lead="All events, the newest first: tokens, sessions, trust, commands, and what operators did here."
      />
      <Form
        button="Search"
        search="filters"
        beside={clear}
        send={(data) => search('trail', filters, data)}
        done={() => undefined}
      >
        <Kinds chosen={event} />
        <Field
          name="user"
          label="Person"
          value={user}
          hint="E-mail address or id of the person whom the event is about, or who caused it"
        />
        <Field name="issuer" label="Issuer" value={issuer} />
        <Field name="kid" label="Key id" value={kid} />
        <Field name="requestId" label="Request id" value={requestId} />
        <Choice name="also" label="Also show" options={ALSO} value={also} />
        <Choice name="hours" label="Time" options={timesFor(filters)} value={hours} />
      </Form>
      <ExportBar filters={filters} />
      <Pages
        load={(cursor, signal) =>
          call('POST /events/search', { body: { ...bodyOf(filters), limit: PAGE_SIZE, cursor }, signal })
        }
        empty={
          <Empty title="No event matches" text="Choose a longer time or fewer filters.">
            <LinkButton href="#/trail">All events</LinkButton>
          </Empty>
        }
        ended={(page) => lookedBack(page)}
      >
        {(events, pages) => (
          <EventTable
            events={events}
            people={Object.fromEntries(pages.flatMap(({ people }) => Object.entries(people)))}
          />
        )}
      </Pages>
    </>
  );
}

function Kinds({ chosen }: { chosen: string }) {
  const names = useSuggested<readonly string[]>(
    async (signal) => (await call('GET /reasons', { signal })).events,
    [],
  );
  const all = [chosen, ...names].filter((name) => !KINDS.some(({ value }) => value === name));
  const options = [...new Set(all)].map((value) => ({ value, text: kindOfEvent(value) }));
  return <Choice name="event" label="Kind" options={[...KINDS, ...options]} value={chosen} />;
}

interface EventsProps {
  events: readonly Event[];
  people: People;
  empty?: EmptyProps;
}

/** A table with one line for each event. */
export function EventTable({ events, people, empty }: EventsProps) {
  return (
    <Table
      caption="Events"
      columns={[
        {
          title: 'Event',
          cell: ({ event, requestId }) => (
            <a href={address('#/requests/?', requestId)}>{eventInWords(event)}</a>
          ),
        },
        { title: 'Time', class: 'when', cell: ({ occurredAt }) => <WholeTime at={occurredAt} /> },
        { title: 'Person', cell: (event) => <Person event={event} people={people} /> },
        {
          title: 'What',
          cell: (event) => (
            <>
              <Outcome {...event} /> <What payload={event.payload} />
            </>
          ),
        },
      ]}
      rows={events}
      details={(event) => <EventFacts {...event} />}
      empty={empty}
    />
  );
}

/** The acting party: an actor, or the client that redeemed an identity assertion. */
function Person({ event, people }: { event: Event; people: People }) {
  const { subjectUserId, actorUserId, payload } = event;
  const { clientId } = payload;
  const link = (id: string) => (
    <a href={address('#/users/?', id)} title={id}>
      <Name>{people[id] ?? 'deleted user'}</Name>
    </a>
  );
  if (subjectUserId === null && actorUserId === null)
    return isRefused(event.event) ? <Soft>no account</Soft> : <>—</>;
  return (
    <>
      {subjectUserId !== null && typeof clientId === 'string' && (
        <>
          <Name>{clientId}</Name>, for{' '}
        </>
      )}
      {subjectUserId !== null && link(subjectUserId)}
      {actorUserId !== null && (
        <>
          {subjectUserId === null ? 'by ' : ', by '}
          {link(actorUserId)}
        </>
      )}
    </>
  );
}
