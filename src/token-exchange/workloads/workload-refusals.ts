// Why a token is refused for whose it is.
import type { TokenRefusal } from '../refusals/refusal.js';

export const WORKLOAD_REFUSALS = {
  subject_not_allowed: {
    check: 'claims',
    cause: '`subjects` of the entry does not list the `sub` of the token',
    remedy:
      'the partner runs the job where the entry expects it, or the operator corrects `subjects` of the entry: upper and lower case differ, and `*` matches neither `:` nor `/`',
    embed: 'Subject is not allowed',
  },
  claim_not_allowed: {
    check: 'claims',
    cause: 'a claim that `claims` of the entry asks for is missing, or has another value or type',
    remedy:
      'the partner runs the job where the entry expects it, or the operator corrects `claims` of the entry',
    embed: 'Token claims do not match',
  },
} satisfies Record<string, TokenRefusal>;
