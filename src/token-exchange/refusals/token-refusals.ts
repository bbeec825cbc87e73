// Concatenates all rooms' rows of refused tokens, for answers, log, audit trail, metrics, explanations and documents.
import { ASSERTION_REFUSALS } from '../assertions/assertion-refusals.js';
import { DPOP_REFUSALS } from '../dpop/dpop-refusals.js';
import { EXCHANGE_REFUSALS } from '../exchange/exchange-refusals.js';
import { EXPLAIN_REFUSALS } from '../explain/explain-rows.js';
import { USER_REFUSALS } from '../identity/user-refusals.js';
import { INTROSPECTION_REFUSALS } from '../introspection/introspection-rows.js';
import { LOGIN_REFUSALS } from '../login/login-rows.js';
import { PROJECT_REFUSALS } from '../projects/project-refusals.js';
import { REPLAY_REFUSALS } from '../replay/replay-refusals.js';
import { REVOCATION_REFUSALS } from '../revocation/revocation-refusals.js';
import { SIGNAL_REFUSALS } from '../signals/signal-rows.js';
import { VERIFICATION_REFUSALS } from '../verify/verification-refusals.js';
import { WORKLOAD_REFUSALS } from '../workloads/workload-refusals.js';
import type { TokenRefusal } from './refusal.js';
import { inOrderOfChecks } from './refusal.js';

const ROWS = {
  ...VERIFICATION_REFUSALS,
  ...ASSERTION_REFUSALS,
  ...INTROSPECTION_REFUSALS,
  ...EXPLAIN_REFUSALS,
  ...SIGNAL_REFUSALS,
  ...WORKLOAD_REFUSALS,
  ...EXCHANGE_REFUSALS,
  ...REVOCATION_REFUSALS,
  ...REPLAY_REFUSALS,
  ...DPOP_REFUSALS,
  ...USER_REFUSALS,
  ...LOGIN_REFUSALS,
  ...PROJECT_REFUSALS,
};

/** Every reason why a token, or a pair of tokens, is refused. */
export type TokenRefusalReason = keyof typeof ROWS;

/**
 * The rows in the order of the checks: a token that fails a check has passed all before.
 * Every refusal has one cause and one remedy, here and in refusals.ts, from which docs/refusals.md is written (D77).
 */
export const TOKEN_REFUSALS: Readonly<Record<TokenRefusalReason, TokenRefusal>> = inOrderOfChecks(ROWS);
