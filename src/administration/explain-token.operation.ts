// Explains what the service would make of a token, without using it up; and why a request was refused.
import type { TokenExplanation } from '../token-exchange/explain/token-explanation.js';
import { FIELD_LIMITS } from '../token-exchange/delegation/token-exchange.form.js';
import { hasMoreCharacters } from '../token-exchange/foundation/characters.js';
import { MAX_TOKEN_CHARACTERS } from '../token-exchange/verification/compact-jws.js';
import { InputError } from './command-error.js';
import type { MemberReader, Read } from './input.js';
import { oneOf, optional, readMembers, storableText } from './input.js';
import type { ListOperation } from './operation.js';

/** A token as a client would send it. */
export interface TokenToExplain {
  readonly flow: 'embed' | 'exchange';
  /** Secret. */
  readonly token: string;
  /** Secret. The next three with token exchange only. */
  readonly actorToken?: string;
  readonly scope?: string;
  /** URIs with spaces between them. */
  readonly resource?: string;
  /** Of the page that posts an embedded login; left out: no browser does. */
  readonly origin?: string;
  /** ISO 8601: the moment as of which times are judged; left out: now. */
  readonly at?: string;
}

const EXCHANGE_ONLY = ['actorToken', 'scope', 'resource'] as const;

/** A list of one: it changes nothing, and is in the trail without anything of the token. */
export const EXPLAIN_TOKEN: ListOperation<TokenToExplain, TokenExplanation> = {
  name: 'token explain',

  read(input) {
    const read = readMembers<TokenToExplain>(input, {
      flow: oneOf(['embed', 'exchange']),
      token: tokenText,
      actorToken: optional(tokenText),
      scope: optional(textUpTo(FIELD_LIMITS.scope)),
      resource: optional(textUpTo(FIELD_LIMITS.resource)),
      origin: optional(textUpTo(FIELD_LIMITS.resource)),
      at: optional(moment),
    });
    if (read.flow === 'exchange' && read.origin !== undefined)
      throw new InputError('origin', 'is for embedded logins');
    const foreign = EXCHANGE_ONLY.find((member) => read[member] !== undefined);
    if (read.flow === 'embed' && foreign !== undefined)
      throw new InputError(foreign, 'is for token exchange');
    return read;
  },

  async *list({ resource, at, ...request }, { explain }) {
    const uris = resource?.split(' ').filter((uri) => uri !== '');
    yield [
      await explain({
        ...request,
        resource: uris?.length === 0 ? undefined : uris,
        at: at === undefined ? undefined : new Date(at),
      }),
    ];
  },
};

/** What is longer is refused as malformed by both flows. */
function tokenText(value: unknown): Read<string> {
  if (typeof value !== 'string' || value === '') return { rule: 'must be a token' };
  const isTooLong = value.length > MAX_TOKEN_CHARACTERS;
  return isTooLong ? { rule: `must have at most ${MAX_TOKEN_CHARACTERS} characters` } : { value };
}

function textUpTo(maxCharacters: number): MemberReader<string> {
  return (value) => {
    const text = storableText(value);
    if ('rule' in text || !hasMoreCharacters(text.value, maxCharacters)) return text;
    return { rule: `must have at most ${maxCharacters} characters` };
  };
}

function moment(value: unknown): Read<string> {
  const isMoment = typeof value === 'string' && !Number.isNaN(Date.parse(value));
  return isMoment ? { value } : { rule: 'must be a moment of ISO 8601' };
}
