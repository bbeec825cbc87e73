// The errors by which a token, or a request before its token is looked at, is refused; token-refusals.ts and refusals.ts have what each
// reason means and answers.
import type { RejectionReason } from './token-refusals.js';
import type { FlowRefusalKind } from './refusals.js';
import { REQUEST_REFUSALS } from './refusals.js';

/** The two tokens of an exchange. */
export type SubjectOrActor = 'subject' | 'actor';

/**
 * Details of a rejection for the log and the audit trail alone. Claims only with a valid signature; `issuer` and `kid` as sent
 * only if the issuer is a trusted one.
 */
export interface RejectionContext {
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

/** A token was refused, by one of its rules; never for a fault of the service. */
export class Rejection extends Error {
  /** Where its token was refused after its signature was verified. Not part of the context, which is logged. */
  person?: ExternalPerson;
  /** Of a token whose entry names its user: the job or service that sent it, which no person is. For log and trail. */
  workload?: { readonly iss: string; readonly sub: string };
  /** Whether its token was refused before its signature was verified, so that any stranger may have sent it. */
  isOfStranger = false;

  constructor(
    readonly reason: RejectionReason,
    private gathered: RejectionContext = {},
  ) {
    // An answer, not a fault: its stack is not needed, and costs the most.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(gathered.detail === undefined ? reason : `${reason}: ${gathered.detail}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Rejection';
  }

  get context(): RejectionContext {
    return this.gathered;
  }

  /** Adds context on the rejection's way up; what is there already stays. */
  add(context: RejectionContext): void {
    this.gathered = { ...context, ...this.gathered };
  }
}

/** An error on its way up: with more context, if it is a rejection. */
export function inContext(error: unknown, context: RejectionContext): unknown {
  if (error instanceof Rejection) error.add(context);
  return error;
}

/** A request was refused for what it is, not for its token. The message names fields and limits, never values. */
export class FlowRefusal extends Error {
  constructor(
    readonly kind: FlowRefusalKind,
    message: string,
    readonly headers: Readonly<Record<string, string>> | undefined = REQUEST_REFUSALS[kind].headers,
    /** For the log: what came instead, as `printable` makes it. */
    readonly found?: string,
  ) {
    super(message);
    this.name = 'FlowRefusal';
  }
}

export function notEnabled(what: string): FlowRefusal {
  return new FlowRefusal('not_enabled', `${what} is not enabled on this instance`);
}

/** A field is missing or malformed, or the form as a whole. */
export function invalidField(message: string): FlowRefusal {
  return new FlowRefusal('field_invalid', message);
}
