// docs/reference/audit-events.schema.json and the lists of docs/reference/audit-events.md, from the catalogue of audit events.
import { AUDIT_EVENT_NAMES, AUDIT_EVENTS } from '../../src/audit/instance-events.js';
import { TOKEN_EXCHANGE_EVENTS } from '../../src/token-exchange/audit/event-catalogue.js';
import type { Events, Member, Members } from '../../src/token-exchange/audit/event-members.js';
import { objectSchema, optional, text } from '../../src/token-exchange/audit/event-members.js';
import { list, table } from './blocks.js';

/** The properties of every event in commands, the API and sinks. */
const COMMON = {
  id: text('A growing decimal number, with gaps.', {
    pattern: '^[0-9]{1,19}$',
  }),
  event: text('', { enum: AUDIT_EVENT_NAMES }),
  occurredAt: text('Time in UTC, with milliseconds.', {
    format: 'date-time',
  }),
  requestId: text('`X-Request-Id` of the answer and of log lines.', {
    minLength: 1,
    maxLength: 128,
  }),
  clientRequestId: optional(
    text("The client's own `X-Request-Id`; not unique.", {
      minLength: 8,
      maxLength: 128,
    }),
  ),
  subjectUserId: text('Id of the local user, or null.', {
    type: ['string', 'null'],
  }),
  actorUserId: text('Id of the local user who acted for the subject, or null.', { type: ['string', 'null'] }),
  payload: text('', { type: 'object' }),
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
  return `${JSON.stringify(schema, withoutEmpty, 2)}\n`;
}

/** Omits the description of a property whose name says enough. */
function withoutEmpty(key: string, value: unknown): unknown {
  return key === 'description' && value === '' ? undefined : value;
}

export const EVENT_BLOCKS = {
  events: () =>
    list(Object.entries(AUDIT_EVENTS).map(([name, { description }]) => [`\`${name}\``, description])),
  members: () => membersList(Object.values(AUDIT_EVENTS).map(({ members }) => members)),
};

export const PACKAGE_EVENT_LIST = { events: () => eventList(TOKEN_EXCHANGE_EVENTS) };

function eventList(events: Events): string {
  const rows = Object.entries(events).map(([name, { description }]) => [`\`${name}\``, description]);
  return table(['Event', 'When'], rows);
}

/** One row for each property that has a description. The schema has all properties, with their types and values. */
function membersList(lists: readonly Members[]): string {
  const [values, meanings] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  for (const [name, { schema }] of lists.flatMap((members) => Object.entries(members))) {
    add(values, name, wordsOf(schema));
    add(meanings, name, [String(schema['description'])]);
  }
  return list(
    [...meanings]
      .map(([name, each]): [name: string, words: string, meaning: string] => {
        const words = [...(values.get(name) ?? [])].join(', ');
        return [name, words, [...each].filter((one) => one !== '').join(' ')];
      })
      .filter(([, , meaning]) => meaning !== '')
      .map(([name, words, meaning]): [string, string] => [
        `\`${name}\``,
        words === '' ? meaning : `${words}. ${meaning}`,
      ])
      .sort(([one], [other]) => one.localeCompare(other, 'en')),
  );
}

function add(sets: Map<string, Set<string>>, name: string, more: readonly string[]): void {
  sets.set(name, new Set([...(sets.get(name) ?? []), ...more]));
}

/** A property with this many values or more shows none, because they are listed elsewhere. An example is the event names. */
const MAX_WORDS_SHOWN = 10;

function wordsOf({ enum: words, items }: Member<unknown>['schema']): readonly string[] {
  if (items !== undefined) return wordsOf(items as Member<unknown>['schema']);
  if (!Array.isArray(words) || words.length >= MAX_WORDS_SHOWN) return [];
  return words.map((word) => `\`${word}\``);
}
