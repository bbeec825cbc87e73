// What the answers of all routes have in common.

/**
 * Answers are not stored, unless a route says otherwise; those of the two flows say it again (D22,
 * token-exchange/http/http-answers.ts). No page of the instance sends a referrer (D23).
 */
export const COMMON_HEADERS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'referrer-policy': 'no-referrer',
} as const;

/** For answers that no route made: it is unknown for which page they were meant (D111). */
export const UNFRAMED_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
} as const;
