// What a token exchange is asked for, what it gives, and when two requests are the same.
import type { Person } from './person.js';
import { ownCopy, requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';
import { claimsOf } from './person.js';
import type { SigningKey } from './signing-key.js';

export interface ExchangeRequest {
  /** Whose token it is: claims, or their `sub` alone. */
  readonly subject: Person | string;
  /** Who acts for the subject; calls then have the actor's rights, or those of both if the entry says so. */
  readonly actor?: Person | string;
  /** Scopes, as a list or with spaces between them; all that the entry lists if left out. */
  readonly scope?: string | readonly string[];
  /** Absolute URIs of the services that the token is for; the instance's API if left out. */
  readonly resource?: string | readonly string[];
  /** Which key signs for the subject, and which for the actor, if not the first one. */
  readonly subjectKid?: string;
  readonly actorKid?: string;
  /** Gives this call up, and the exchange too once nobody else waits for it. */
  readonly signal?: AbortSignal;
  /**
   * Exchanges although a token is there still: after a 401 of the API, since tokens can be revoked. The access token that was refused is
   * better than `true`: if another call has brought a new one meanwhile, that is taken.
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
  /** By the clock of this machine. */
  readonly expiresAt: Date;
  /** Granted scopes; undefined where the token is not limited to any. */
  readonly scope: readonly string[] | undefined;
}

/** Somebody for whom a token is to be signed. */
export interface Signed {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly key: SigningKey;
}

/** A request that has been read. */
export interface Exchange {
  /** Equal for requests that one access token can serve. */
  readonly id: string;
  readonly subject: Signed;
  readonly actor: Signed | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * What the caller wants now, whatever becomes of the object.
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
 * @param request a copy that nobody changes
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

/** Whether an exchange is for a user, or by them as actor. @param id of the exchange */
export function isAbout(sub: string, id: string): boolean {
  const [subject, , actor] = JSON.parse(id) as readonly ({ readonly sub?: unknown } | null)[];
  return subject?.sub === sub || actor?.sub === sub;
}

/** An empty list is a mistake: sent without the field, the token would have everything. */
function listField(name: string, value: string | readonly string[] | undefined): Record<string, string> {
  if (value === undefined) return {};
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.length < parts.length) throw invalidOption(`${name} must be a text or a list of texts`);
  if (texts.length === 0 || texts.some((text) => text.trim() === ''))
    throw invalidOption(`${name} has nothing in it: leave it out for all that there is`);
  return { [name]: texts.join(' ') };
}

/** JSON with the members of objects in one order, whatever order the caller has them in. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : (member ?? null),
  );
}
