// All events of one request.
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { EventFacts } from './event-facts.js';
import type { PageProps } from './navigation.js';
import { address } from './navigation.js';
import { Code, Facts, LinkButton, Mark, PageHead, Sentence, Soft, TimeFromNow } from './parts.js';
import { RefusalContent, Why } from './refusal.js';
import { Empty, Loaded } from './states.js';
import { eventInWords, reasonInWords } from './words.js';

type Event = AnswerOf<'GET /requests/:requestId'>['events'][number];

export function RequestView({ params: { requestId = '' } }: PageProps) {
  const load = async (signal: AbortSignal) => {
    const { events } = await call('GET /requests/:requestId', { params: { requestId }, signal });
    return { events, overview: events.length > 0 ? null : await call('GET /overview', { signal }) };
  };
  return (
    <>
      <PageHead
        title="Request"
        back={{ href: '#/trail', text: 'Audit trail' }}
        lead={
          <>
            The events in the audit trail of the request <Code>{requestId}</Code>, the oldest first.
          </>
        }
      />
      <Loaded load={load} by={requestId}>
        {({ events, overview }) =>
          overview === null ? <Events events={events} /> : <Nothing state={overview.tokenExchange} />
        }
      </Loaded>
    </>
  );
}

function Events({ events }: { events: readonly Event[] }) {
  return (
    <ol class="cards" role="list">
      {events.map((event, index) => (
        <li key={index} class="card padded">
          {event.reason === null ? <Done event={event} /> : <RefusalContent refusal={event} />}
        </li>
      ))}
    </ol>
  );
}

function Done({ event: { event, occurredAt, subjectUserId, notices, payload } }: { event: Event }) {
  return (
    <>
      <div class="refusal-head">
        <Mark kind="good">Done</Mark>
        <span>{eventInWords(event)}</span>
        <Soft>
          <TimeFromNow at={occurredAt} />
        </Soft>
      </div>
      {notices.map(({ kind, cause, remedy, detail }) => (
        <div key={kind}>
          <p class="cause">
            <Mark kind="warn">{reasonInWords(kind)}</Mark> <Sentence text={`${cause} (${detail})`} />
          </p>
          <Why remedy={remedy} />
        </div>
      ))}
      {subjectUserId !== null && (
        <p class="soft marks">
          <a href={address('#/users/?', subjectUserId)}>To the user</a>
        </p>
      )}
      <EventFacts payload={payload} />
    </>
  );
}

/** Requests that leave no event, by the partner's response. */
const ONLY_IN_LOG: readonly [answer: string, text: string][] = [
  [
    '404',
    'Token exchange is off: the licence does not include it or has ended, or the feature is not switched on.',
  ],
  ['501', 'The flow is switched off: SVC_EMBED_LOGIN_ENABLED, SVC_TOKEN_EXCHANGE_ENABLED.'],
  ['405', 'The endpoint does not accept this method. Under the strict policy a login must be a POST.'],
  ['415', 'JSON or another body in place of a form.'],
  ['400 invalid_request', 'A field is missing, repeated or too long, or has another grant type.'],
  ['413', 'The body is larger than 256 KiB.'],
  ['429', 'Too many requests from this address, or under this entry.'],
  ['503', 'The database is not available, or the instance has too many requests.'],
];

function Nothing({ state }: { state: AnswerOf<'GET /overview'>['tokenExchange'] }) {
  const { available, explanation, embedLogin, exchange } = state;
  const off = available
    ? [!embedLogin && 'Embedded login is switched off.', !exchange && 'Token exchange is switched off.']
    : [`Token exchange is off: ${explanation}.`];
  return (
    <>
      {off
        .filter((text) => text !== false)
        .map((text) => (
          <p key={text} class="card padded flash bad">
            {text}
          </p>
        ))}
      <Empty
        title="The trail has no event of this request"
        text="Requests that were refused before their token was read are only in the log, under this id. What each answer means:"
      >
        <Facts pairs={ONLY_IN_LOG.map(([answer, text]) => [<code key={answer}>{answer}</code>, text])} />
        <p class="soft">
          Otherwise the id is mistyped, the event is older than the retention of the trail, or another
          installation answered. The id is on the page of a refused login, and in each answer as X-Request-Id.
        </p>
        <LinkButton href="#/refusals">All refusals</LinkButton>
      </Empty>
    </>
  );
}
