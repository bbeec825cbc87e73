// The checks of both flows in the order in which they are made: which reason belongs to which, and what each compares.
import { told, toldList } from '../foundation/told-value.js';
import type { Flow } from '../flow.js';
import type { HostUser } from '../host.js';
import { ALGORITHMS, algorithmNamed } from '../keys/algorithms.js';
import type { TrustPolicy } from '../keys/trust-policy.js';
import type { TrustedKey } from '../keys/trusted-key.js';
import type { Check as CheckName } from '../refusal-explanations.js';
import type { Party, RejectionReason } from '../rejection.js';
import type { ClaimSet } from '../verification/external-claims.js';
import type { IdentitySight } from './foreseen-users.js';
import { masked, maskedEmail } from './masked.js';

/** What is known of one token, whether or not it is good. */
export interface TokenFacts {
  readonly party: Party;
  /** As they were sent; undefined where the token is no JWT. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload?: ClaimSet;
  /** The key that it names, where it is trusted. */
  readonly key?: TrustedKey;
  /** Of the entry of that key, else of the only one of its issuer. */
  readonly policy?: TrustPolicy;
  readonly sight?: IdentitySight;
  /** Whether its `jti` was used before; undefined where nobody has looked. */
  readonly isUsed?: boolean;
}

/** What is known of the request. */
export interface RequestFacts {
  readonly flow: Flow;
  readonly subject: TokenFacts;
  readonly actor?: TokenFacts;
  /** Whether all tokens are good by themselves. */
  readonly isVerified: boolean;
  readonly scope?: string;
  readonly resource?: readonly string[];
  readonly origin?: string;
  /** Seconds since the Unix epoch. */
  readonly now: number;
  readonly clockToleranceSeconds: number;
  readonly maxTokenLifetimeSeconds: number;
  /** Every issuer that an entry names, and the kids of this one's keys. */
  readonly issuers: ReadonlySet<string>;
  readonly kids: (issuer: string) => readonly string[];
}

/** What there had to be, and what there was. */
export type Compared = readonly [expected: string, found: string];

interface CheckKind {
  readonly check: CheckName;
  /** What of the token, the entry or the request is looked at. */
  readonly about: string;
  readonly reasons: readonly RejectionReason[];
  /** Where a reason has several checks: whether it is this one that failed. */
  readonly isFailing?: (token: TokenFacts, request: RequestFacts) => boolean;
  /** Whether it is made at all. */
  readonly applies?: (token: TokenFacts, request: RequestFacts) => boolean;
  readonly compared: (token: TokenFacts, request: RequestFacts) => Compared;
}

/** One look of one request. */
export interface MadeCheck {
  readonly check: CheckName;
  readonly about: string;
  readonly reasons: readonly RejectionReason[];
  /** Null: it is about both tokens, or about the request. */
  readonly party: Party | null;
  readonly isFailing: () => boolean;
  readonly compared: () => Compared;
}

const MAX_EMBED_LIFETIME_SECONDS = 60;

/** What is judged of each token by itself. */
const OF_A_TOKEN: readonly CheckKind[] = [
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

/** Whether they may come together, or the subject alone. */
const OF_THE_PARTIES: readonly CheckKind[] = [
  {
    check: 'parties',
    about: 'requireActor',
    reasons: ['actor_required'],
    applies: (_, { actor }) => actor === undefined,
    compared: ({ policy }) => [policy?.requireActor === true ? 'an actor' : 'no actor needed', 'none'],
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
      actor?.policy?.actFor === undefined ? 'subjects of anybody' : toldList(actor.policy.actFor),
      told(payload?.['iss']),
    ],
  },
];

const OF_THE_LOGIN: readonly CheckKind[] = [
  {
    check: 'origin',
    about: 'origins',
    reasons: ['origin_not_allowed'],
    compared: ({ policy }, { origin }) => [
      policy?.origins === undefined ? 'any page' : toldList(policy.origins),
      origin === undefined ? 'no page was given' : told(origin),
    ],
  },
];

const REVOCATION: CheckKind = {
  check: 'revocation',
  about: 'revoked',
  reasons: ['trust_revoked'],
  compared: ({ header }) => ['a key that is not revoked', told(header?.['kid'])],
};

/** What an access token would be. */
const OF_THE_TERMS: readonly CheckKind[] = [
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
      scope === undefined ? 'none asked for' : told(scope),
    ],
  },
  {
    check: 'grants',
    about: 'resource',
    reasons: ['resource_not_allowed'],
    compared: (_, { subject, actor, resource }) => [
      listsOf([subject.policy?.resources, actor?.policy?.resources], 'any service'),
      resource === undefined ? 'none asked for' : toldList(resource),
    ],
  },
  {
    check: 'grants',
    about: 'act',
    reasons: ['claims_invalid'],
    compared: () => ['5 actors at most in act of both tokens', 'no more'],
  },
];

const CONSUMPTION: CheckKind = {
  check: 'replay',
  about: 'jti',
  reasons: ['token_replayed'],
  compared: (_, { subject, actor }) => [
    'a jti that was never used',
    subject.isUsed === true || actor?.isUsed === true ? 'a used one' : 'an unused one',
  ],
};

export const isKnown = ({ sight }: TokenFacts) => typeof sight?.linked === 'object' && sight.linked !== null;
/** Also where nobody has looked yet. */
const mayBeUnknown = (token: TokenFacts) => !isKnown(token);
const mayBeFound = ({ sight }: TokenFacts) => sight?.withEmail !== null;

/** How a token's user is found or made. */
const OF_THE_USER: readonly CheckKind[] = [
  {
    check: 'e-mail',
    about: 'email',
    reasons: ['email_missing'],
    applies: mayBeUnknown,
    compared: ({ payload }) => ['a claim email', emailOf(payload)],
  },
  {
    check: 'e-mail',
    about: 'email_verified',
    reasons: ['email_not_verified'],
    applies: mayBeUnknown,
    compared: ({ policy, payload }) => [
      policy?.requireVerifiedEmail === true ? 'email_verified true' : 'email_verified true, or nothing of it',
      payload?.['email_verified'] === undefined ? 'nothing of it' : JSON.stringify(payload['email_verified']),
    ],
  },
  {
    check: 'e-mail',
    about: 'emailDomains',
    reasons: ['email_domain_not_allowed'],
    applies: mayBeUnknown,
    compared: ({ policy, payload }) => [
      policy?.emailDomains === undefined ? 'any domain' : toldList(policy.emailDomains),
      emailOf(payload),
    ],
  },
  {
    check: 'admission',
    about: 'linkExistingUsers',
    reasons: ['linking_not_allowed', 'privileged_linking_not_allowed'],
    applies: (token) => mayBeUnknown(token) && mayBeFound(token),
    compared: ({ policy, sight }) => [
      policy?.linkExistingUsers === false
        ? 'nobody with that e-mail address'
        : policy?.linkPrivileged === false
          ? 'a user who is no administrator'
          : 'a user with that e-mail address',
      sight?.withEmail?.role ?? 'none',
    ],
  },
  {
    check: 'admission',
    about: 'provisionUsers',
    reasons: ['provisioning_not_allowed'],
    applies: (token) => mayBeUnknown(token) && token.sight?.withEmail === null,
    compared: ({ policy }) => [
      policy?.provisionUsers === false ? 'a user who is there' : 'a user who may be made',
      'nobody with that e-mail address',
    ],
  },
  {
    check: 'user',
    about: 'enabled',
    reasons: ['user_disabled'],
    applies: mayBeFound,
    compared: (token) => [
      'an enabled user',
      userOf(token)?.enabled === false ? 'a disabled one' : 'an enabled one',
    ],
  },
  {
    check: 'user',
    about: 'stored role',
    reasons: ['owner_excluded', 'stored_role_not_allowed'],
    applies: mayBeFound,
    compared: (token) => [storedRolesOf(token.policy), userOf(token)?.role ?? 'none'],
  },
  {
    check: 'role',
    about: 'role',
    reasons: ['role_not_allowed', 'role_not_recognized', 'role_not_assignable'],
    compared: ({ policy, payload }) => [
      policy?.allowedRoles === undefined ? 'every assignable role' : toldList(policy.allowedRoles),
      payload?.['role'] === undefined ? 'no claim' : told(payload['role']),
    ],
  },
];

/**
 * All checks of a request, in the order in which they are made.
 * @param users whose user is found in which order
 */
export function checksOf(request: RequestFacts, users: readonly Party[]): MadeCheck[] {
  const { flow, subject, actor } = request;
  const tokens = actor === undefined ? [subject] : [subject, actor];
  const of = (token: TokenFacts, kinds: readonly CheckKind[], party: Party | null = token.party) =>
    kinds
      .filter(({ applies = always }) => applies(token, request))
      .map(({ check, about, reasons, isFailing = always, compared }) => ({
        ...{ check, about, reasons, party },
        isFailing: () => isFailing(token, request),
        compared: () => compared(token, request),
      }));
  return [
    ...tokens.flatMap((token) => of(token, OF_A_TOKEN)),
    ...of(subject, OF_THE_PARTIES, null),
    ...(flow === 'embed' ? of(subject, OF_THE_LOGIN, null) : []),
    ...tokens.flatMap((token) => of(token, [REVOCATION])),
    ...(flow === 'exchange' ? of(subject, OF_THE_TERMS, null) : []),
    ...of(subject, [CONSUMPTION], null),
    ...users.flatMap((party) => of(party === 'actor' ? (actor ?? subject) : subject, OF_THE_USER)),
  ];
}

/** The user whom a token leads to, where there is one. */
export function userOf({ sight }: TokenFacts): HostUser | undefined {
  return sight?.linked ?? sight?.withEmail ?? undefined;
}

function always(): boolean {
  return true;
}

function textOf(members: ClaimSet | undefined, name: string): string {
  const value = members?.[name];
  return typeof value === 'string' ? value : '';
}

function namesIn(members: ClaimSet | undefined, names: readonly string[]): string {
  return names.filter((name) => members?.[name] !== undefined).join(', ') || 'neither';
}

/** Seconds since the Unix epoch as a moment, where it is one. */
function momentOf(seconds: unknown): string {
  if (typeof seconds !== 'number') return told(seconds);
  const moment = new Date(seconds * 1000);
  return Number.isNaN(moment.getTime()) ? 'no moment' : moment.toISOString();
}

function lifetimeOf(payload: ClaimSet | undefined): string {
  const [iat, exp] = [payload?.['iat'], payload?.['exp']];
  return typeof iat === 'number' && typeof exp === 'number' ? `${exp - iat} s` : 'none';
}

function audienceOf(payload: ClaimSet | undefined): string {
  const aud = payload?.['aud'];
  return Array.isArray(aud) ? toldList(aud.map(String)) : told(aud);
}

function mayActOf(payload: ClaimSet | undefined): string {
  const party = payload?.['may_act'] as ClaimSet | undefined;
  return party === undefined ? 'any actor' : maskedText(party['sub']);
}

function maskedText(value: unknown): string {
  return typeof value === 'string' ? told(masked(value)) : told(value);
}

function emailOf(payload: ClaimSet | undefined): string {
  const email = payload?.['email'];
  return typeof email === 'string' ? maskedEmail(email) : told(email);
}

function listsOf(lists: readonly (ReadonlySet<string> | undefined)[], unlimited: string): string {
  const given = lists.filter((list) => list !== undefined);
  return given.length === 0 ? unlimited : given.map((list) => toldList(list)).join('; and ');
}

function storedRolesOf(policy: TrustPolicy | undefined): string {
  const ceiling = policy?.roleCeiling === true ? toldList(policy.allowedRoles ?? []) : 'any role';
  return policy?.excludeOwner === true ? `${ceiling}, but not the owner` : ceiling;
}

function remainingSeconds({ subject, actor, now, maxTokenLifetimeSeconds }: RequestFacts): number {
  const ends = [subject, actor]
    .map((token) => token?.payload?.['exp'])
    .filter((exp) => typeof exp === 'number');
  return Math.floor(Math.min(...ends.map((exp) => exp - now), maxTokenLifetimeSeconds));
}
