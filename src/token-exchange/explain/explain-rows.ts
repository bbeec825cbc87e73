// Why a partner's question about a refusal is not answered, and the audit events of such questions.
import { event } from '../audit/event-members.js';
import { CLIENT_ADDRESS, CLIENT_REFUSAL, ISSUER, KID, REFUSAL } from '../audit/shared-members.js';
import type { TokenRefusal } from '../refusals/refusal.js';
import { flag } from '../trust/entry-kinds.js';

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

export const EXPLAIN_EVENTS = {
  'svc.audit.token-exchange.refusal-explained': event('A partner was told why its token was refused.', {
    issuer: ISSUER,
    kid: KID,
    reason: REFUSAL.reason,
    clientAddress: CLIENT_ADDRESS,
  }),
  'svc.audit.token-exchange.explain-refused': event('A question of a partner was refused.', {
    issuer: REFUSAL.issuer,
    kid: REFUSAL.kid,
    ...CLIENT_REFUSAL,
  }),
};

export const EXPLAIN = {
  mayExplain: flag({
    label: 'The partner may ask why its tokens are refused',
    rule: 'the partner may [ask why](../endpoints.md#post-restauthexplain) a token was refused',
    open: false,
    words: (may) => (may === true ? 'may ask why its tokens are refused' : undefined),
  }),
};
