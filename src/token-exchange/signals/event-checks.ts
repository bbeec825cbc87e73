// The checks of a security event token, in their order, and the code that its transmitter gets for a refusal (RFC 8935 §2.4).
import { printable, printableList } from '../../platform/text/printable.js';
import type { EndpointAnswer } from '../refusals/refusal.js';
import type { TokenRefusalReason } from '../refusals/token-refusals.js';
import { TOKEN_REFUSALS } from '../refusals/token-refusals.js';
import type { CheckedToken, TokenCheck } from '../verify/check-runner.js';
import * as checks from '../verify/token-checks.js';
import type { EventClaims } from './security-event.js';
import { readEventClaims } from './security-event.js';
import type { Transmitter } from './transmitters.js';

const EVENT_TYPE = 'secevent+jwt';

/** @param transmitter that has authenticated: a token of another one is refused */
export function eventChecks({
  issuer,
  audience,
}: Transmitter): readonly TokenCheck<CheckedToken<EventClaims>>[] {
  return [
    checks.FORM_WITHOUT_NULLS,
    checks.KID,
    checks.ALGORITHM,
    checks.NO_CRIT,
    checks.NO_B64,
    checks.purpose(EVENT_TYPE, (typ) => typ === EVENT_TYPE),
    checks.ISSUER,
    {
      about: 'iss',
      reason: 'transmitter_mismatch',
      fails: ({ jws: { payload } }) => payload.iss !== issuer,
      compared: ({ jws: { payload } }) => [issuer, printable(payload.iss)],
      logged: { expected: issuer },
    },
    checks.KNOWN_ISSUER,
    checks.USABLE_KEY_SET,
    checks.KNOWN_KEY,
    checks.KEY_ALGORITHM,
    checks.SIGNATURE,
    {
      about: 'its claims',
      // Or `claims_not_storable`.
      reason: 'claims_invalid',
      isNeeded: true,
      read: (token) => void (token.claims = readEventClaims(token.jws.payload)),
      compared: () => ['iss, aud, iat, jti and events, each of its type', 'all of them'],
    },
    {
      about: 'aud',
      reason: 'audience_mismatch',
      fails: ({ claims: { aud } }) => ![aud].flat().includes(audience),
      compared: ({ claims: { aud } }) => [audience, printableList([aud].flat())],
    },
    checks.NOT_EXPIRED,
    checks.NOT_BEFORE,
    checks.NOT_FROM_FUTURE,
  ];
}

const CODES: Partial<Record<TokenRefusalReason, string>> = {
  transmitter_unknown: 'authentication_failed',
  transmitter_mismatch: 'invalid_issuer',
  audience_mismatch: 'invalid_audience',
  trust_revoked: 'access_denied',
};

/** The answer says no more than the standard's code: log and audit trail have the cause. */
export function eventAnswerOf(reason: TokenRefusalReason): Required<EndpointAnswer> {
  const isOfKey = ['key', 'signature'].includes(TOKEN_REFUSALS[reason].check);
  const error = CODES[reason] ?? (isOfKey ? 'invalid_key' : 'invalid_request');
  return { status: 400, error, message: 'The security event token was refused' };
}
