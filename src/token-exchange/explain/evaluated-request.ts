// An evaluated request, and its explanation.
import { printable, printableList } from '../../platform/text/printable.js';
import type { Terms } from '../exchange/issuance.planner.js';
import type { ProjectChange } from '../host/projects.js';
import { PROFILE_FIELDS } from '../host/users.js';
import type { Candidates, NewUser, UserDecision } from '../identity/decide.js';
import { isSessionToken } from '../login/session.service.js';
import type { ProjectSync } from '../projects/project-policy.js';
import type { RefusedToken, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { REQUEST_REFUSALS } from '../refusals/refusals.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import type { ClaimSet } from '../trust/claim-names.js';
import { policyInWords } from '../trust/policy-checks.js';
import type { TrustedKeyEntry, TrustPolicy } from '../trust/trusted-key.js';
import type { CheckResult } from '../verify/check-runner.js';
import type { PerToken } from '../verify/external-token.verifier.js';
import { listOf } from '../verify/external-token.verifier.js';
import { thumbprintIn } from '../verify/token-checks.js';
import { shownSubject } from '../workloads/workload-policy.js';
import type {
  EndpointRefusal,
  ExplainedAccessToken,
  ExplainedCheck,
  ExplainedContent,
  ExplainedEntry,
  ExplainedRefusal,
  ExplainedToken,
  ExplainedUser,
  ExplanationRequest,
  ExplanationRules,
  TokenExplanation,
} from './token-explanation.js';

/** One token, valid or not. */
export interface EvaluatedToken {
  readonly party: SubjectOrActor;
  readonly results: readonly CheckResult[];
  /** The claims as sent; undefined if the token is no JWT. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload?: ClaimSet;
  /** The policy of its key's entry, otherwise of its issuer's only entry. */
  readonly policy?: TrustPolicy;
  /** Undefined if no user was searched. */
  readonly candidates?: Candidates;
  /** Undefined if the token was refused before or at this stage. */
  readonly decision?: UserDecision;
}

export interface EvaluatedRequest extends PerToken<EvaluatedToken> {
  readonly request: ExplanationRequest;
  readonly now: Date;
  readonly rules: ExplanationRules;
  /** The trusted ones. */
  readonly entries: readonly TrustedKeyEntry[];
  /** The reason if no token is accepted at all. */
  readonly closed: EndpointRefusal | undefined;
  readonly refusal: RefusedToken | undefined;
  readonly terms: Terms | undefined;
  /** The results of the proof's checks; empty without a proof, or if a token is refused before it. */
  readonly proofResults: readonly CheckResult[];
  /** The thumbprint of the proved key. */
  readonly keyThumbprint: string | undefined;
}

export function explanationOf(evaluated: EvaluatedRequest): TokenExplanation {
  const { request, now, closed, refusal } = evaluated;
  const checks = explainedChecks(evaluated);
  const isAccepted = closed === undefined && refusal === undefined;
  return {
    flow: request.flow,
    asOf: now.toISOString(),
    outcome: isAccepted ? 'accepted' : 'refused',
    refusal: isAccepted ? null : refusalOf(evaluated, checks),
    checks,
    tokens: listOf(evaluated).map((token) => explainedToken(token, evaluated)),
    issued: isAccepted ? issuedOf(evaluated) : null,
    notes: notesOf(evaluated),
  };
}

/** The checks of the endpoint, of each token and of the proof, and the check of a later stage that fails. */
function explainedChecks(evaluated: EvaluatedRequest): ExplainedCheck[] {
  const { closed, refusal, proofResults } = evaluated;
  const ofTokens = listOf(evaluated).flatMap(({ party, results }) =>
    results.map((result) => ({ ...result, party })),
  );
  const made = [...ofTokens, ...proofResults.map((result) => ({ ...result, party: null }))];
  const isLater = refusal !== undefined && made.every(({ state }) => state === 'passed');
  return [endpointCheck(closed), ...made, ...(isLater ? [failedCheck(refusal)] : [])];
}

function failedCheck({ reason, context }: RefusedToken): ExplainedCheck {
  const { party = null, expected = null, found = null } = context;
  return { check: TOKEN_REFUSALS[reason].check, about: null, party, state: 'failed', expected, found };
}

function endpointCheck(closed: EndpointRefusal | undefined): ExplainedCheck {
  const found = closed?.replaceAll('_', ' ') ?? 'open';
  const state = closed === undefined ? 'passed' : 'failed';
  return { check: 'endpoint', about: 'its state', party: null, state, expected: 'open', found };
}

function refusalOf(
  { closed, refusal, rules: { remedies = {} } }: EvaluatedRequest,
  checks: readonly ExplainedCheck[],
): ExplainedRefusal | null {
  if (closed !== undefined) {
    const { check, cause, remedy: own } = REQUEST_REFUSALS[closed];
    return { reason: closed, check, party: null, detail: null, cause, remedy: remedies[closed] ?? own };
  }
  if (refusal === undefined) return null;
  const { reason, context } = refusal;
  const { check, cause, remedy } = TOKEN_REFUSALS[reason];
  const failed = checks.find(({ state }) => state === 'failed');
  const party = failed?.party ?? context.party ?? null;
  return { reason, check: failed?.check ?? check, party, detail: context.detail ?? null, cause, remedy };
}

function explainedToken(token: EvaluatedToken, evaluated: EvaluatedRequest): ExplainedToken {
  const { party } = token;
  return {
    party,
    content: contentOf(token),
    entry: entryOf(token, evaluated),
    user: explainedUser(token),
  };
}

function contentOf({ header, payload, policy }: EvaluatedToken): ExplainedContent {
  const text = (value: unknown) => (typeof value === 'string' ? printable(value) : null);
  const hidden = (value: unknown, mask: (text: string) => string) =>
    typeof value === 'string' ? mask(value) : null;
  return {
    issuer: text(payload?.['iss']),
    kid: text(header?.['kid']),
    algorithm: text(header?.['alg']),
    subject: hidden(payload?.['sub'], (sub) =>
      policy?.signInAs === undefined ? printable(masked(sub)) : shownSubject(sub),
    ),
    email: hidden(payload?.['email'], maskedEmail),
    role: shownRole(payload, policy?.roleClaim),
  };
}

/** A provider may send several. */
function shownRole(claims: Readonly<Record<string, unknown>> = {}, name = 'role'): string | null {
  const values = [claims[name]].flat().filter((value) => typeof value === 'string');
  return values.length === 0 ? null : printableList(values);
}

function entryOf({ policy }: EvaluatedToken, { entries, now }: EvaluatedRequest): ExplainedEntry | null {
  const entry = policy && entries.find(({ label }) => label === policy.label);
  if (entry === undefined) return null;
  const { entryIndex, label, type, suspended } = entry;
  return {
    from: entryIndex === undefined ? 'command' : 'configuration',
    index: entryIndex ?? null,
    label,
    type,
    isSuspended: suspended === true,
    policy: policyInWords(entry, now),
  };
}

function explainedUser({ candidates = {}, decision }: EvaluatedToken): ExplainedUser | null {
  if (decision?.by === 'provisioning') return explainedNewUser(decision);
  const { linked, withEmail, named } = candidates;
  const user = named ?? linked ?? withEmail;
  if (user === undefined) return null;
  const by = named ? 'entry' : linked ? 'link' : 'email';
  const known = { id: user.id, by, roleBefore: user.role } as const;
  // A refused user would not change.
  if (decision === undefined)
    return { ...known, roleAfter: null, ignoresRoleClaim: false, changedNames: [], projects: [] };
  const { update, ignoresRoleClaim } = decision;
  const changedNames = PROFILE_FIELDS.filter((name) => update[name] !== undefined);
  const projects = membershipsOf(decision.projects);
  return { ...known, roleAfter: update.role ?? user.role, ignoresRoleClaim, changedNames, projects };
}

function explainedNewUser({ newUser, projects }: NewUser): ExplainedUser {
  return {
    ...{ id: null, by: 'provisioning', roleBefore: null, roleAfter: newUser.role, ignoresRoleClaim: false },
    changedNames: PROFILE_FIELDS.filter((name) => newUser[name] !== ''),
    projects: membershipsOf(projects),
  };
}

/** Without memberships whose origin alone changes. */
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

function issuedOf({ request, terms, rules, keyThumbprint }: EvaluatedRequest): TokenExplanation['issued'] {
  if (request.flow === 'embed')
    return { kind: 'session', lifetimeSeconds: rules.sessionLifetimeSeconds ?? null };
  return terms === undefined ? null : accessTokenOf(terms, keyThumbprint ?? null);
}

function accessTokenOf({ validity, grants }: Terms, keyThumbprint: string | null): ExplainedAccessToken {
  const { lifetimeSeconds, expiresAt } = validity;
  const { grantedScopes, audience, rights } = grants;
  return {
    kind: 'access-token',
    lifetimeSeconds,
    expiresAt: new Date(expiresAt * 1000).toISOString(),
    scopes: grantedScopes ?? null,
    audience: audience ?? null,
    rights: rights ?? 'actor',
    keyThumbprint,
  };
}

function notesOf({ request, refusal, entries, subject, actor }: EvaluatedRequest): string[] {
  const isLimited = listOf({ subject, actor }).some(({ policy }) => policy?.perMinute !== undefined);
  return [
    ...(entries.length === 0 ? ['There are no trusted key entries.'] : []),
    ...(refusal?.reason === 'token_expired' && request.at === undefined
      ? ['All else can be checked as of a moment at which the token was alive.']
      : []),
    ...(request.flow === 'id-jag'
      ? ['The client is taken to be the one that the assertion names: its credentials are not checked.']
      : []),
    ...bindingNotesOf(request, listOf({ subject, actor })),
    ...(request.proof === undefined ? [] : ['The nonce of the proof is not checked.']),
    ...(isLimited ? ['Limits by the minute are not checked.'] : []),
    ...(actor === undefined
      ? []
      : ['Where both tokens are of one user, what the first would change is not foreseen.']),
  ];
}

/** Says which key somebody needs to use a token, unless its proof is there. */
function bindingNotesOf(
  { flow, token, proof }: ExplanationRequest,
  tokens: readonly EvaluatedToken[],
): string[] {
  if (isSessionToken(token))
    return [
      'This is the session token of a frame: only its page can use it, with a DPoP proof of the key of the page.',
    ];
  return tokens.flatMap(({ party, payload }) => {
    const thumbprint = thumbprintIn(payload?.['cnf']);
    if (thumbprint === undefined || proof !== undefined) return [];
    const needed =
      flow === 'embed'
        ? 'only a login of the frame accepts it, with a DPoP proof of this key'
        : 'the request needs a DPoP proof of this key';
    return [`The ${party} token is bound to the key ${thumbprint}: ${needed}.`];
  });
}

/** An e-mail address, as `a***@p***.example`. */
export function maskedEmail(address: string): string {
  const at = address.lastIndexOf('@');
  if (at < 0) return masked(address);
  const [domain = '', ...rest] = address.slice(at + 1).split('.');
  const suffix = rest.length === 0 ? '' : `.${rest.at(-1) ?? ''}`;
  return `${masked(address.slice(0, at))}@${masked(domain)}${suffix}`;
}

/** The first character, if there are others. */
export function masked(text: string): string {
  const [first = '', ...others] = text;
  return others.length === 0 ? '***' : `${first}***`;
}
