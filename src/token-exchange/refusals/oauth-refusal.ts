// The exception for a refused request or token. refusals.ts and token-refusals.ts have a row for each reason.
import type { RequestRefusalReason } from './refusals.js';
import { REQUEST_REFUSALS } from './refusals.js';
import type { TokenRefusalReason } from './token-refusals.js';

/** The two tokens of an exchange. */
export type SubjectOrActor = 'subject' | 'actor';

/**
 * Details of a refused token for the log and the audit trail alone. Claims appear only with a valid signature; `issuer` and `kid`
 * only if the issuer is trusted.
 */
export interface RefusalContext {
  /** Whether the subject's or the actor's token was refused. */
  party?: SubjectOrActor;
  issuer?: string;
  kid?: string;
  /** The client that sent an identity assertion, if an entry names it. */
  clientId?: string;
  /** The local user, if the user is the cause. */
  userId?: string;
  /** The true cause in words, without any value of the token. */
  detail?: string;
  /** What the rule requires. */
  expected?: string;
  /**
   * What came instead. Both come from `printable` or are fixed strings with numbers, and never contain an e-mail address, a
   * person's `sub`, a `jti`, a token or a key.
   */
  found?: string;
}

/**
 * The person of a token with a valid signature. Personal data: the audit trail finds the local user by it, and stores a keyed
 * hash. No log and no payload contains it.
 */
export interface ExternalPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
}

/** A token refused by a rule, or a request refused before its token is read. Never an internal error. */
export class OAuthRefusal extends Error {
  /** The person, if the token was refused after its signature was verified. Not part of the logged context. */
  person?: ExternalPerson;
  /** The job or service that sent the token, if its entry has `signInAs`. For log and trail. */
  workload?: { readonly iss: string; readonly sub: string };
  /** Whether the token was refused before its signature was verified, so that any stranger may have sent it. */
  isOfStranger = false;

  /** @param message sent to the client for a refused request, never for a refused token */
  constructor(
    readonly reason: TokenRefusalReason | RequestRefusalReason,
    private gathered: RefusalContext = {},
    message = gathered.detail === undefined ? reason : `${reason}: ${gathered.detail}`,
    readonly headers?: Readonly<Record<string, string>>,
  ) {
    // An answer needs no stack, which would cost the most.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'OAuthRefusal';
  }

  get context(): RefusalContext {
    return this.gathered;
  }

  /** Adds context while the refusal is passed up. Existing properties stay. */
  add(context: RefusalContext): void {
    this.gathered = { ...context, ...this.gathered };
  }
}

export type RefusedToken = OAuthRefusal & { readonly reason: TokenRefusalReason };

export type RefusedRequest = OAuthRefusal & { readonly reason: RequestRefusalReason };

export function isRequestRefusal(error: unknown): error is RefusedRequest {
  return error instanceof OAuthRefusal && error.reason in REQUEST_REFUSALS;
}

export function isTokenRefusal(error: unknown): error is RefusedToken {
  return error instanceof OAuthRefusal && !(error.reason in REQUEST_REFUSALS);
}

/** Adds context to an error that refuses a token. */
export function inContext(error: unknown, context: RefusalContext): unknown {
  if (isTokenRefusal(error)) error.add(context);
  return error;
}

/**
 * @param message sent to the client: names fields and limits, never values
 * @param found for the log: what came instead, from `printable`
 */
export function requestRefusal(
  reason: RequestRefusalReason,
  message: string,
  headers = REQUEST_REFUSALS[reason].headers,
  found?: string,
): OAuthRefusal {
  return new OAuthRefusal(reason, { found }, message, headers);
}

export function notEnabled(what: string): OAuthRefusal {
  return requestRefusal('not_enabled', `${what} is not enabled on this instance`);
}

/** A field is missing or malformed, or the form as a whole. */
export function invalidField(message: string): OAuthRefusal {
  return requestRefusal('field_invalid', message);
}
