// What the answers of all routes have in common.

/**
 * Answers are not stored, unless a route says otherwise; those of the two flows say it again (D22, token-exchange/http/http-answers.ts).
 * No page of the instance tells others where its visitor came from (D23).
 */
export const COMMON_HEADERS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'referrer-policy': 'no-referrer',
} as const;

/** Of answers that no route has made: nobody can say whose page they were meant for (D111). */
export const UNFRAMED_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
} as const;
