// The checks of a whole request, between those of its tokens and those of their users.
import { printable, printableList } from '../../platform/text/printable.js';
import { ACTOR_REQUIRED } from '../verify/checks.js';
import type { CheckKind } from './check-kinds.js';
import { listsOf, maskedText, mayActOf, remainingSeconds } from './shown-values.js';

/** Whether subject and actor, or the subject alone, may be exchanged. */
export const OF_THE_PARTIES: readonly CheckKind[] = [
  {
    check: 'parties',
    about: ACTOR_REQUIRED.about,
    reasons: [ACTOR_REQUIRED.reason],
    applies: (_, { actor }) => actor === undefined,
    compared: ({ policy = {} }) => ACTOR_REQUIRED.compared({ key: { policy } }),
  },
  {
    check: 'parties',
    about: 'may_act',
    reasons: ['actor_not_allowed'],
    applies: (_, { actor }) => actor !== undefined,
    compared: ({ payload }, { actor }) => [mayActOf(payload), maskedText(actor?.payload?.['sub'])],
  },
  {
    check: 'parties',
    about: 'actFor',
    reasons: ['act_for_not_allowed'],
    applies: (_, { actor }) => actor !== undefined,
    compared: ({ payload }, { actor }) => [
      actor?.policy?.actFor === undefined ? 'subjects of any issuer' : printableList(actor.policy.actFor),
      printable(payload?.['iss']),
    ],
  },
];

export const OF_THE_LOGIN: readonly CheckKind[] = [
  {
    check: 'origin',
    about: 'origins',
    reasons: ['origin_not_allowed'],
    compared: ({ policy }, { origin }) => [
      policy?.origins === undefined ? 'any page' : printableList(policy.origins),
      origin === undefined ? 'no page was given' : printable(origin),
    ],
  },
];

export const REVOCATION: CheckKind = {
  check: 'revocation',
  about: 'revoked',
  reasons: ['trust_revoked'],
  compared: ({ header }) => ['a key that is not revoked', printable(header?.['kid'])],
};

export const LOGOUT: CheckKind = {
  check: 'revocation',
  about: 'iat',
  reasons: ['signed_out_by_provider'],
  compared: ({ payload }) => ['issued after the latest logout of its user', String(payload?.['iat'])],
};

/** What an access token would be. */
export const OF_THE_TERMS: readonly CheckKind[] = [
  {
    check: 'remaining lifetime',
    about: 'exp',
    reasons: ['remaining_lifetime_too_short'],
    compared: (_, request) => ['5 s at least', `${remainingSeconds(request)} s`],
  },
  {
    check: 'grants',
    about: 'scope',
    reasons: ['scope_not_allowed'],
    compared: (_, { subject, actor, scope }) => [
      listsOf([subject.policy?.scopes, actor?.policy?.scopes], 'every scope'),
      scope === undefined ? 'none asked for' : printable(scope),
    ],
  },
  {
    check: 'grants',
    about: 'resource',
    reasons: ['resource_not_allowed'],
    compared: (_, { subject, actor, resource }) => [
      listsOf([subject.policy?.resources, actor?.policy?.resources], 'any service'),
      resource === undefined ? 'none asked for' : printableList(resource),
    ],
  },
  {
    check: 'grants',
    about: 'act',
    reasons: ['claims_invalid'],
    compared: () => ['5 actors at most in act of both tokens', 'no more'],
  },
];

export const CONSUMPTION: CheckKind = {
  check: 'replay',
  about: 'jti',
  reasons: ['token_replayed'],
  compared: (_, { subject, actor }) => [
    'a jti that was never used',
    subject.isUsed === true || actor?.isUsed === true ? 'a used one' : 'an unused one',
  ],
};
