// Shows an event of the trail: a summary for a row, and all properties.
import type { ComponentChildren } from 'preact';
import type { ItemOf } from './api.js';
import { Code, Facts, Mark, Name, RequestLink, WholeTime } from './parts.js';
import { counted, isRefused, reasonInWords, roleInWords, termInWords, valueInWords } from './words.js';

type Event = ItemOf<'POST /events/search'>;
type Payload = Event['payload'];

const WAYS: Readonly<Record<string, string>> = {
  operator: 'at this page',
  service: 'by a command, through the service',
  database: 'by a command, on the database',
};

/** The outcome, and its reason. */
export function Outcome({ event, payload: { reason } }: Pick<Event, 'event' | 'payload'>) {
  if (typeof reason === 'string') return <Mark kind="bad">{reasonInWords(reason)}</Mark>;
  return isRefused(event) ? <Mark kind="bad">Refused</Mark> : <Mark kind="good">Done</Mark>;
}

/** The summary in a row. */
export function What({ payload }: { payload: Payload }) {
  const { operation, method, route, entry, change, issuer, cause, sessions, from, to, by, clientAddress } =
    payload;
  const parts: ComponentChildren[] = [
    isText(operation) && <Code>{operation}</Code>,
    isText(method) && <Code>{`${method} ${String(route)}`}</Code>,
    isText(entry) ? <Name>{entry}</Name> : changeOf(from, to),
    isText(change) && worded(change),
    isText(issuer) && <Name>{issuer}</Name>,
    isText(cause) && worded(cause),
    typeof sessions === 'number' && counted(sessions, 'session'),
    isText(by) && `by ${by}`,
  ].filter((part) => part !== false && part !== undefined);
  if (parts.length === 0) return isText(clientAddress) ? <>from {clientAddress}</> : null;
  return (
    <>
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 && ' · '}
          {part}
        </span>
      ))}
    </>
  );
}

/** All properties of an event. */
export function EventFacts({ payload, ...event }: { payload: Payload } & Partial<Omit<Event, 'payload'>>) {
  const { event: name, occurredAt, requestId, clientRequestId } = event;
  const known = Object.entries(payload).filter(([, value]) => !isEmpty(value));
  return (
    <Facts
      pairs={[
        ['Event', name && <code>{name}</code>],
        ['Time', occurredAt && <WholeTime at={occurredAt} />],
        ['Request', requestId && <RequestLink id={requestId} />],
        ["The client's request id", clientRequestId && <Name>{clientRequestId}</Name>],
        ...known.map(
          ([term, value]) =>
            [termInWords(term), term === 'way' ? WAYS[String(value)] : <Value value={value} />] as const,
        ),
      ].map(([term, value]) => [term, value ?? null])}
    />
  );
}

function Value({ value }: { value: unknown }) {
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  if (Array.isArray(value))
    return (
      <>
        {value.map((one: unknown, index) => (
          <div key={index}>
            <Value value={one} />
          </div>
        ))}
      </>
    );
  if (typeof value !== 'object' || value === null) return <Name>{valueInWords(String(value))}</Name>;
  return (
    <>
      {Object.entries(value as Payload).map(([name, one]) => (
        <div key={name}>
          {termInWords(name)}: <Value value={one} />
        </div>
      ))}
    </>
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** `ended-by-operator` as `ended by operator`. */
function worded(word: string): string {
  return word.replaceAll('-', ' ');
}

/** A changed user or role. */
function changeOf(from: unknown, to: unknown): string | undefined {
  const [before, after] = [from, to].map(stateInWords);
  if (before !== undefined && after !== undefined) return `${before} → ${after}`;
  return (before && `deleted: ${before}`) ?? (after && `new: ${after}`);
}

function stateInWords(state: unknown): string | undefined {
  if (isText(state)) return roleInWords(state);
  if (typeof state !== 'object' || state === null) return undefined;
  const { role, enabled } = state as { role?: unknown; enabled?: unknown };
  return `${roleInWords(String(role))}${enabled === false ? ', disabled' : ''}`;
}
