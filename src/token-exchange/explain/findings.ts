// Makes the explanation of what was found out about a request.
import type { Terms } from '../flows/issuance.planner.js';
import type { UserDecision } from '../users/decide.js';
import type { ProjectChange } from '../host/projects.js';
import type { ProjectSync } from '../users/project-policy.js';
import { policyInWords } from '../trust/policy-words.js';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import type { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import { printable } from '../../platform/text/printable.js';
import { REQUEST_REFUSALS } from '../refusals/refusals.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import type { Party, Rejection } from '../refusals/rejection.js';
import type { CheckResult } from '../verify/token-check.js';
import { notReached, resultOf } from '../verify/token-check.js';
import type { MadeCheck, RequestFacts, TokenFacts } from './check-kinds.js';
import { checksOf } from './checks.js';
import { storedIdOf } from './foreseen-users.js';
import { masked, maskedEmail } from './shown-values.js';
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
  /** Where no token is accepted at all. */
  readonly closed: EndpointRefusal | undefined;
  readonly rejection: Rejection | undefined;
  readonly terms: Terms | undefined;
  /** Whose users were looked for, in that order. */
  readonly order: readonly Party[];
  readonly decided: Partial<Record<Party, UserDecision>>;
  readonly subject: TokenFacts;
  readonly actor?: TokenFacts;
}

export function explanationOf(findings: Findings): TokenExplanation {
  const { request, now, closed, rejection, subject, actor } = findings;
  const checks = explainedChecks(findings);
  const isAccepted = closed === undefined && rejection === undefined;
  return {
    flow: request.flow,
    judgedAt: now.toISOString(),
    outcome: isAccepted ? 'accepted' : 'refused',
    refusal: isAccepted ? null : refusalOf(findings, checks),
    checks,
    parties: [subject, ...(actor === undefined ? [] : [actor])].map((token) => partyOf(token, findings)),
    issued: isAccepted ? issuedOf(findings) : null,
    notes: notesOf(findings),
  };
}

/** The endpoint, each token by itself, then what is checked of the request once all tokens are good. */
function explainedChecks(findings: Findings): ExplainedCheck[] {
  const { closed, subject, actor } = findings;
  const tokens = [subject, ...(actor === undefined ? [] : [actor])];
  const ofTokens = tokens.flatMap(({ party, results }) => results.map((result) => ({ ...result, party })));
  const isReached = closed === undefined && ofTokens.every(({ state }) => state === 'passed');
  const made = checksOf(requestFacts(findings), usersInOrder(findings));
  const failedAt = isReached ? failedOf(made, findings.rejection) : -1;
  return [
    { ...endpointCheck(closed), party: null },
    ...ofTokens,
    ...made.map((check, index) => {
      const { party, compared } = check;
      if (index > failedAt) return { ...notReached(check), party };
      const rejection = index === failedAt ? findings.rejection : undefined;
      return { ...resultOf(check, compared(), rejection), party };
    }),
  ];
}

function endpointCheck(closed: EndpointRefusal | undefined): CheckResult {
  const found = closed?.replaceAll('_', ' ') ?? 'open';
  const state = closed === undefined ? 'passed' : 'failed';
  return { check: 'endpoint', about: 'its state', state, expected: 'open', found };
}

/** Which of the checks it was. */
function failedOf(made: readonly MadeCheck[], rejection: Rejection | undefined): number {
  if (rejection === undefined) return made.length;
  const { reason, context } = rejection;
  return made.findIndex(
    ({ reasons, party }) =>
      reasons.includes(reason) && (party === null || context.party === undefined || party === context.party),
  );
}

/** Those who were not looked for come after the others. */
function usersInOrder({ order, actor }: Findings): Party[] {
  const all: Party[] = actor === undefined ? ['subject'] : ['subject', 'actor'];
  return [...order, ...all.filter((party) => !order.includes(party))];
}

function requestFacts({ request, now, rules, subject, actor }: Findings): RequestFacts {
  const { flow, scope, resource, origin } = request;
  const { maxTokenLifetimeSeconds } = rules.options.exchange;
  const asked = { flow, subject, actor, scope, resource, origin };
  return { ...asked, now: now.getTime() / 1000, maxTokenLifetimeSeconds };
}

function refusalOf(
  { closed, rejection }: Findings,
  checks: readonly ExplainedCheck[],
): ExplainedRefusal | null {
  if (closed !== undefined) {
    const { check, cause, remedy } = REQUEST_REFUSALS[closed];
    return { reason: closed, check, party: null, detail: null, cause, remedy };
  }
  if (rejection === undefined) return null;
  const { reason, context } = rejection;
  const { check, cause, remedy } = TOKEN_REFUSALS[reason];
  const failed = checks.find(({ state }) => state === 'failed');
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
  const text = (value: unknown) => (typeof value === 'string' ? printable(value) : null);
  const hidden = (value: unknown, mask: (text: string) => string) =>
    typeof value === 'string' ? mask(value) : null;
  return {
    issuer: text(payload?.['iss']),
    kid: text(header?.['kid']),
    algorithm: text(header?.['alg']),
    subject: hidden(payload?.['sub'], (sub) => printable(masked(sub))),
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

function explainedUser(token: TokenFacts, decision: UserDecision | undefined): ExplainedUser | null {
  if (decision?.by === 'provisioning') {
    const { role, givenName, familyName } = decision.newUser;
    const names = { givenName, familyName };
    return {
      ...{ id: null, by: 'provisioning', roleBefore: null, roleAfter: role, ignoresRoleClaim: false },
      changedNames: NAMES.filter((name) => names[name] !== ''),
      projects: membershipsOf(decision.projects),
    };
  }
  const user = userOf(token);
  if (user === undefined) return null;
  const by = isKnown(token) ? 'link' : 'email';
  const known = { id: storedIdOf(user), by, roleBefore: user.role } as const;
  // Refused: nothing would become of them.
  if (decision === undefined)
    return { ...known, roleAfter: null, ignoresRoleClaim: false, changedNames: [], projects: [] };
  const { update, ignoresRoleClaim } = decision;
  const changedNames = NAMES.filter((name) => update[name] !== undefined);
  const projects = membershipsOf(decision.projects);
  return { ...known, roleAfter: update.role ?? user.role, ignoresRoleClaim, changedNames, projects };
}

/** Without those that only have another origin. */
function membershipsOf(sync: ProjectSync | undefined): string[] {
  const { changes = [], keptIds = [] } = sync ?? {};
  return [
    ...changes.filter(({ from, to }) => from !== to).map(changeInWords),
    ...keptIds.map((id) => `would stay the last administrator of ${id}`),
  ];
}

function changeInWords({ id, key, from, to }: ProjectChange): string {
  const project = printable(key ?? id);
  if (to === undefined) return `would be removed from ${project}`;
  if (from !== undefined) return `would be ${to} in ${project}`;
  return `would be added to ${project} as ${to}${id === undefined ? ', which would be made' : ''}`;
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
      ? ['All else can be checked as of a moment at which the token was alive.']
      : []),
    ...(request.flow === 'id-jag'
      ? ['The client is taken to be the one that the assertion names: its credentials are not checked.']
      : []),
    ...(isLimited ? ['Limits by the minute are not checked.'] : []),
  ];
}
