// Why a security event is refused, besides the reasons for all tokens.
import type { RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

export const SIGNAL_REFUSALS = {
  transmitter_unknown: {
    check: 'key',
    cause: 'no transmitter has the secret in `Authorization`',
    remedy: "give the transmitter its entry's secret",
  },
  transmitter_mismatch: {
    check: 'key',
    cause: "the event's `iss` is not its transmitter's issuer",
    remedy: "correct the transmitter's `issuer`",
  },
} satisfies Record<string, TokenRefusal>;

export const SIGNAL_REQUEST_REFUSALS = {
  not_an_event: {
    check: 'form',
    cause: 'the body is not a security event token (`application/secevent+jwt` in UTF-8)',
    remedy: 'send the token alone, with this `Content-Type`',
    status: 415,
  },
} satisfies Record<string, RequestRefusal>;
