// Why a token is refused for whose it is.
import type { TokenRefusal } from '../refusals/refusal.js';

export const WORKLOAD_REFUSALS = {
  subject_not_allowed: {
    check: 'claims',
    cause: "`subjects` does not list the token's `sub`",
    remedy: 'the partner runs the expected job, or the operator corrects `subjects` (case matters)',
    embed: 'Subject is not allowed',
  },
  claim_not_allowed: {
    check: 'claims',
    cause: 'a claim in `claims` is missing or differs',
    remedy: 'the partner runs the expected job, or the operator corrects `claims`',
    embed: 'Token claims do not match',
  },
} satisfies Record<string, TokenRefusal>;
