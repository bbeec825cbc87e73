// Why a partner's question about a refusal is not answered.
import type { TokenRefusal } from '../refusals/refusal.js';

export const EXPLAIN_REFUSALS = {
  explaining_not_allowed: {
    check: 'trust',
    cause: 'the partner may not ask why a token was refused',
    remedy: 'set `mayExplain`',
  },
  refusal_unknown: {
    check: 'trust',
    cause: "the partner's entry has no refusal with this id",
    remedy: "send a refusal's `X-Request-Id`, with a proof by a key of the same entry",
  },
} satisfies Record<string, TokenRefusal>;
