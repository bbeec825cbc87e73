// The largest and nastiest values for every field of every request, made from the description of the API and the two forms.
import type { Partner } from '../../demo/partner.js';
import type { ParsedJson } from './api-client.js';
import { GRANT_TYPE } from './test-service.js';

/** What a body, a header or a query may have at most, in bytes. */
export const BODY_BYTES = 256 * 1024;
export const HEADER_BYTES = 60 * 1024;
/** Array elements and object members of a JSON body, in all. */
const MAX_PARTS = 5_000;

/** Makes a value of about so many bytes. */
type OfSize<T> = (bytes: number) => T;

export interface Hostile {
  readonly name: string;
  /** The full size, in bytes. */
  readonly bytes: number;
  readonly body?: OfSize<string>;
  readonly headers?: OfSize<Record<string, string>>;
  readonly query?: OfSize<string>;
}

/** Repeats a text to a size. */
function filled(piece: string, bytes: number): string {
  return piece.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(piece))));
}

/** As they stand in a form: what decoders, splitters, counters and patterns work hardest for. */
const FORM_PIECES = [
  'A',
  '+',
  '%2B',
  '%F0%9F%98%80',
  '%EF%B8%8F',
  '.',
  'e30.',
  '%',
  '%00',
  '[[',
  '=',
  '\u00e9',
  '%20',
  'a@',
  '/..',
  '%25',
];
const FORM_FIELDS = [
  'grant_type',
  'subject_token',
  'actor_token',
  'subject_token_type',
  'scope',
  'audience',
  'resource',
  'unknown',
  'token',
  'redirectTo',
];

/** Forms in which one field, one name, or the number of fields is as large as it can be. */
export function hostileForms(base: Readonly<Record<string, string>>): Hostile[] {
  const encoded = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
  const fields = FORM_FIELDS.flatMap((field) =>
    FORM_PIECES.map((piece) => ({
      name: `${field} of ${piece}`,
      bytes: BODY_BYTES,
      body: (bytes: number) => {
        const rest = encoded(Object.fromEntries(Object.entries(base).filter(([name]) => name !== field)));
        const start = `${rest}&${field}=`;
        return start + filled(piece, bytes - start.length);
      },
    })),
  );
  const separators = ['&', '&a', '&a=1', '&a[]=', '=', '+=&', '%61=&'].map((piece) => ({
    name: `pairs of ${piece}`,
    bytes: BODY_BYTES,
    body: (bytes: number) => filled(piece, bytes),
  }));
  return [...fields, ...separators];
}

/** Correctly signed tokens with claims that are as large as a token may be. */
export function hostileTokens(partner: Partner, formOf: (token: string) => string): Hostile[] {
  const claims = {
    'many members': (bytes: number) => Object.fromEntries(range(bytes / 12).map((index) => [`m${index}`, 0])),
    'many arrays': (bytes: number) => range(bytes / 3).map(() => []),
    'many texts': (bytes: number) => range(bytes / 5).map(() => 'a'),
    'one text': (bytes: number) => filled('a', bytes),
    'one text of astral characters': (bytes: number) => filled('\u{1f600}', bytes),
    'escaped quotation marks': (bytes: number) => filled('"', bytes / 2),
    'escaped backslashes': (bytes: number) => filled('\\', bytes / 2),
  };
  return Object.entries(claims).flatMap(([name, make]) =>
    ['extra', 'aud', 'email', 'given_name', 'role', 'sub', 'jti', 'may_act'].map((claim) => ({
      name: `token with ${claim}: ${name}`,
      bytes: 45_000,
      body: (bytes: number) => formOf(partner.sign(partner.claims({ [claim]: make(bytes) }))),
    })),
  );
}

/** For each member of a body that the description has: texts, lists and objects as large as they can be. */
export function hostileBodies(schema: ParsedJson, good: Readonly<Record<string, unknown>>): Hostile[] {
  const names = [...Object.keys(schema.properties ?? {}), 'unknown'];
  const members = names.flatMap((member) =>
    Object.entries(JSON_VALUES).map(([name, value]) => ({
      name: `${member}: ${name}`,
      bytes: BODY_BYTES,
      body: (bytes: number) => {
        const rest = JSON.stringify({ ...good, [member]: 0 });
        const start = `${rest.slice(0, rest.lastIndexOf(`"${member}":0`))}"${member}":`;
        const end = rest.slice(rest.lastIndexOf(`"${member}":0`) + member.length + 4);
        return start + value(bytes - start.length - end.length) + end;
      },
    })),
  );
  const data = Object.keys((good['data'] as object | undefined) ?? {}).map((member) => ({
    name: `data.${member}: text`,
    bytes: BODY_BYTES,
    body: (bytes: number) =>
      JSON.stringify({ ...good, data: { ...(good['data'] as object), [member]: filled('a', bytes - 400) } }),
  }));
  const whole = Object.entries(JSON_VALUES).map(([name, value]) => ({
    name: `whole: ${name}`,
    bytes: BODY_BYTES,
    body: value,
  }));
  const tooMany = {
    name: 'whole: 130,000 arrays',
    bytes: BODY_BYTES,
    body: (bytes: number) => `[${filled('[],', bytes - 4)}[]]`,
  };
  const unknownNames = {
    name: 'data: unknown members',
    bytes: BODY_BYTES,
    body: (bytes: number) => JSON.stringify({ ...good, data: memberObject(bytes - 400) }),
  };
  return [
    ...members,
    ...data,
    ...whole,
    tooMany,
    unknownNames,
    { ...tooMany, name: 'whole: brackets', body: (bytes) => filled('[', bytes) },
  ];
}

/** JSON texts of about so many bytes, with as many parts as a body may have where that is what makes them nasty. */
const JSON_VALUES: Readonly<Record<string, OfSize<string>>> = {
  text: (bytes) => JSON.stringify(filled('a', bytes - 2)),
  'astral text': (bytes) => JSON.stringify(filled('\u{1f600}', bytes - 2)),
  'escaped text': (bytes) => `"${filled('\\u0001', bytes - 2)}"`,
  'quotation marks': (bytes) => `"${filled('\\"', bytes - 2)}"`,
  backslashes: (bytes) => `"${filled('\\\\', bytes - 2)}"`,
  'empty objects': (bytes) => listOf(partsIn(bytes), () => '{}'),
  'padded objects': (bytes) =>
    listOf(partsIn(bytes) / 2, () => `{"a":"${filled('b', (bytes / partsIn(bytes)) * 2 - 10)}"}`),
  numbers: (bytes) => listOf(partsIn(bytes), () => '1e308'),
  members: (bytes) => memberText(bytes),
  depth: (bytes) => listOf(partsIn(bytes) / 32, () => `${'['.repeat(29)}${']'.repeat(29)}`),
};

/** In proportion to the size, the whole number of parts at the full one. */
function partsIn(bytes: number): number {
  return Math.max(1, Math.floor((MAX_PARTS * 0.95 * bytes) / BODY_BYTES));
}

function listOf(count: number, piece: () => string): string {
  return `[${range(count).map(piece).join(',')}]`;
}

function memberText(bytes: number): string {
  return JSON.stringify(memberObject(bytes));
}

function memberObject(bytes: number): Record<string, string> {
  const count = partsIn(bytes);
  return Object.fromEntries(range(count).map((index) => [`m${index}`, filled('v', bytes / count - 14)]));
}

function range(count: number): number[] {
  return Array.from({ length: Math.floor(count) }, (_, index) => index);
}

/** Headers that the service reads, for any route. */
export function hostileHeaders(): Hostile[] {
  const names = [
    'authorization',
    'cookie',
    'origin',
    'content-type',
    'x-request-id',
    'x-forwarded-for',
    'if-none-match',
    'accept',
    'sec-fetch-site',
  ];
  const pieces = [
    'A',
    ' ',
    ',',
    ';',
    'a=b; ',
    '.',
    '"',
    '__Host-svc-session=a; ',
    'Bearer ',
    'e30.',
    '=',
    'W/"a",',
    '%41',
    '1.1.1.1,',
  ];
  return names.flatMap((header) =>
    pieces.map((piece) => ({
      name: `header ${header} of ${piece}`,
      bytes: HEADER_BYTES,
      headers: (bytes: number) => ({
        [header]: `${header === 'authorization' ? 'Bearer ' : ''}x${filled(piece, bytes - 8)}x`,
      }),
    })),
  );
}

/** Queries, for any route; `names` are the parameters that it knows. */
export function hostileQueries(names: readonly string[]): Hostile[] {
  const parameters = [...names, 'unknown'].flatMap((name) =>
    ['A', '%F0%9F%98%80', '%00', '+', '%', '%2F..', '[]'].map((piece) => ({
      name: `query ${name} of ${piece}`,
      bytes: HEADER_BYTES,
      query: (bytes: number) => `?${name}=${filled(piece, bytes - name.length - 2)}`,
    })),
  );
  const pairs = ['&', 'a&', '&a=1', 'limit=1&', 'a[b]='].map((piece) => ({
    name: `query of ${piece}`,
    bytes: HEADER_BYTES,
    query: (bytes: number) => `?${filled(piece, bytes - 1)}`,
  }));
  return [...parameters, ...pairs];
}

export const EXCHANGE_FORM = { grant_type: GRANT_TYPE, subject_token: 'e30.e30.e30' };
