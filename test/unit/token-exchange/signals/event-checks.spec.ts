// What a transmitter is told of a refused security event token.
import { eventAnswerOf } from '../../../../src/token-exchange/signals/event-checks.js';

it.each([
  ['transmitter_unknown', 'authentication_failed'],
  ['transmitter_mismatch', 'invalid_issuer'],
  ['audience_mismatch', 'invalid_audience'],
  ['trust_revoked', 'access_denied'],
  ['kid_unknown', 'invalid_key'],
  ['signature_invalid', 'invalid_key'],
  ['claims_invalid', 'invalid_request'],
  ['token_expired', 'invalid_request'],
] as const)(
  '[D147] the reason %s is answered with %s and the same description as all others',
  (reason, error) => {
    expect(eventAnswerOf(reason)).toEqual({
      status: 400,
      error,
      message: 'The security event token was refused',
    });
  },
);
