// Why a partner's question about a refusal is not answered.
import type { TokenRefusal } from '../refusals/refusal.js';

export const EXPLAIN_REFUSALS = {
  explaining_not_allowed: {
    check: 'trust',
    cause: 'a partner asks why a token was refused, and its entry does not let it ask',
    remedy: 'the operator sets `mayExplain` of the entry, or tells the partner the cause',
  },
  refusal_unknown: {
    check: 'trust',
    cause: 'a partner asks about a request that was not refused, or whose refusal does not name its entry',
    remedy: 'the partner sends the `X-Request-Id` of a refusal, with a proof by a key of the same entry',
  },
} satisfies Record<string, TokenRefusal>;
