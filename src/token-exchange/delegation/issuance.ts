// What is known of an exchange before its users are: the token to be issued, and what the audit trail will tell of it.
import { randomUUID } from 'node:crypto';
import type { AuditEvent } from '../../audit/audit-event.js';
import { auditEvent } from '../../audit/audit-event.js';
import type { Parties } from '../consumption/consumption.service.js';
import type { AccessTokenGrant, SettledUsers } from '../host.js';
import { Rejection } from '../rejection.js';

/** A token-exchange request whose fields are checked. The tokens in it are not. */
export interface ExchangeRequest {
  readonly subjectToken: string;
  readonly actorToken?: string;
  readonly scope?: string;
  /** Target resource URIs. */
  readonly resource?: readonly string[];
  readonly requestId: string;
}

/** `issuedAt` and `expiresAt` are whole seconds since the Unix epoch. */
interface Validity {
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly lifetimeSeconds: number;
}

/** An access token that is about to be issued. */
export interface Issuance {
  readonly accessTokenId: string;
  readonly request: ExchangeRequest;
  readonly parties: Parties;
  readonly validity: Validity;
  /** The event of its success, but for the users. */
  readonly success: AuditEvent;
}

/** Seconds since the Unix epoch, and the longest life of an access token in seconds. */
interface Limits {
  readonly now: number;
  readonly maxTokenLifetimeSeconds: number;
}

const MINIMUM_LIFETIME_SECONDS = 5;

/** Plans the access token of verified tokens. @throws Rejection `remaining_lifetime_too_short` */
export function planIssuance(request: ExchangeRequest, parties: Parties, limits: Limits): Issuance {
  const accessTokenId = randomUUID();
  const validity = judgeLifetime(parties, limits);
  const { policy, kid } = parties.subject.key;
  const { scope, resource } = request;
  const success = auditEvent(
    'svc.audit.token-exchange.succeeded',
    { requestId: request.requestId },
    {
      issuer: policy.issuer,
      kid,
      accessTokenId,
      lifetimeSeconds: validity.lifetimeSeconds,
      ...(scope === undefined ? {} : { scope }),
      ...(resource === undefined ? {} : { resource }),
    },
  );
  return { accessTokenId, request, parties, validity, success };
}

/**
 * @rule 4.2.5 The life of the issued token is the shortest of both tokens' remaining lives and the configured limit.
 * @rule D13 Less than 5 seconds is refused, exactly 5 is issued; whole seconds, rounded down.
 */
function judgeLifetime({ subject, actor }: Parties, { now, maxTokenLifetimeSeconds }: Limits): Validity {
  const earliestExpiry = Math.min(subject.claims.exp, actor?.claims.exp ?? Number.POSITIVE_INFINITY);
  const remaining = Math.min(earliestExpiry - now, maxTokenLifetimeSeconds);
  if (remaining < MINIMUM_LIFETIME_SECONDS) throw new Rejection('remaining_lifetime_too_short');
  const issuedAt = Math.floor(now);
  const expiresAt = Math.min(Math.floor(earliestExpiry), issuedAt + maxTokenLifetimeSeconds);
  return { issuedAt, expiresAt, lifetimeSeconds: Math.floor(remaining) };
}

/**
 * @rule 4.2.2 Without an actor the token is the subject's alone.
 * @rule 4.2.3 With an actor the token names both, and so do the audit records.
 */
export function grantOf(
  { accessTokenId, request, parties, validity }: Issuance,
  users: SettledUsers,
): AccessTokenGrant {
  const { issuedAt, expiresAt } = validity;
  const { scope, resource } = request;
  return {
    id: accessTokenId,
    ...users,
    clientId: parties.subject.key.policy.issuer,
    ...(scope === undefined ? {} : { requestedScope: scope }),
    ...(resource === undefined ? {} : { requestedResource: resource.join(' ') }),
    issuedAt,
    expiresAt,
  };
}
