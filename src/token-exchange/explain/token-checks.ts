// The checks of each token by itself, in the order in which they are made.
import { told, toldList } from '../foundation/told-value.js';
import { ALGORITHMS, algorithmNamed } from '../keys/algorithms.js';
import { MAX_EMBED_LIFETIME_SECONDS } from '../verification/external-token.verifier.js';
import type { CheckKind } from './check-kinds.js';
import { audienceOf, lifetimeOf, momentOf, namesIn, textOf } from './shown-values.js';

/** What is judged of each token by itself. */
export const OF_A_TOKEN: readonly CheckKind[] = [
  {
    check: 'token',
    about: 'its form',
    reasons: ['token_malformed'],
    isFailing: ({ header }) => header === undefined,
    compared: ({ header }) => [
      'a JWT in compact form',
      header === undefined ? 'something else' : 'a JWT in compact form',
    ],
  },
  {
    check: 'header',
    about: 'kid',
    reasons: ['kid_missing'],
    compared: ({ header }) => ['a text as kid', told(header?.['kid'])],
  },
  {
    check: 'header',
    about: 'alg',
    reasons: ['algorithm_not_allowed'],
    isFailing: ({ header }) => algorithmNamed(header?.['alg']) === undefined,
    compared: ({ header }) => [toldList(ALGORITHMS), told(header?.['alg'])],
  },
  {
    check: 'header',
    about: 'crit and b64',
    reasons: ['header_not_allowed'],
    compared: ({ header }) => ['neither', namesIn(header, ['crit', 'b64'])],
  },
  {
    check: 'header',
    about: 'typ',
    reasons: ['token_type_not_allowed', 'token_malformed'],
    compared: ({ header }) => ['JWT, or no typ', told(header?.['typ'])],
  },
  {
    check: 'key',
    about: 'iss',
    reasons: ['issuer_unknown', 'claims_invalid'],
    isFailing: ({ payload }, { issuers }) => !issuers.has(textOf(payload, 'iss')),
    compared: ({ payload }, { issuers }) => [toldList(issuers), told(payload?.['iss'])],
  },
  {
    check: 'key',
    about: 'kid',
    reasons: ['kid_unknown'],
    compared: ({ header, payload }, { kids }) => [
      toldList(kids(textOf(payload, 'iss'))),
      told(header?.['kid']),
    ],
  },
  {
    check: 'key',
    about: 'alg',
    reasons: ['algorithm_not_allowed'],
    compared: ({ key, header }) => [toldList(key?.algorithms ?? []), told(header?.['alg'])],
  },
  {
    check: 'signature',
    about: 'its signature',
    reasons: ['signature_invalid'],
    compared: ({ header }) => [`by the key ${told(header?.['kid'])}`, 'by that key'],
  },
  {
    check: 'trust',
    about: 'suspended',
    reasons: ['entry_suspended'],
    compared: ({ policy }) => [
      'an entry that is not suspended',
      policy?.isSuspended === true ? 'a suspended one' : 'one that is not',
    ],
  },
  {
    check: 'trust',
    about: 'notAfter',
    reasons: ['trust_ended'],
    compared: ({ policy }, { now }) => [
      policy?.notAfter === undefined ? 'any time' : `before ${policy.notAfter.toISOString()}`,
      momentOf(now),
    ],
  },
  {
    check: 'trust',
    about: 'flows',
    reasons: ['flow_not_allowed'],
    compared: ({ policy }, { flow }) => [toldList(policy?.flows ?? ['embed', 'exchange']), flow],
  },
  {
    check: 'claims',
    about: 'its claims',
    reasons: ['claims_invalid', 'claims_not_storable'],
    isFailing: (_, { isVerified }) => !isVerified,
    compared: () => ['iss, sub, aud, iat, exp and jti, each of its type', 'all of them'],
  },
  {
    check: 'audience',
    about: 'aud',
    reasons: ['audience_mismatch'],
    compared: ({ policy, payload }) => [told(policy?.expectedAudience ?? 'any'), audienceOf(payload)],
  },
  {
    check: 'times',
    about: 'exp',
    reasons: ['token_expired'],
    isFailing: ({ payload }, { now }) => !(Number(payload?.['exp']) > now),
    compared: ({ payload }, { now }) => [`exp after ${momentOf(now)}`, momentOf(payload?.['exp'])],
  },
  {
    check: 'times',
    about: 'nbf',
    reasons: ['token_not_yet_valid'],
    compared: ({ payload }, { now, clockToleranceSeconds: tolerance }) => [
      `nbf until ${momentOf(now + tolerance)}`,
      momentOf(payload?.['nbf']),
    ],
  },
  {
    check: 'times',
    about: 'iat',
    reasons: ['token_issued_in_future'],
    compared: ({ payload }, { now, clockToleranceSeconds: tolerance }) => [
      `iat until ${momentOf(now + tolerance)}`,
      momentOf(payload?.['iat']),
    ],
  },
  {
    check: 'lifetime',
    about: 'exp - iat',
    reasons: ['token_lifetime_exceeded'],
    applies: (_, { flow }) => flow === 'embed',
    compared: ({ payload }) => [`${MAX_EMBED_LIFETIME_SECONDS} s at most`, lifetimeOf(payload)],
  },
];
