// Reads a security event token with a valid signature (RFC 8417): the event of CAEP 1.0, RISC 1.0 or SSF 1.0, and its subject.
import { isJsonObject } from '../../platform/json/strict-json.js';
import { isEmailAddress } from '../../platform/text/email-address.js';
import { kindOf } from '../../platform/text/printable.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ClaimSet } from '../trust/claim-names.js';
import type { TimedClaims } from '../verify/external-claims.js';
import { refuseUnstorable, timedClaims } from '../verify/external-claims.js';
import type { EventName } from './signal-rows.js';
import { EVENTS } from './signal-rows.js';

/** A token has no `exp`. It is accepted until this time after its `iat`. */
const MAX_AGE_SECONDS = 86_400;

/** Keycloak names all sessions of a user by this id when an administrator signs the user out. */
const ALL_SESSIONS = 'ALL';

/** A user by a subject identifier (RFC 9493). */
export type UserSubject =
  | { readonly format: 'iss_sub'; readonly iss: string; readonly sub: string }
  | { readonly format: 'email'; readonly email: string }
  | { readonly format: 'opaque'; readonly id: string };

export interface SecurityEvent {
  readonly name: EventName;
  /** When it happened, in seconds since the Unix epoch by the transmitter's clock; never after the `iat`. */
  readonly at: number;
  /** Undefined if the token names no user in a format that is known here. */
  readonly user?: UserSubject;
  /** The `sid` of a session at the provider. */
  readonly session?: string;
  /** The change of a `credential-change`: `create`, `update`, `revoke` or `delete`. */
  readonly change?: unknown;
  /** The state of a `verification`. */
  readonly state?: string;
}

export interface EventClaims extends TimedClaims {
  /** Undefined for an event without an effect here. */
  readonly event: SecurityEvent | undefined;
}

/** @throws OAuthRefusal `claims_invalid` or `claims_not_storable` */
export function readEventClaims(payload: ClaimSet): EventClaims {
  refuseUnstorable(payload);
  const claims = timedClaims(payload, MAX_AGE_SECONDS);
  const { events } = payload;
  if (!isJsonObject(events) || !Object.values(events).every(isJsonObject))
    throw invalid('events must be an object of objects');
  // Several URIs are names of one event (SSF 1.0 §4.1.3).
  const found = Object.entries(events).find(([uri]) => Object.hasOwn(EVENTS, uri));
  if (found === undefined) return { ...claims, event: undefined };
  const [uri, about] = found as [keyof typeof EVENTS, Readonly<Record<string, unknown>>];
  const time = about['event_timestamp'] ?? payload.toe ?? claims.iat;
  if (typeof time !== 'number' || time < 0)
    throw invalid(`the time of the event must be a number: found ${kindOf(time)}`);
  const event = {
    name: EVENTS[uri],
    at: Math.min(time, claims.iat),
    change: about['change_type'],
    state: typeof about['state'] === 'string' ? about['state'] : undefined,
    // Before SSF 1.0 the subject was in the event.
    ...subjectOf(payload.sub_id ?? about['subject']),
  };
  return { ...claims, event };
}

function subjectOf(subject: unknown): Pick<SecurityEvent, 'user' | 'session'> {
  if (!isJsonObject(subject)) return {};
  if (!isJsonObject(subject['user']) && !isJsonObject(subject['session'])) return { user: userOf(subject) };
  const user = userOf(subject['user']);
  const session = userOf(subject['session']);
  const isOne = session?.format === 'opaque' && session.id !== ALL_SESSIONS;
  return { user, session: isOne ? session.id : undefined };
}

function userOf(subject: unknown): UserSubject | undefined {
  if (!isJsonObject(subject)) return undefined;
  const { format, iss, sub, email, id } = subject;
  if (format === 'iss_sub' && isName(iss) && isName(sub)) return { format, iss, sub };
  if (format === 'email' && isName(email) && isEmailAddress(email)) return { format, email };
  return format === 'opaque' && isName(id) ? { format, id } : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function invalid(detail: string): OAuthRefusal {
  return new OAuthRefusal('claims_invalid', { detail });
}
