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

/** One row for each property, with every meaning that it has. The schema has the types. */
function membersTable(lists: readonly Members[]): string {
  const meanings = new Map<string, Set<string>>();
  for (const [name, { schema }] of lists.flatMap((members) => Object.entries(members))) {
    const meaning = [wordsOf(schema), String(schema['description'])].filter((part) => part !== '').join(': ');
    meanings.set(name, (meanings.get(name) ?? new Set()).add(meaning));
  }
  return table(
    ['Property', 'Meaning'],
    [...meanings]
      .map(([name, each]) => [`\`${name}\``, [...each].join(' Or: ')])
      .sort(([one = ''], [other = '']) => one.localeCompare(other, 'en')),
  );
}

/** The words that a property may have. Those that are listed elsewhere, such as names of events, are not repeated. */
const MOST_WORDS_SHOWN = 10;

function wordsOf({ enum: words, items }: Member<unknown>['schema']): string {
  if (items !== undefined) return wordsOf(items as Member<unknown>['schema']);
  if (!Array.isArray(words) || words.length >= MOST_WORDS_SHOWN) return '';
  return words.map((word) => `\`${word}\``).join(', ');
}
