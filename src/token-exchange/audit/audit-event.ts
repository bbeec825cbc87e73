// The catalogue of audit events: every name with its payload.
import { visible } from '../../platform/text/told-value.js';

interface Trusted {
  /** The `iss` of the trusted entry. */
  readonly issuer: string;
}

interface Acted {
  /** Who has acted before, by what the tokens say. Their ids are those of the issuers: no local user is meant. */
  readonly priorActors?: readonly { readonly iss: string; readonly sub: string }[];
}

/** As a payload has them: none where there are none, and with nothing that cannot be seen. */
export function recordedActors(actors: Acted['priorActors'] = []): Acted['priorActors'] {
  if (actors.length === 0) return undefined;
  return actors.map(({ iss, sub }) => ({ iss: visible(iss), sub: visible(sub) }));
}

interface Sent {
  /** Who sent the request, as the throttle counts it: an IPv4 address, or a /64 of IPv6. Personal data. */
  readonly clientAddress?: string;
}

/** `issuer` and `kid` are those of the token where its issuer is a trusted one, whether or not there is such a key. */
interface Refusal extends Partial<Trusted> {
  readonly flow: 'exchange' | 'embed';
  /** The stable word for the true cause; the client may have been told less. */
  readonly reason: string;
  readonly detail?: string;
  readonly kid?: string;
  /** Which token was refused. */
  readonly party?: 'subject' | 'actor';
  /** The local user who was found, where who that is or what is stored of them is the cause. */
  readonly userId?: string;
  /** What the rule asks for: words and numbers of ours, and values of the configuration. */
  readonly expected?: string;
  /** What came instead: never an e-mail address, a `sub`, a `jti`, a token or a key. */
  readonly found?: string;
}

/** A stored entry of the trusted keys, as it was at one moment. */
export interface StoredEntryRecord {
  readonly isSuspended: boolean;
  /** The entry as it was given, which holds public keys only; a URL without its query. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** A host that writes events of its own to the same trail adds them by declaration merging. */
export interface AuditPayloads {
  /** @rule 6.1 A token exchange succeeded. */
  'svc.audit.token-exchange.succeeded': Trusted &
    Sent &
    Acted & {
      readonly kid: string;
      readonly accessTokenId: string;
      readonly lifetimeSeconds: number;
      /** As it was asked for. */
      readonly scope?: string;
      /** As they were asked for, but for user, password and query. */
      readonly resource?: readonly string[];
      /** What was granted, where the entries limit it. */
      readonly grantedScopes?: readonly string[];
      readonly audience?: string;
      /** `both` where actor and subject both need a right. */
      readonly rights?: 'actor' | 'both';
    };
  /** @rule 6.2 A token exchange was refused; holds the reason. */
  'svc.audit.token-exchange.failed': Refusal & Sent;
  /** @rule 6.3 An embedded login succeeded. */
  'svc.audit.token-exchange.embed-login': Trusted &
    Sent &
    Acted & {
      readonly kid: string;
      /** The session that was opened, by the id of its family, which no browser has: a renewal goes on with that of before. */
      readonly sessionFamilyId?: string;
    };
  /** @rule 6.4 An embedded login was refused; holds the reason. */
  'svc.audit.token-exchange.embed-login-failed': Refusal & Sent;
  /** @rule 6.5 A user was made. */
  'svc.audit.token-exchange.user-provisioned': Trusted & {
    readonly userId: string;
    readonly role: string;
  };
  /** @rule 6.6 An existing user was linked to another external identity. */
  'svc.audit.token-exchange.identity-linked': Trusted & { readonly userId: string };
  /** An owner or administrator was linked: whoever has the issuer's key is that user from now on. A warning in the log, too. */
  'svc.audit.token-exchange.privileged-identity-linked': Trusted & {
    readonly userId: string;
    readonly role: string;
  };
  /** @rule 6.7 A user's role was changed by a token. */
  'svc.audit.token-exchange.role-updated': Trusted & {
    readonly userId: string;
    readonly from: string;
    readonly to: string;
  };
  /** @rule D86 That names of a user were changed by a token is told by which, and never by what they were or are. */
  'svc.audit.token-exchange.profile-updated': Trusted & {
    readonly userId: string;
    readonly fields: readonly ('givenName' | 'familyName')[];
  };
  /** Whom the service trusts was changed, by a command or by the host's own code. */
  'svc.audit.token-exchange.stored-entry-changed': Partial<Trusted> & {
    /** Its name. */
    readonly entry: string;
    readonly change: 'added' | 'policy-changed' | 'suspended' | 'resumed' | 'removed';
    /** Not there where it was added. */
    readonly from?: StoredEntryRecord;
    /** Not there where it was removed. */
    readonly to?: StoredEntryRecord;
  };
  /** Trust in a key was taken back, or without `kid` in every key of an issuer, with all that it had vouched for. */
  'svc.audit.token-exchange.trust-revoked': Trusted & { readonly kid?: string };
  /** That trust was given again, for what is issued from then on. */
  'svc.audit.token-exchange.trust-restored': Trusted & { readonly kid?: string };
  /** Whoever held an access token has ended it. */
  'svc.audit.token-exchange.token-revoked': { readonly accessTokenId: string };
  /** All sessions and access tokens of the subject were ended. */
  'svc.audit.token-exchange.user-signed-out': {
    /** How many sessions that had not ended by themselves. */
    readonly sessions: number;
  };
  /** Sessions of the subject were ended before their time. */
  'svc.audit.session.ended': {
    /** How many that had not ended by themselves. */
    readonly sessions: number;
    /**
     * `replaced`: a login in the same browser took their place, mostly that of another user. `too-many`: they were the oldest of
     * more than a user may have. `ended-by-operator`: at the operator's page.
     */
    readonly cause: 'signed-out' | 'replaced' | 'too-many' | 'ended-by-operator';
    /** Their families, as in the events of their logins. */
    readonly sessionFamilyIds: readonly string[];
  };
}

export type AuditEventName = keyof AuditPayloads;

/** Who did what, and in which request. Ids of local users only: never an e-mail address, an external sub or a token. */
export interface AuditContext {
  readonly occurredAt: Date;
  /** The id that the answer's `X-Request-Id` and the log lines carry. */
  readonly requestId: string;
  readonly subjectUserId?: string;
  /** The acting party, where there is one besides the subject. */
  readonly actorUserId?: string;
}

/** Something that has happened. */
export interface AuditEvent<Name extends AuditEventName = AuditEventName> extends AuditContext {
  readonly name: Name;
  readonly payload: AuditPayloads[Name];
}

/** Makes an event of the catalogue. */
export function auditEvent<Name extends AuditEventName>(
  name: Name,
  { occurredAt, requestId, subjectUserId, actorUserId }: AuditContext,
  payload: AuditPayloads[Name],
): AuditEvent<Name> {
  return {
    name,
    occurredAt,
    requestId,
    subjectUserId,
    actorUserId,
    payload,
  };
}
