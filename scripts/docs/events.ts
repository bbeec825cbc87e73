// docs/reference/audit-events.schema.json and the tables of docs/reference/audit-events.md, from the catalogue of audit events.
import { AUDIT_EVENTS, AUDIT_EVENT_NAMES } from '../../src/audit/instance-events.js';
import { TOKEN_EXCHANGE_EVENTS } from '../../src/token-exchange/audit/event-catalogue.js';
import type { Events, Member, Members } from '../../src/token-exchange/audit/event-members.js';
import { objectSchema, optional, text } from '../../src/token-exchange/audit/event-members.js';
import { table } from './blocks.js';

/** What every event has, as commands, the API and sinks show it. */
const COMMON = {
  id: text('Decimal digits that grow with each event; numbers may be skipped.', {
    pattern: '^[0-9]{1,19}$',
  }),
  event: text('Name of the event: what happened, and what its payload is.', { enum: AUDIT_EVENT_NAMES }),
  occurredAt: text('When it happened, by the clock of the instance, in UTC with milliseconds.', {
    format: 'date-time',
  }),
  requestId: text('`X-Request-Id` of the answer and of log lines.', {
    minLength: 1,
    maxLength: 128,
  }),
  clientRequestId: optional(
    text('`X-Request-Id` that the client chose, if no trusted proxy wrote it; not unique.', {
      minLength: 8,
      maxLength: 128,
    }),
  ),
  subjectUserId: text('Id of the local user of the event; null if there is none.', {
    type: ['string', 'null'],
  }),
  actorUserId: text('Id of the local user who acted for the subject.', { type: ['string', 'null'] }),
  payload: text('The rest, which depends on the event.', { type: 'object' }),
} satisfies Members;

export function eventSchema(): string {
  const schema = {
    $comment: 'Written by `npm run docs` from the catalogue of audit events.',
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'An event of the audit trail',
    description:
      'As `svc-admin audit --json` and `GET /api/v1/audit-events` show it. Releases may add events and properties. Present ones keep their meaning.',
    ...objectSchema(COMMON),
    allOf: AUDIT_EVENT_NAMES.map((name) => ({
      if: { properties: { event: { const: name } } },
      then: { properties: { payload: { $ref: `#/$defs/${name}` } } },
    })),
    $defs: Object.fromEntries(
      Object.entries(AUDIT_EVENTS).map(([name, { description, members }]) => [
        name,
        { description, ...objectSchema(members) },
      ]),
    ),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

export const EVENT_BLOCKS = {
  'every event': () => membersTable([COMMON]),
  events: () =>
    table(
      ['Event', 'When', 'Properties of `payload`; `?`: may be missing'],
      Object.entries(AUDIT_EVENTS).map(([name, { description, members }]) => [
        `\`${name}\``,
        description,
        Object.entries(members)
          .map(([member, { isOptional }]) => `\`${member}\`${isOptional ? '?' : ''}`)
          .join(', '),
      ]),
    ),
  members: () => membersTable(Object.values(AUDIT_EVENTS).map(({ members }) => members)),
};

export const PACKAGE_EVENT_LIST = { events: () => eventList(TOKEN_EXCHANGE_EVENTS) };

function eventList(events: Events): string {
  const rows = Object.entries(events).map(([name, { description }]) => [`\`${name}\``, description]);
  return table(['Event', 'When'], rows);
}

/** Each member once, and again only where it means something else. */
function membersTable(lists: readonly Members[]): string {
  const rows = lists.flatMap((members) =>
    Object.entries(members).map(([name, { schema }]) => [
      `\`${name}\``,
      typeOf(schema),
      String(schema['description']),
    ]),
  );
  const distinct = new Map(rows.map((row) => [row.join(), row]));
  return table(
    ['Property', 'Type', 'Meaning'],
    [...distinct.values()].sort(([one = ''], [other = '']) => one.localeCompare(other, 'en')),
  );
}

/** Words that are listed elsewhere, such as names of events, are not repeated. */
const MOST_WORDS_SHOWN = 10;

function typeOf(schema: Member<unknown>['schema']): string {
  const { type, enum: words, format, items, properties, additionalProperties } = schema;
  if (Array.isArray(words) && words.length < MOST_WORDS_SHOWN)
    return words.map((word) => `\`${word}\``).join(', ');
  if (type === 'array') return `list of ${typeOf(items as Member<unknown>['schema'])}`;
  if (properties !== undefined) return `object with ${namesOf(properties as object)}`;
  if (type === 'object' && additionalProperties !== undefined) return 'object of strings';
  const name = Array.isArray(type) ? type.join(' or ') : String(type);
  return typeof format === 'string' ? `${name} (${format})` : name;
}

function namesOf(properties: object): string {
  return Object.keys(properties)
    .map((name) => `\`${name}\``)
    .join(', ');
}
