// Why a token is refused for its subject or claims.
import type { TokenRefusal } from '../refusals/refusal.js';

export const WORKLOAD_REFUSALS = {
  subject_not_allowed: {
    check: 'claims',
    cause: "`subjects` does not list the token's `sub`",
    remedy: 'run the expected job, or correct `subjects` (case matters)',
    embed: 'Subject is not allowed',
  },
  claim_not_allowed: {
    check: 'claims',
    cause: 'a claim in `claims` is missing or differs',
    remedy: 'run the expected job, or correct `claims`',
    embed: 'Token claims do not match',
  },
} satisfies Record<string, TokenRefusal>;
