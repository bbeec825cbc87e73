// Why a request is refused before a token is looked at, and the answer to an error of the service.
import { ACCEPTED_CODING, INTERNAL_ERROR_MESSAGE } from '../../platform/http/http-messages.js';
import type { RequestRefusal } from '../refusals/refusal.js';

export const ENDPOINT_REFUSALS = {
  not_available: {
    check: 'endpoint',
    cause: 'token exchange is switched off, or no licence includes it',
    remedy: 'switch token exchange on, or get a licence that includes it',
    status: 404,
    oauth: 'not_found',
    embed: 'not_found',
    isSilent: true,
  },
  not_enabled: {
    check: 'endpoint',
    cause: "the endpoint's flow is switched off",
    remedy: 'switch it on, and restart the service',
    status: 501,
    oauth: 'server_error',
  },
  payload_too_large: {
    check: 'form',
    cause: 'the body is larger than 256 KiB',
    remedy: 'send the form alone',
    status: 413,
    isSilent: true,
  },
  not_a_form: {
    check: 'form',
    cause: 'the body is not a form (application/x-www-form-urlencoded in UTF-8)',
    remedy: 'send a form with a matching `Content-Type`',
    status: 415,
  },
  content_encoding_not_supported: {
    check: 'form',
    cause: 'the body is compressed',
    remedy: 'send it without `Content-Encoding`',
    status: 415,
    headers: ACCEPTED_CODING,
  },
  unsupported_grant_type: {
    check: 'form',
    cause: '`grant_type` is missing, or names a grant that is not switched on',
    remedy: 'send a value from the answer',
    status: 400,
    oauth: 'unsupported_grant_type',
  },
  field_invalid: {
    check: 'form',
    cause: 'a form field is missing, repeated, too long or broken',
    remedy: 'correct the named field',
    status: 400,
  },
  token_missing: {
    check: 'form',
    cause: 'the field `token` is missing or empty',
    remedy: 'send the token in it',
    status: 400,
  },
} satisfies Record<string, RequestRefusal>;

/** An internal error, which ends a request with `internal_error` and is logged as an error. */
export const FAULT = {
  cause: 'an internal error occurred',
  remedy: 'find the error in the log by the request id',
  oauth: { status: 500, error: 'server_error', message: INTERNAL_ERROR_MESSAGE },
  embed: { status: 500, error: 'internal_error', message: INTERNAL_ERROR_MESSAGE },
} as const;
