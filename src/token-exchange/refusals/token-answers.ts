// What the endpoints answer to a refused token.
import type { EndpointAnswer } from './refusal.js';
import type { TokenRefusalReason } from './token-refusals.js';
import { TOKEN_REFUSALS } from './token-refusals.js';

const INVALID_GRANT = { status: 400, error: 'invalid_grant', message: 'Token exchange failed' };

/**
 * What the token endpoint answers.
 * @rule 7.5 Any token validation failure is `invalid_grant`.
 * @rule D14 Every refused token gets the same bytes: only the log and the audit trail have the cause. Claims, and what the
 * client asks for beside the token, have words of their own.
 */
export function oauthAnswerOf(reason: TokenRefusalReason): Required<EndpointAnswer> {
  return TOKEN_REFUSALS[reason].oauth ?? INVALID_GRANT;
}

/**
 * What embedded login answers.
 * @rule 7.7 A token that fails at embedded login gets 401 and a message that says why.
 * @rule 7.8 Missing or mistyped claims at embedded login get 500.
 * @rule D18 The answers of embedded login have a stable word for programs beside the message.
 */
export function loginAnswerOf(reason: TokenRefusalReason): Required<EndpointAnswer> {
  const { embed = 'Token is not accepted' } = TOKEN_REFUSALS[reason];
  return { error: reason, ...(typeof embed === 'string' ? { status: 401, message: embed } : embed) };
}
