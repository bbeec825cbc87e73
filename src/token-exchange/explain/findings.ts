// Makes the explanation of what was found out about a request.
import type { Terms } from '../delegation/issuance.planner.js';
import type { IdentityDecision } from '../identity/identity.decider.js';
import { policyInWords } from '../keys/policy-words.js';
import type { TrustedKeyEntry } from '../keys/trusted-key.js';
import type { TrustedKeyService } from '../keys/trusted-key.service.js';
import { told } from '../foundation/told-value.js';
import { FLOW_REFUSAL_EXPLANATIONS, REJECTION_EXPLANATIONS } from '../refusal-explanations.js';
import type { Party, Rejection } from '../rejection.js';
import type { MadeCheck, RequestFacts, TokenFacts } from './check-kinds.js';
import { checksOf } from './checks.js';
import { storedIdOf } from './foreseen-users.js';
import { masked, maskedEmail } from './masked.js';
import { isKnown, userOf } from './user-checks.js';
import type { ExplanationRequest, ExplanationRules } from './explanation-request.js';
import type {
  EndpointRefusal,
  ExplainedAccessToken,
  ExplainedCheck,
  ExplainedEntry,
  ExplainedParty,
  ExplainedRefusal,
  ExplainedToken,
  ExplainedUser,
  TokenExplanation,
} from './token-explanation.js';

export interface Findings {
  readonly request: ExplanationRequest;
  readonly now: Date;
  readonly rules: ExplanationRules;
  readonly trust: { readonly entries: readonly TrustedKeyEntry[]; readonly keys: TrustedKeyService };
  /** Where no token is taken at all. */
  readonly closed: EndpointRefusal | undefined;
  readonly rejection: Rejection | undefined;
  /** Whether all tokens are good by themselves. */
  readonly isVerified: boolean;
  readonly terms: Terms | undefined;
  /** Whose users were looked for, in that order. */
  readonly order: readonly Party[];
  readonly decided: Partial<Record<Party, IdentityDecision>>;
  readonly subject: TokenFacts;
  readonly actor?: TokenFacts;
}

export function explanationOf(findings: Findings): TokenExplanation {
  const { request, now, closed, rejection, subject, actor } = findings;
  const { checks, failed } = explainedChecks(findings);
  const isAccepted = closed === undefined && rejection === undefined;
  return {
    flow: request.flow,
    judgedAt: now.toISOString(),
    outcome: isAccepted ? 'accepted' : 'refused',
    refusal: isAccepted ? null : refusalOf(findings, failed),
    checks,
    parties: [subject, ...(actor === undefined ? [] : [actor])].map((token) => partyOf(token, findings)),
    issued: isAccepted ? issuedOf(findings) : null,
    notes: notesOf(findings),
  };
}

function explainedChecks(findings: Findings): { checks: ExplainedCheck[]; failed?: MadeCheck } {
  const { closed, rejection } = findings;
  const made = checksOf(requestFacts(findings), usersInOrder(findings));
  const failed = rejection && failedOf(made, rejection);
  const failedAt = closed !== undefined ? -1 : failed === undefined ? made.length : made.indexOf(failed);
  const endpoint: ExplainedCheck = {
    ...{
      check: 'endpoint',
      about: 'its state',
      party: null,
      state: closed === undefined ? 'passed' : 'failed',
    },
    ...{ expected: 'open', found: closed === undefined ? 'open' : closed.replaceAll('_', ' ') },
  };
  const checks = made.map(({ check, about, party, compared }, index): ExplainedCheck => {
    const known = { check, about, party };
    if (index > failedAt) return { ...known, state: 'not-reached', expected: null, found: null };
    const [expected, found] = compared();
    if (index < failedAt) return { ...known, state: 'passed', expected, found };
    const { context = {} } = rejection ?? {};
    return {
      ...known,
      state: 'failed',
      expected: context.expected ?? expected,
      found: context.found ?? context.detail ?? found,
    };
  });
  return { checks: [endpoint, ...checks], failed };
}

/** A reason has several checks now and then: then the facts tell which of them it was. */
function failedOf(made: readonly MadeCheck[], { reason, context }: Rejection): MadeCheck | undefined {
  const possible = made.filter(
    ({ reasons, party }) =>
      reasons.includes(reason) && (party === null || context.party === undefined || party === context.party),
  );
  return possible.find(({ isFailing }) => isFailing()) ?? possible.at(-1);
}

/** Those who were not looked for come after the others. */
function usersInOrder({ order, actor }: Findings): Party[] {
  const all: Party[] = actor === undefined ? ['subject'] : ['subject', 'actor'];
  return [...order, ...all.filter((party) => !order.includes(party))];
}

function requestFacts({ request, now, rules, trust, ...found }: Findings): RequestFacts {
  const { flow, scope, resource, origin } = request;
  const { subject, actor, isVerified } = found;
  const { clockToleranceSeconds, exchange } = rules.options;
  return {
    ...{ flow, subject, actor, isVerified, scope, resource, origin, clockToleranceSeconds },
    now: now.getTime() / 1000,
    maxTokenLifetimeSeconds: exchange.maxTokenLifetimeSeconds,
    issuers: trust.keys.issuers(),
    kids: (issuer) => trust.keys.keysOf(issuer).map(({ kid }) => kid),
  };
}

function refusalOf({ closed, rejection }: Findings, failed: MadeCheck | undefined): ExplainedRefusal | null {
  if (closed !== undefined) {
    const { check, cause, remedy } = FLOW_REFUSAL_EXPLANATIONS[closed];
    return { reason: closed, check, party: null, detail: null, cause, remedy };
  }
  if (rejection === undefined) return null;
  const { reason, context } = rejection;
  const { check, cause, remedy } = REJECTION_EXPLANATIONS[reason];
  const party = failed?.party ?? context.party ?? null;
  return { reason, check: failed?.check ?? check, party, detail: context.detail ?? null, cause, remedy };
}

function partyOf(token: TokenFacts, findings: Findings): ExplainedParty {
  const { party } = token;
  return {
    party,
    token: tokenOf(token),
    entry: entryOf(token, findings),
    user: explainedUser(token, findings.decided[party]),
  };
}

function tokenOf({ header, payload }: TokenFacts): ExplainedToken {
  const text = (value: unknown) => (typeof value === 'string' ? told(value) : null);
  const hidden = (value: unknown, mask: (text: string) => string) =>
    typeof value === 'string' ? mask(value) : null;
  return {
    issuer: text(payload?.['iss']),
    kid: text(header?.['kid']),
    algorithm: text(header?.['alg']),
    subject: hidden(payload?.['sub'], (sub) => told(masked(sub))),
    email: hidden(payload?.['email'], maskedEmail),
    role: text(payload?.['role']),
  };
}

function entryOf({ policy }: TokenFacts, { trust, now }: Findings): ExplainedEntry | null {
  const entry = policy && trust.entries.find(({ label }) => label === policy.label);
  if (entry === undefined) return null;
  const { entryIndex, label, type, isSuspended } = entry;
  return {
    from: entryIndex === undefined ? 'command' : 'configuration',
    index: entryIndex ?? null,
    label,
    type,
    isSuspended: isSuspended === true,
    policy: policyInWords(entry, now),
  };
}

function explainedUser(token: TokenFacts, decision: IdentityDecision | undefined): ExplainedUser | null {
  if (decision?.by === 'provisioning') {
    const { role, givenName, familyName } = decision.newUser;
    const names = { givenName, familyName };
    return {
      ...{ id: null, by: 'provisioning', roleBefore: null, roleAfter: role, ignoresRoleClaim: false },
      changedNames: NAMES.filter((name) => names[name] !== ''),
    };
  }
  const user = userOf(token);
  if (user === undefined) return null;
  const by = isKnown(token) ? 'link' : 'email';
  const known = { id: storedIdOf(user), by, roleBefore: user.role } as const;
  // Refused: nothing would become of them.
  if (decision === undefined) return { ...known, roleAfter: null, ignoresRoleClaim: false, changedNames: [] };
  const { update, ignoresRoleClaim } = decision;
  const changedNames = NAMES.filter((name) => update[name] !== undefined);
  return { ...known, roleAfter: update.role ?? user.role, ignoresRoleClaim, changedNames };
}

const NAMES = ['givenName', 'familyName'] as const;

function issuedOf({ request, terms, rules }: Findings): TokenExplanation['issued'] {
  if (request.flow === 'embed')
    return { kind: 'session', lifetimeSeconds: rules.sessionLifetimeSeconds ?? null };
  return terms === undefined ? null : accessTokenOf(terms);
}

function accessTokenOf({ validity, grants }: Terms): ExplainedAccessToken {
  const { lifetimeSeconds, expiresAt } = validity;
  const { grantedScopes, audience, rights } = grants;
  return {
    kind: 'access-token',
    lifetimeSeconds,
    expiresAt: new Date(expiresAt * 1000).toISOString(),
    scopes: grantedScopes ?? null,
    audience: audience ?? null,
    rights: rights ?? 'actor',
  };
}

function notesOf({ request, rejection, trust, subject, actor }: Findings): string[] {
  const isLimited = [subject, actor].some((token) => token?.policy?.perMinute !== undefined);
  return [
    ...(trust.entries.length === 0 ? ['There are no trusted key entries.'] : []),
    ...(rejection?.reason === 'token_expired' && request.at === undefined
      ? ['All else can be judged as of a moment at which the token was alive.']
      : []),
    ...(isLimited ? ['Limits by the minute are not judged.'] : []),
  ];
}
