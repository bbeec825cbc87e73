// The lists of docs/refusals.md, from the catalogue of refusals.
import { inOwnWords } from '../../src/instance/token-exchange-settings.js';
import { errorOf } from '../../src/token-exchange/endpoint/challenge.js';
import { FAULT } from '../../src/token-exchange/endpoint/request-refusals.js';
import type { Explanation } from '../../src/token-exchange/refusals/refusal.js';
import { bearerAnchor } from '../../src/token-exchange/refusals/refusal-line.js';
import type { RequestRefusalReason } from '../../src/token-exchange/refusals/refusals.js';
import { NOTICES, REQUEST_REFUSALS } from '../../src/token-exchange/refusals/refusals.js';
import { loginAnswerOf, oauthAnswerOf } from '../../src/token-exchange/refusals/token-answers.js';
import type { TokenRefusalReason } from '../../src/token-exchange/refusals/token-refusals.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import type { BearerReason } from '../../src/token-exchange/tokens/bearer-refusals.js';
import { BEARER_REFUSALS } from '../../src/token-exchange/tokens/bearer-refusals.js';
import { list, sentence } from './blocks.js';

/** The endpoints that answer in OAuth's format. */
const OAUTH = 'all but login';
const EVERYWHERE = 'all';
/** Requests that only the login refuses in this way. */
const OF_LOGIN = ['method_not_allowed', 'prefetch'];

/** An error code, the endpoints that return it, and a reason. */
type CodeRow = readonly [code: string, endpoints: string, reason: string];

export const REFUSAL_BLOCKS = {
  codes: () =>
    list(grouped(codeRows()).map(([codes, endpoints, reasons]) => [`${codes} (${endpoints})`, reasons])),
  tokens: () => explained(TOKEN_REFUSALS),
  requests: () => explained(inOwnWords(REQUEST_REFUSALS)),
  bearers: () => explained(inOwnWords(BEARER_REFUSALS), (word) => bearerAnchor(word as BearerReason)),
  notices: () => explained(NOTICES),
};

/** The rows without codes that equal their reason. */
function codeRows(): CodeRow[] {
  return [
    ...entriesOf(TOKEN_REFUSALS).flatMap(([reason]) => codesOfToken(reason)),
    [oauthAnswerOf('token_malformed').error, 'token', 'every other refused token'],
    ['invalid_grant', 'token', `${linked('claims_invalid')} of an assertion`],
    ['invalid_request', 'logout', 'every refused token'],
    ...entriesOf(REQUEST_REFUSALS).flatMap(([kind]) => codesOfRequest(kind)),
    ...entriesOf(BEARER_REFUSALS).flatMap(([reason]) => codesOfBearer(reason)),
    [FAULT.oauth.error, OAUTH, 'an internal error'],
    [FAULT.embed.error, 'login', 'an internal error'],
    ['too_many_requests', EVERYWHERE, 'the address or entry has reached a limit'],
    [
      'temporarily_unavailable',
      EVERYWHERE,
      'the database does not answer, or too many requests are in progress',
    ],
    ...['unauthorized', 'forbidden', 'refused'].map((code): CodeRow => {
      return [code, EVERYWHERE, 'a guard of the host application'];
    }),
  ];
}

function codesOfToken(reason: TokenRefusalReason): CodeRow[] {
  const { check, oauth, embed } = TOKEN_REFUSALS[reason];
  const rows: CodeRow[] = [];
  const login = embed && loginAnswerOf(reason).error;
  if (login !== undefined && login !== reason) rows.push([login, 'login', linked(reason)]);
  const isOfIntrospection = reason === 'introspection_not_allowed';
  const endpoints = isOfIntrospection ? 'introspect' : check === 'client' ? 'token, introspect' : 'token';
  if (oauth !== undefined) rows.push([oauth.error, endpoints, linked(reason)]);
  return rows;
}

function codesOfRequest(kind: RequestRefusalReason): CodeRow[] {
  const { check, oauth = 'invalid_request', embed = kind } = REQUEST_REFUSALS[kind];
  const rows: CodeRow[] = [];
  if (embed !== kind) rows.push([embed, 'login', linked(kind)]);
  if (oauth !== kind && !OF_LOGIN.includes(kind))
    rows.push([oauth, check === 'proof' ? 'token' : OAUTH, linked(kind)]);
  return rows;
}

/** With the scheme Bearer, all reasons have the same code. */
function codesOfBearer(reason: BearerReason): CodeRow[] {
  const [ofBearer, code] = [errorOf('Bearer', reason), errorOf('DPoP', reason)];
  const row: CodeRow = [ofBearer, 'API', 'every other refused access token, and any by the scheme Bearer'];
  return code === ofBearer ? [row] : [row, [code, 'API', linked(reason, bearerAnchor(reason))]];
}

/** One row for each list of codes and of endpoints, by code. Codes and endpoints with the same reasons share the row. */
function grouped(rows: readonly CodeRow[]): CodeRow[] {
  const reasons = collected(rows.map(([code, endpoints, reason]) => [`\`${code}\`|${endpoints}`, reason]));
  const endpoints = collected(
    [...reasons].map(([key, list]) => {
      const [code = '', place = ''] = key.split('|');
      return [`${code}|${list.join(', ')}`, place];
    }),
  );
  const codes = collected(
    [...endpoints].map(([key, places]) => {
      const [code = '', list = ''] = key.split('|');
      return [`${joined(places)}|${list}`, code];
    }),
  );
  return [...codes]
    .map(([key, each]): CodeRow => {
      const [endpoints = '', reasons = ''] = key.split('|');
      return [each.toSorted().join(', '), endpoints, reasons];
    })
    .toSorted(([one], [other]) => one.localeCompare(other));
}

function joined(places: readonly string[]): string {
  return places.includes('login') && places.includes(OAUTH) ? EVERYWHERE : places.join(', ');
}

/** The distinct values of each key, in order of appearance. */
function collected(pairs: readonly (readonly [key: string, value: string])[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [key, value] of pairs) values.set(key, [...new Set([...(values.get(key) ?? []), value])]);
  return values;
}

function entriesOf<Word extends string, Row>(rows: Readonly<Record<Word, Row>>) {
  return Object.entries(rows) as [Word, Row][];
}

function linked(word: string, anchor = word): string {
  return `[\`${word}\`](#${anchor})`;
}

function explained(refusals: Readonly<Record<string, Explanation>>, anchorOf = (word: string) => word) {
  return list(
    Object.entries(refusals).map(([word, { cause, remedy }]) => [
      anchored(word, anchorOf(word)),
      `${sentence(cause)} ${sentence(remedy)}`,
    ]),
  );
}

function anchored(word: string, anchor = word): string {
  return `<a id="${anchor}"></a>\`${word}\``;
}
