// Concatenates all rooms' rows of refused requests and of warnings. token-refusals.ts has refused tokens.
import { DPOP_REQUEST_REFUSALS } from '../dpop/dpop-refusals.js';
import { ENDPOINT_REFUSALS } from '../endpoint/request-refusals.js';
import { EXCHANGE_NOTICES } from '../exchange/exchange-refusals.js';
import { USER_NOTICES } from '../identity/user-refusals.js';
import { LOGIN_NOTICES, LOGIN_REQUEST_REFUSALS } from '../login/login-rows.js';
import { PROJECT_NOTICES } from '../projects/project-refusals.js';
import { SIGNAL_REQUEST_REFUSALS } from '../signals/signal-rows.js';
import type { RequestRefusal } from './refusal.js';
import { inOrderOfChecks } from './refusal.js';

const REQUEST_ROWS = {
  ...ENDPOINT_REFUSALS,
  ...SIGNAL_REQUEST_REFUSALS,
  ...LOGIN_REQUEST_REFUSALS,
  ...DPOP_REQUEST_REFUSALS,
};

/** Why a request is refused before its token is read. */
export type RequestRefusalReason = keyof typeof REQUEST_ROWS;

export const REQUEST_REFUSALS: Readonly<Record<RequestRefusalReason, RequestRefusal>> =
  inOrderOfChecks(REQUEST_ROWS);

/** Warnings about successful requests, mostly mistakes. */
export const NOTICES = { ...LOGIN_NOTICES, ...USER_NOTICES, ...PROJECT_NOTICES, ...EXCHANGE_NOTICES };

export type NoticeKind = keyof typeof NOTICES;
