// Why a token is refused: one row for each reason, which answers, log, audit trail, metrics, explanations and documents read.
import type { EndpointAnswer, TokenRefusal } from './refusals.js';
import { USE_REFUSALS } from '../replay/use-refusals.js';
import { USER_REFUSALS } from '../identity/user-refusals.js';
import { VERIFICATION_REFUSALS } from '../verify/verification-refusals.js';

/** In the order of the checks: a token that fails one has passed those before. */
const ROWS = { ...VERIFICATION_REFUSALS, ...USE_REFUSALS, ...USER_REFUSALS };

/** Every reason why a token, or a pair of tokens, is refused. */
export type TokenRefusalReason = keyof typeof ROWS;

/** @rule D78 Every refusal has one cause and one remedy in words, here and in refusals.ts; docs/refusals.md is written from them. */
export const TOKEN_REFUSALS: Readonly<Record<TokenRefusalReason, TokenRefusal>> = ROWS;

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
