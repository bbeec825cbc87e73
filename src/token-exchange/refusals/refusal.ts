// The format of the rooms' rows of refusals: check, cause, remedy and answers.

/** The checks of all flows. Each flow runs the ones that apply, in this order. */
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
  /** Who does what about it. A host may replace it with the names of its settings. */
  readonly remedy: string;
}

/** A row with a place in the order of checks. */
export interface CheckedExplanation extends Explanation {
  readonly check: Check;
}

/** A refused token: a warning in the log, and an event in the audit trail. */
export interface TokenRefusal extends CheckedExplanation {
  /** The answer of the token endpoint; by default the one for nearly every refused token. */
  readonly oauth?: Required<EndpointAnswer>;
  /** The message of embedded login's 401; absent if a login is never refused for this. */
  readonly embed?: EndpointAnswer | string;
}

/** An endpoint's answer. The endpoint chooses its format. */
export interface EndpointAnswer {
  readonly status: number;
  /** The stable code for programs; for a refused login the reason, unless the row has another. */
  readonly error?: string;
  readonly message: string;
}

/** The message of the answer is that of the `OAuthRefusal`. */
export interface RequestRefusal extends CheckedExplanation {
  readonly status: number;
  /** The code of the token endpoint's answer. Default `invalid_request`. */
  readonly oauth?: string;
  /** The code of embedded login's answer. Default: the reason. */
  readonly embed?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Not logged, because these requests are not throttled or are no mistakes, and must not fill the log. */
  readonly isSilent?: true;
}

/** Rows of several rooms, in the order of their checks. */
export function inOrderOfChecks<Rows extends Readonly<Record<string, CheckedExplanation>>>(rows: Rows): Rows {
  const placeOf = ({ check }: CheckedExplanation) => CHECKS.indexOf(check);
  const sorted = Object.entries(rows).sort(([, one], [, other]) => placeOf(one) - placeOf(other));
  return Object.fromEntries(sorted) as Rows;
}
