// Explains what the service would make of a token, without using it up; and why a request was refused.
import type { AccessFlow, TokenExplanation } from '../token-exchange/instance.js';
import { FIELD_LIMITS, MAX_TOKEN_CHARACTERS } from '../token-exchange/instance.js';
import { checkText } from '../audit/trail-filter.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import { InputError } from './command-error.js';
import type { ExplainedRequest } from './explained-request.js';
import { explainedRequest } from './explained-request.js';
import type { Read } from './input.js';
import { checkedText, moment, oneOf, members, optional, textUpTo } from './input.js';
import { listOperation } from './operation.js';
import { explanationText, requestText } from './explanation-text.js';

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

/** Both flows refuse longer ones as malformed. */
function tokenText(value: unknown): Read<string> {
  if (typeof value !== 'string' || value === '') return { rule: 'must be a token' };
  const isTooLong = value.length > MAX_TOKEN_CHARACTERS;
  return isTooLong ? { rule: `must have at most ${MAX_TOKEN_CHARACTERS} characters` } : { value };
}
