// The request and the result of a token exchange, and which requests are equal.
import { ownCopy, requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';
import type { Person } from './person.js';
import { claimsOf } from './person.js';
import type { SigningKey } from './signing-key.js';

export interface ExchangeRequest {
  /** The user whom the token is for: claims, or only the `sub`. */
  readonly subject: Person | string;
  /** The user who acts for the subject. Calls have the actor's rights, or the rights of both if the entry says so. */
  readonly actor?: Person | string;
  /** Scopes, as a list or separated by spaces. Default: all scopes of the entry. */
  readonly scope?: string | readonly string[];
  /** Absolute URIs of the services that the token is for. Default: the instance's API. */
  readonly resource?: string | readonly string[];
  /** The `kid` of the keys that sign for the subject and for the actor. Default: the first key. */
  readonly subjectKid?: string;
  readonly actorKid?: string;
  /** Aborts this call, and the exchange if no other call waits for it. */
  readonly signal?: AbortSignal;
  /**
   * Exchanges although a token is kept. Use it after a 401 of the API, because tokens can be revoked. The refused access token is
   * better than `true`: if another call has already replaced it, no exchange is needed.
   */
  readonly fresh?: boolean | string;
}

const MEMBERS = {
  subject: true,
  actor: true,
  scope: true,
  resource: true,
  subjectKid: true,
  actorKid: true,
  signal: true,
  fresh: true,
} as const;

export interface AccessToken {
  readonly accessToken: string;
  /** `DPoP`: each call needs a proof; see `headersFor`. */
  readonly tokenType: 'Bearer' | 'DPoP';
  /** By this machine's clock. */
  readonly expiresAt: Date;
  /** The granted scopes; undefined if the token is not limited to scopes. */
  readonly scope: readonly string[] | undefined;
}

/** A user for whom a token is signed, and the key. */
export interface Signed {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly key: SigningKey;
}

/** A checked request. */
export interface Exchange {
  /** Requests with the same id can share an access token. */
  readonly id: string;
  readonly subject: Signed;
  readonly actor: Signed | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Copies the request, so that later changes of the caller's object have no effect.
 * @throws PartnerError `invalid_option`
 */
export function copyOf(request: ExchangeRequest): ExchangeRequest {
  requireObject(request, 'the request', MEMBERS);
  const { subject, actor, scope, resource, subjectKid, actorKid, signal, fresh } = request;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalidOption('signal must be an AbortSignal');
  if (fresh !== undefined && typeof fresh !== 'boolean' && typeof fresh !== 'string')
    throw invalidOption('fresh must be true, false, or the access token that was refused');
  const data = { subject, actor, scope, resource, subjectKid, actorKid };
  return { ...ownCopy(data, 'the request'), signal, fresh };
}

/**
 * @param request a copy that the caller does not have
 * @throws PartnerError `invalid_option`
 */
export function readExchange(
  request: ExchangeRequest,
  keyNamed: (kid: string | undefined) => SigningKey,
): Exchange {
  const { subjectKid, actorKid } = request;
  const subject = { claims: claimsOf(request.subject, 'subject'), key: keyNamed(subjectKid) };
  if (request.actor === undefined && actorKid !== undefined)
    throw invalidOption('actorKid says whose key signs for the actor, and there is none');
  const actor =
    request.actor === undefined
      ? undefined
      : { claims: claimsOf(request.actor, 'actor'), key: keyNamed(actorKid) };
  const fields = {
    ...listField('scope', request.scope),
    ...listField('resource', request.resource),
  };
  const identity = [subject.claims, subjectKid, actor?.claims, actorKid, fields];
  return { id: canonical(identity), subject, actor, fields };
}

/** Whether a user is the subject or actor of an exchange. @param id the exchange's id */
export function isAbout(sub: string, id: string): boolean {
  const [subject, , actor] = JSON.parse(id) as readonly ({ readonly sub?: unknown } | null)[];
  return subject?.sub === sub || actor?.sub === sub;
}

/** An empty list is an error: a request without the field would get every scope or service. */
function listField(name: string, value: string | readonly string[] | undefined): Record<string, string> {
  if (value === undefined) return {};
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.length < parts.length) throw invalidOption(`${name} must be a text or a list of texts`);
  if (texts.length === 0 || texts.some((text) => text.trim() === ''))
    throw invalidOption(`${name} has nothing in it: leave it out for all that there is`);
  return { [name]: texts.join(' ') };
}

/** JSON whose properties have a fixed order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : (member ?? null),
  );
}
