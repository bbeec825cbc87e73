// Why a security event is refused that no other token is refused for.
import type { RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

export const SIGNAL_REFUSALS = {
  transmitter_unknown: {
    check: 'key',
    cause: 'no transmitter of security events has the secret in `Authorization`',
    remedy: 'the operator gives the transmitter the secret of its entry',
  },
  transmitter_mismatch: {
    check: 'key',
    cause: 'the `iss` of a security event is not the issuer of the transmitter with this secret',
    remedy: 'the operator corrects `issuer` of the transmitter',
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
