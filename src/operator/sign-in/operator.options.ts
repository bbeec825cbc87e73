// What the operator's page is told at registration.

export interface OperatorOptions {
  /** The instance's own origin, which alone may write. */
  readonly baseUrl: string;
  /** Called for each password that is hashed or checked; for a metric. */
  readonly onHash: () => void;
  /** Called for each request that is refused because there were too many; for a metric. */
  readonly onThrottled: () => void;
}

/** Injection token of the options. */
export const OPERATOR_OPTIONS = Symbol('OPERATOR_OPTIONS');
