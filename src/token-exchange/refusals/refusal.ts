// Rows of refusals, which the rooms have: check, cause, remedy and answers.

/** A check of a flow. Each flow makes those that apply to it, in this order. */
export const CHECKS = [
  'endpoint',
  'form',
  'client',
  'token',
  'header',
  'key',
  'signature',
  'trust',
  'claims',
  'audience',
  'times',
  'lifetime',
  'parties',
  'origin',
  'revocation',
  'proof',
  'remaining lifetime',
  'grants',
  'replay',
  'e-mail',
  'admission',
  'user',
  'role',
  'projects',
] as const;

export type Check = (typeof CHECKS)[number];

/** For operators. Clauses without a full stop. */
export interface Explanation {
  /** The fault. */
  readonly cause: string;
  /** Who does what about it. A host that has settings for it says so in its own words. */
  readonly remedy: string;
}

/** Of what has a place in the order of a flow. */
export interface CheckedExplanation extends Explanation {
  readonly check: Check;
}

/** Each is a warning of the log, and an event of the audit trail. */
export interface TokenRefusal extends CheckedExplanation {
  /** The answer of the token endpoint; left out: that of nearly every refused token. */
  readonly oauth?: Required<EndpointAnswer>;
  /** The answer of embedded login, a text for the message of a 401; left out: a login is never refused for this. */
  readonly embed?: EndpointAnswer | string;
}

/** What an endpoint answers; how it is written is the endpoint's. */
export interface EndpointAnswer {
  readonly status: number;
  /** The stable word for programs; of a refused login the reason, unless the row has another. */
  readonly error?: string;
  readonly message: string;
}

/** The message of the answer is that of the `OAuthRefusal`. */
export interface RequestRefusal extends CheckedExplanation {
  readonly status: number;
  /** The word of the token endpoint's answer. Default `invalid_request`. */
  readonly oauth?: string;
  /** The word of embedded login's answer. Default: the kind. */
  readonly embed?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Not logged: no throttle bounds these requests, or they are no faults, and they must not fill the log. */
  readonly isSilent?: true;
}

/** Rows of several rooms, in the order of their checks. */
export function inOrderOfChecks<Rows extends Readonly<Record<string, CheckedExplanation>>>(rows: Rows): Rows {
  const placeOf = ({ check }: CheckedExplanation) => CHECKS.indexOf(check);
  const sorted = Object.entries(rows).sort(([, one], [, other]) => placeOf(one) - placeOf(other));
  return Object.fromEntries(sorted) as Rows;
}
