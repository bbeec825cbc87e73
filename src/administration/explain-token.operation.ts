// Explains what the service would make of a token, without using it up; and why a request was refused. Its text is for a terminal.
import type {
  AccessFlow,
  ExplainedCheck,
  ExplainedToken,
  ExplainedUser,
  TokenExplanation,
} from '../token-exchange/instance.js';
import { FIELD_LIMITS, MAX_TOKEN_CHARACTERS } from '../token-exchange/instance.js';
import { checkText } from '../audit/trail-filter.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import { CommandError, InputError } from './command-error.js';
import type { ExplainedEvent, ExplainedRequest } from './explained-request.js';
import { explainedRequest } from './explained-request.js';
import type { Read } from './input.js';
import { checkedText, moment, oneOf, members, optional, textUpTo } from './input.js';
import { listOperation } from './operation.js';
import { printable, renderTable } from './table.js';

const readTokenMembers = members({
  flow: oneOf(['embed', 'exchange', 'id-jag', 'jwt-bearer'] satisfies AccessFlow[]),
  /** Secret. */
  token: tokenText,
  /** Secret. With token exchange only. */
  actorToken: optional(tokenText),
  /** The DPoP proof of the request; not with an embedded login. */
  proof: optional(tokenText),
  /** The next two not with an embedded login. */
  scope: optional(textUpTo(FIELD_LIMITS.scope)),
  /** URIs with spaces between them. */
  resource: optional(textUpTo(FIELD_LIMITS.resource)),
  /** Of the page that posts an embedded login; left out: no browser does. */
  origin: optional(textUpTo(FIELD_LIMITS.resource)),
  /** ISO 8601: the moment as of which times are checked; left out: now. */
  at: optional(moment),
});

/** A token as a client would send it. */
export type TokenToExplain = ReturnType<typeof readTokenMembers>;

/** A request that the trail records, by the `X-Request-Id` of the answer. */
const readRequest = members({ requestId: checkedText(checkText) });

export type Explained = { readonly token: TokenExplanation } | { readonly request: ExplainedRequest };

/** Inputs of some flows only. */
const FOREIGN = {
  embed: ['actorToken', 'proof', 'scope', 'resource'],
  exchange: ['origin'],
  'id-jag': ['origin', 'actorToken'],
  'jwt-bearer': ['origin', 'actorToken'],
} as const satisfies Record<AccessFlow, readonly (keyof TokenToExplain)[]>;

/** A list of one: it changes nothing, and is in the trail without anything of the token. */
export const EXPLAIN_TOKEN = listOperation('token explain', readEither, {
  async *list(input, { explain, trail }): AsyncGenerator<readonly Explained[]> {
    if ('requestId' in input) {
      const { requestId } = input;
      yield [{ request: explainedRequest(requestId, await trail.ofRequest(requestId)) }];
      return;
    }
    const { resource, at, ...request } = input;
    const uris = resource?.split(' ').filter((uri) => uri !== '');
    const asked = {
      resource: uris?.length === 0 ? undefined : uris,
      at: at === undefined ? at : new Date(at),
    };
    yield [{ token: await explain({ ...request, ...asked }) }];
  },

  command: {
    about:
      'say why a token would be refused, or what it would get; exits with 1 if refused, and leaves the token usable',
    more:
      'The token is checked by the code that checks requests, on what is stored and configured: give the command the variables of\n' +
      'the service. Nothing is used up, written, fetched or counted. Of keys that are fetched those count that are stored. The token\n' +
      'is never shown, an e-mail address and a sub in part only.',
    example: '< token.txt\n  svc-admin token explain --request-id 1fr68knv0000a8k2rq4t',
    text: ([explained]) => (explained === undefined ? '' : textOf(explained)),
    json: ([explained]) => explained && ('token' in explained ? explained.token : explained.request),
  },
});

/** @throws CommandError for a request that is not known */
function textOf(explained: Explained): string {
  return 'token' in explained ? explanationText(explained.token) : requestText(explained.request);
}

function readEither(input: unknown): TokenToExplain | ReturnType<typeof readRequest> {
  return isJsonObject(input) && 'requestId' in input ? readRequest(input) : readToken(input);
}

function readToken(input: unknown): TokenToExplain {
  const read = readTokenMembers(input);
  const foreign = FOREIGN[read.flow].find((member) => read[member] !== undefined);
  if (foreign === undefined) return read;
  throw new InputError(foreign, `is for ${foreign === 'origin' ? 'embedded logins' : 'token exchange'}`);
}

/** Every flow refuses longer ones as malformed. */
function tokenText(value: unknown): Read<string> {
  if (typeof value !== 'string' || value === '') return { rule: 'must be a token' };
  const isTooLong = value.length > MAX_TOKEN_CHARACTERS;
  return isTooLong ? { rule: `must have at most ${MAX_TOKEN_CHARACTERS} characters` } : { value };
}

const HEADINGS = ['STATE', 'TOKEN', 'CHECK', 'OF', 'EXPECTED', 'FOUND'];

function explanationText(explanation: TokenExplanation): string {
  const { checks, notes, asOf } = explanation;
  const inState = (state: ExplainedCheck['state']) => checks.filter((check) => check.state === state);
  const [passed, failed, unreached] = [inState('passed'), inState('failed'), inState('not-reached')];
  // If a check failed, people look for that one.
  const shown = failed.length > 0 ? failed : passed;
  const lines = [
    ...outcomeLines(explanation),
    ...notes.map((note) => `Note: ${note}`),
    ...explanation.tokens.flatMap(tokenLines),
  ];
  const rest = [
    ...(failed.length > 0 ? placesLine('Passed', passed, failed) : []),
    ...placesLine('Not reached', unreached, failed),
  ];
  return [
    `${lines.map(printable).join('\n')}\n`,
    `\nChecks, as of ${asOf}:\n${renderTable(HEADINGS, shown.map(rowOf))}`,
    ...rest,
  ].join('');
}

const WORK: Readonly<Record<AccessFlow, string>> = {
  embed: 'An embedded login',
  exchange: 'A token exchange',
  'id-jag': 'An identity assertion',
  'jwt-bearer': 'A JWT assertion',
};

function outcomeLines(explanation: TokenExplanation): string[] {
  const { refusal, flow, checks, issued } = explanation;
  const work = WORK[flow];
  if (refusal === null) return issuedLines(work, issued);
  const { reason, check, party, detail, cause, remedy } = refusal;
  const failed = checks.find(({ state }) => state === 'failed');
  const place = `${check}${party === null ? '' : `, of the ${party} token`}`;
  const { expected, found } = failed ?? {};
  return [
    `${work} would be refused: ${reason}`,
    ...refusalLines({ check: place, cause, remedy, detail, expected, found }),
  ];
}

/** What is not there has no line. Members of a payload may be of any type. */
function refusalLines(said: {
  readonly check: string | null;
  readonly cause: string | null;
  readonly remedy: string | null;
  readonly detail?: unknown;
  readonly expected?: unknown;
  readonly found?: unknown;
}): string[] {
  const { check, cause, remedy, detail, expected, found } = said;
  const lines = {
    'Check:   ': check,
    'Cause:   ': `${cause ?? 'this release has no such reason'}${typeof detail === 'string' ? ` (${detail})` : ''}`,
    'Remedy:  ': remedy,
    'Expected:': expected,
    'Found:   ': found,
  };
  return Object.entries(lines).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [`${name} ${text}`] : [],
  );
}

function issuedLines(work: string, issued: TokenExplanation['issued']): string[] {
  if (issued?.kind !== 'access-token') {
    const seconds = issued?.lifetimeSeconds ?? null;
    return [`${work} would succeed: a session${seconds === null ? '' : ` of ${seconds} s`} is opened.`];
  }
  const { lifetimeSeconds, expiresAt, scopes, audience, rights, keyThumbprint } = issued;
  return [
    `${work} would succeed: an access token of ${lifetimeSeconds} s, until ${expiresAt}.`,
    `Scopes: ${scopes === null ? 'not limited' : scopes.join(' ')}`,
    `Audience: ${audience ?? 'this instance'}`,
    `Rights: ${rights === 'both' ? 'what actor and subject both have' : "the acting user's"}`,
    `Bound to: ${keyThumbprint === null ? 'no key' : `the key ${keyThumbprint}`}`,
  ];
}

function tokenLines({ party, content, entry, user }: ExplainedToken): string[] {
  const said = Object.entries(content).filter(([, value]) => value !== null);
  return [
    '',
    `The ${party} token: ${said.map(([name, value]) => `${name} ${value}`).join(', ') || 'nothing that can be read'}`,
    ...(entry === null
      ? ['  Entry: none']
      : [
          `  Entry: ${entry.label} (${placeOf(entry)}, ${entry.type})${entry.isSuspended ? ', suspended' : ''}`,
          `  Policy: ${entry.policy.join('; ')}`,
        ]),
    ...(user === null ? [] : [`  User: ${userLine(user)}`]),
  ];
}

function placeOf({ index }: { readonly index: number | null }): string {
  return index === null ? 'stored' : `configured, index ${index}`;
}

const FOUND_BY: Readonly<Record<ExplainedUser['by'], string>> = {
  link: 'known by the link of an earlier login',
  email: 'found by the e-mail address, to be linked',
  entry: 'named by the entry',
  provisioning: 'to be created',
};

function userLine(user: ExplainedUser): string {
  const { id, by, roleBefore, roleAfter, changedNames, ignoresRoleClaim, projects } = user;
  const roles = [roleBefore, roleAfter].filter((role) => role !== null);
  return [
    `${id ?? 'a new one'}, ${FOUND_BY[by]}`,
    `role ${[...new Set(roles)].join(', then ')}`,
    ...(ignoresRoleClaim ? ['the role claim is ignored: it does not name an assignable role'] : []),
    ...(changedNames.length === 0 ? [] : [`changed: ${changedNames.join(', ')}`]),
    ...projects,
  ].join('; ');
}

function rowOf({ state, party, check, about, expected, found }: ExplainedCheck): string[] {
  return [state, party ?? '-', check, about ?? '', expected ?? '', found ?? ''];
}

/** Each check once for each token, but for one of which a part has failed. */
function placesLine(
  state: string,
  checks: readonly ExplainedCheck[],
  failed: readonly ExplainedCheck[],
): string[] {
  const places = new Set(checks.map(placeOfCheck));
  for (const check of failed) places.delete(placeOfCheck(check));
  return places.size === 0 ? [] : [`${state}: ${[...places].join(', ')}.\n`];
}

function placeOfCheck({ check, party }: ExplainedCheck): string {
  return party === null ? check : `${check} (${party})`;
}

/** Members with lines of their own. */
const SHOWN = ['reason', 'detail', 'expected', 'found'];
/** The database keeps no order of members. */
const FIRST = ['flow', 'party', 'issuer', 'kid'];

/** @throws CommandError for a request of which nothing is recorded */
function requestText({ requestId, events }: ExplainedRequest): string {
  if (events.length === 0)
    throw new CommandError(
      'The audit trail has no event of this request. Requests that are refused before their token is read, such as a form with ' +
        'a fault or a request above a limit, are in the log only.',
    );
  const lines = [`Request ${requestId}`, ...events.flatMap((event) => ['', ...eventLines(event)])];
  return `${lines.map(printable).join('\n')}\n`;
}

function eventLines(event: ExplainedEvent): string[] {
  const { reason, payload } = event;
  const head = `${event.occurredAt} ${event.event}`;
  if (reason === null) return [head, ...event.notices.flatMap(noticeLines), ...valueLines(event)];
  return [`${head}: ${reason}`, ...refusalLines({ ...payload, ...event }), ...valueLines(event)];
}

function noticeLines({ cause, remedy, detail }: ExplainedEvent['notices'][number]): string[] {
  return [`Notice:   ${cause} (${detail})`, `Remedy:   ${remedy}`];
}

/** The other members. */
function valueLines({ subjectUserId, actorUserId, payload }: ExplainedEvent): string[] {
  const first = Object.fromEntries(FIRST.flatMap((name) => (name in payload ? [[name, payload[name]]] : [])));
  const values = Object.entries({ ...first, subjectUserId, actorUserId, ...payload }).filter(
    ([name, value]) => value !== null && !SHOWN.includes(name),
  );
  if (values.length === 0) return [];
  return [`Of:       ${values.map(([name, value]) => `${name} ${shown(value)}`).join(', ')}`];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
