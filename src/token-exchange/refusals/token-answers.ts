// The endpoints' answers to a refused token.
import type { EndpointAnswer } from './refusal.js';
import type { TokenRefusalReason } from './token-refusals.js';
import { TOKEN_REFUSALS } from './token-refusals.js';

const INVALID_GRANT = { status: 400, error: 'invalid_grant', message: 'Token exchange failed' };

/**
 * What the token endpoint answers.
 * @rule 7.5 Any token validation failure is `invalid_grant`.
 * @rule D14 Every refused token gets the same bytes: only the log and the audit trail have the cause. Invalid claims, scopes and
 * resources have their own codes.
 */
export function oauthAnswerOf(reason: TokenRefusalReason): Required<EndpointAnswer> {
  return TOKEN_REFUSALS[reason].oauth ?? INVALID_GRANT;
}

/**
 * The answer of embedded login, with a stable code for programs besides the message.
 * @rule 7.7 A token that fails at embedded login gets 401 and a message with the reason.
 * @rule 7.8 Missing or mistyped claims at embedded login get 500.
 */
export function loginAnswerOf(reason: TokenRefusalReason): Required<EndpointAnswer> {
  const { embed = 'Token is not accepted' } = TOKEN_REFUSALS[reason];
  return { error: reason, ...(typeof embed === 'string' ? { status: 401, message: embed } : embed) };
}
