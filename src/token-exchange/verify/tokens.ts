// The verified tokens of one request.
import type { VerifiedToken } from './external-token.verifier.js';

/** One value for the subject, and one for the actor where there is one. */
export interface PerToken<Value> {
  readonly subject: Value;
  readonly actor?: Value;
}

export type Tokens = PerToken<VerifiedToken>;

/** The subject first. */
export function listOf<Value>({ subject, actor }: PerToken<Value>): Value[] {
  return actor === undefined ? [subject] : [subject, actor];
}
