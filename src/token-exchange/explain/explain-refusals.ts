// Why a partner's question about a refusal is not answered.
import type { TokenRefusal } from '../refusals/refusal.js';

export const EXPLAIN_REFUSALS = {
  explaining_not_allowed: {
    check: 'trust',
    cause: 'the entry does not let its partner ask why a token was refused',
    remedy: "the operator sets the entry's `mayExplain`, or tells the partner the cause",
  },
  refusal_unknown: {
    check: 'trust',
    cause: "the request was not refused, or the refusal does not name the partner's entry",
    remedy: 'the partner sends the `X-Request-Id` of a refusal, with a proof by a key of the same entry',
  },
} satisfies Record<string, TokenRefusal>;
