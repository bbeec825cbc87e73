// Why a token is refused for whose it is.
import type { TokenRefusal } from '../refusals/refusal.js';

export const WORKLOAD_REFUSALS = {
  subject_not_allowed: {
    check: 'claims',
    cause: "the entry's `subjects` does not list the token's `sub`",
    remedy:
      'the partner runs the job where the entry expects it, or the operator corrects `subjects` (case differs; `*` matches neither `:` nor `/`)',
    embed: 'Subject is not allowed',
  },
  claim_not_allowed: {
    check: 'claims',
    cause: "a claim of the entry's `claims` is missing, or has another value or type",
    remedy:
      "the partner runs the job where the entry expects it, or the operator corrects the entry's `claims`",
    embed: 'Token claims do not match',
  },
} satisfies Record<string, TokenRefusal>;
