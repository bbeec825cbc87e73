// Why a security event is refused that no other token is refused for.
import type { RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

export const SIGNAL_REFUSALS = {
  transmitter_unknown: {
    check: 'key',
    cause: 'no transmitter has the secret in `Authorization`',
    remedy: "the operator gives the transmitter its entry's secret",
  },
  transmitter_mismatch: {
    check: 'key',
    cause: "the event's `iss` is not its transmitter's issuer",
    remedy: "the operator corrects the transmitter's `issuer`",
  },
} satisfies Record<string, TokenRefusal>;

export const SIGNAL_REQUEST_REFUSALS = {
  not_an_event: {
    check: 'form',
    cause: 'the body is not a security event token (`application/secevent+jwt` in UTF-8)',
    remedy: 'the transmitter sends the token alone, with this `Content-Type`',
    status: 415,
  },
} satisfies Record<string, RequestRefusal>;
