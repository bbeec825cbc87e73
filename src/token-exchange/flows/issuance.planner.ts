// Plans the access token of an exchange before anything is used up for it: its life, its key, and its audit event.
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit.bus.js';
import { auditEvent, recordedActors } from '../audit/audit.bus.js';
import type { ResolvedUser } from '../users/decide.js';
import type { PerToken, Tokens } from '../verify/tokens.js';
import { listOf, recordedWorkloads, workloadsOf } from '../verify/tokens.js';
import { Clock } from '../../platform/clock.js';
import { printableAddress, printableSeconds, visible } from '../../platform/text/printable.js';
import type { FlowRequest } from './flow-request.js';
import type { AccessTokenGrant, AccessTokenSigner } from '../tokens/access-token.js';
import { lengthOfAccessToken } from '../tokens/access-token.js';
import { AccessTokenService } from '../tokens/access-token.service.js';
import { Rejection } from '../refusals/rejection.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { PriorActor } from '../verify/external-claims.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import { priorActorsOf } from './verification.js';
import type { AskedGrants, Grants } from './grants.js';
import { checkGrants } from './grants.js';

/** The request that the trail names. */
type Source = Pick<FlowRequest, 'flow' | 'requestId' | 'clientAddress'>;

/** `issuedAt` and `expiresAt` are whole seconds since the Unix epoch. */
interface Validity {
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly lifetimeSeconds: number;
}

/** The terms of an access token, from both tokens and both entries. */
export interface Terms {
  readonly validity: Validity;
  readonly grants: Grants;
  /** Who has acted before, according to the tokens. */
  readonly priorActors: readonly PriorActor[];
}

/** What an access token says beside its users. */
interface Planned extends Terms {
  readonly accessTokenId: string;
  readonly asked: AskedGrants;
  readonly tokens: Tokens;
}

/** An access token that is about to be issued. */
export interface Issuance extends Planned {
  /** The event of its success, but for the users. */
  readonly success: AuditEvent<'svc.audit.token-exchange.succeeded'>;
  /** Has the signing key already, so that no token is used up for an access token that cannot be signed. */
  readonly sign: AccessTokenSigner;
}

const MINIMUM_LIFETIME_SECONDS = 5;
/** Of the 16 KiB that the headers of a request may have. */
const MOST_TOKEN_CHARACTERS = 12 * 1024;
/** As long as an id or a generation of a host is expected to be at most. */
const LONGEST = 'x'.repeat(64);
const LONGEST_USER: ResolvedUser = { userId: LONGEST, accessGeneration: LONGEST, changes: [] };

@Injectable()
export class IssuancePlanner {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'exchange'>,
  ) {}

  /**
   * Plans the access token of verified tokens.
   * @throws Rejection `remaining_lifetime_too_short`, `scope_not_allowed`, `resource_not_allowed`, `claims_invalid`,
   *   `access_token_too_large`
   * @throws Error where there is no key to sign it with
   */
  plan(asked: AskedGrants, tokens: Tokens, source: Source): Issuance {
    const terms = checkTerms(asked, tokens, {
      now: this.clock.nowSeconds(),
      maxTokenLifetimeSeconds: this.options.exchange.maxTokenLifetimeSeconds,
      host: this.accessTokens.audience,
    });
    const accessTokenId = randomUUID();
    const sign = this.accessTokens.prepare();
    const { validity, grants, priorActors } = terms;
    const success = this.success(source, accessTokenId, asked, tokens, terms);
    return { accessTokenId, asked, tokens, validity, grants, priorActors, sign, success };
  }

  /** Copied member by member, here and above: to spread objects took as long as all the rest. */
  private success(
    { flow, requestId, clientAddress }: Source,
    accessTokenId: string,
    { scope, resource }: AskedGrants,
    { subject, actor, client, proof }: Tokens,
    { validity, grants, priorActors }: Terms,
  ): Issuance['success'] {
    const { issuer, kid } = issuerAndKid(subject);
    return auditEvent(
      'svc.audit.token-exchange.succeeded',
      { occurredAt: this.clock.now(), requestId },
      {
        issuer,
        kid,
        flow: flow === 'id-jag' || flow === 'jwt-bearer' ? flow : undefined,
        clientId: client?.id,
        tenants: subject.assertion?.tenants,
        clientAddress,
        accessTokenId,
        lifetimeSeconds: validity.lifetimeSeconds,
        scope: scope === undefined ? undefined : visible(scope),
        resource: resource?.map(printableAddress),
        grantedScopes: grants.grantedScopes,
        audience: grants.audience,
        rights: grants.rights,
        keyThumbprint: proof?.thumbprint,
        priorActors: recordedActors(priorActors),
        workloads: recordedWorkloads(workloadsOf({ subject, actor })),
      },
    );
  }
}

/** What terms depend on beside the tokens and their entries. */
interface TermsRules {
  /** Seconds since the Unix epoch. */
  readonly now: number;
  readonly maxTokenLifetimeSeconds: number;
  /** The audience of tokens that are for no other service. */
  readonly host?: string;
}

/** Checks what is asked for. @throws Rejection as `IssuancePlanner.plan` */
export function checkTerms(asked: AskedGrants, tokens: Tokens, rules: TermsRules): Terms {
  const validity = checkLifetime(tokens, rules);
  const grants = checkGrants(asked, tokens, rules.host);
  const terms = { validity, grants, priorActors: priorActorsOf(tokens) };
  refuseTooLarge({ accessTokenId: LONGEST, asked, tokens, ...terms }, rules.host);
  return terms;
}

/**
 * @rule 4.2.5 = 8.8 The life of the issued token is the shortest of both tokens' remaining lives and the configured limit.
 * An identity assertion does not count: it is a grant for minutes, and says nothing of the token's life (D133).
 * @rule P.maxTokenTtlSeconds An entry may set a shorter limit.
 * @rule D13 Less than 5 seconds is refused, exactly 5 is issued; whole seconds, rounded down.
 */
function checkLifetime({ subject, actor }: Tokens, { now, ...rules }: TermsRules): Validity {
  const ofEntries = listOf({ subject, actor }).map(({ key }) => key.policy.maxTokenTtlSeconds);
  const maxTokenLifetimeSeconds = Math.min(
    rules.maxTokenLifetimeSeconds,
    ...ofEntries.filter((limit) => limit !== undefined),
  );
  const counted = listOf({ subject, actor }).filter(({ assertion }) => assertion === undefined);
  const earliestExpiry = Math.min(...counted.map(({ claims }) => claims.exp));
  const remaining = Math.min(earliestExpiry - now, maxTokenLifetimeSeconds);
  if (remaining < MINIMUM_LIFETIME_SECONDS) throw tooShort({ subject, actor }, remaining);
  const issuedAt = Math.floor(now);
  const expiresAt = Math.min(Math.floor(earliestExpiry), issuedAt + maxTokenLifetimeSeconds);
  return { issuedAt, expiresAt, lifetimeSeconds: Math.floor(remaining) };
}

/** A token that no call could carry in its headers is not issued, and nothing is used up for it. */
function refuseTooLarge(planned: Planned, host = ''): void {
  const { subject, actor } = planned.tokens;
  const grant = grantOf(planned, { subject: LONGEST_USER, actor: actor && LONGEST_USER });
  const length = lengthOfAccessToken(grant, host);
  if (length <= MOST_TOKEN_CHARACTERS) return;
  const values = { expected: `${MOST_TOKEN_CHARACTERS} characters at most`, found: `up to ${length}` };
  throw new Rejection('access_token_too_large', { party: 'subject', ...issuerAndKid(subject), ...values });
}

/** The token that ends first is the one that is refused. */
function tooShort({ subject, actor }: Tokens, remainingSeconds: number): Rejection {
  const isActor = actor !== undefined && actor.claims.exp < subject.claims.exp;
  const expected = `${MINIMUM_LIFETIME_SECONDS} s at least`;
  const values = { expected, found: printableSeconds(remainingSeconds) };
  return new Rejection('remaining_lifetime_too_short', {
    party: isActor ? 'actor' : 'subject',
    ...issuerAndKid(isActor ? actor : subject),
    ...values,
  });
}

/**
 * Without an actor, only the audit event has the prior actors: a reader of the token would take one for its actor. Those of an identity
 * assertion are meant so: they act for its user at this very moment.
 * @rule 4.2.2 Without an actor the token is the subject's alone.
 * @rule 4.2.3 With an actor the token names both, and so do the audit records.
 */
export function grantOf(
  { accessTokenId, asked, tokens, validity, grants, priorActors }: Planned,
  users: PerToken<ResolvedUser>,
): AccessTokenGrant {
  const { issuedAt, expiresAt } = validity;
  const { scope, resource } = asked;
  const { subject, actor, client, proof } = tokens;
  return {
    id: accessTokenId,
    subjectUserId: users.subject.userId,
    actorUserId: users.actor?.userId,
    subjectGeneration: users.subject.accessGeneration,
    actorGeneration: users.actor?.accessGeneration,
    clientId: client?.id ?? subject.key.policy.issuer,
    ...grants,
    priorActors: actor === undefined && subject.assertion === undefined ? undefined : priorActors,
    workloads: workloadsOf(tokens),
    requestedScope: scope,
    requestedResource: resource?.join(' '),
    boundTo: proof?.thumbprint,
    issuedAt,
    expiresAt,
    signedBy: listOf(tokens).map(issuerAndKid),
    logins: listOf(tokens).map(({ login }) => login),
  };
}
