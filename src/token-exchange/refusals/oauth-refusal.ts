// The exception by which the service refuses a request or a token in it; refusals.ts and token-refusals.ts have a row for each reason.
import type { TokenRefusalReason } from './token-refusals.js';
import type { RequestRefusalReason } from './refusals.js';
import { REQUEST_REFUSALS } from './refusals.js';

/** The two tokens of an exchange. */
export type SubjectOrActor = 'subject' | 'actor';

/**
 * Details of a refused token for the log and the audit trail alone. Claims only with a valid signature; `issuer` and `kid` as sent
 * only if the issuer is a trusted one.
 */
export interface RefusalContext {
  /** Which of the two tokens of an exchange was refused. */
  party?: SubjectOrActor;
  issuer?: string;
  kid?: string;
  /** The client that has sent an identity assertion; only one that an entry names. */
  clientId?: string;
  /** The local user who was found, where who that is or what is stored of them is the cause. */
  userId?: string;
  /** The true cause in words, without any value of the token. */
  detail?: string;
  /** What the rule asks for. */
  expected?: string;
  /**
   * What came instead. Both by `printable`, or fixed words with numbers: never an e-mail address, a
   * person's `sub`, a `jti`, a token or a key.
   */
  found?: string;
}

/**
 * The person of a token with a valid signature. Personal data: the audit trail finds the local user with it, and stores a keyed
 * hash; no log and no payload has it.
 */
export interface ExternalPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
}

/** The service refuses a token by one of its rules, or a request before its token is read. Never a fault of the service. */
export class OAuthRefusal extends Error {
  /** Where its token was refused after its signature was verified. Not part of the context, which is logged. */
  person?: ExternalPerson;
  /** Of a token whose entry names its user: the job or service that sent it, which no person is. For log and trail. */
  workload?: { readonly iss: string; readonly sub: string };
  /** Whether its token was refused before its signature was verified, so that any stranger may have sent it. */
  isOfStranger = false;

  /** @param message sent to the client if a request is refused, and never if a token is */
  constructor(
    readonly reason: TokenRefusalReason | RequestRefusalReason,
    private gathered: RefusalContext = {},
    message = gathered.detail === undefined ? reason : `${reason}: ${gathered.detail}`,
    readonly headers?: Readonly<Record<string, string>>,
  ) {
    // An answer, not a fault: its stack is not needed, and costs the most.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'OAuthRefusal';
  }

  get context(): RefusalContext {
    return this.gathered;
  }

  /** Adds context on the refusal's way up; what is there already stays. */
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

/** An error on its way up: with more context, if it refuses a token. */
export function inContext(error: unknown, context: RefusalContext): unknown {
  if (isTokenRefusal(error)) error.add(context);
  return error;
}

/**
 * @param message sent to the client: names fields and limits, never values
 * @param found for the log: what came instead, as `printable` makes it
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
