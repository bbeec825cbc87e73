// The known security events, why one is refused besides the reasons for all tokens, and the audit events.
import { event, integer, oneOf, optional } from '../audit/event-members.js';
import { CLIENT_ADDRESS, CLIENT_REFUSAL, ISSUER, KID, REFUSAL } from '../audit/shared-members.js';
import type { RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/';
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/';

/** The events that do something here, by their URIs. */
export const EVENTS = {
  [`${CAEP}session-revoked`]: 'session-revoked',
  [`${CAEP}credential-change`]: 'credential-change',
  [`${RISC}account-disabled`]: 'account-disabled',
  [`${RISC}account-enabled`]: 'account-enabled',
  [`${RISC}account-purged`]: 'account-purged',
  [`${RISC}sessions-revoked`]: 'sessions-revoked',
  [`${SSF}verification`]: 'verification',
} as const;

const EVENT_NAMES = Object.values(EVENTS);
export type EventName = (typeof EVENT_NAMES)[number];
/** The URIs that a stream is asked for. Transmitters send verifications without being asked. */
export const REQUESTED_EVENTS = Object.keys(EVENTS).filter((uri) => !uri.startsWith(SSF));

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

export const SIGNAL_EVENTS = {
  'svc.audit.token-exchange.signal': event('A security event of a user or session arrived.', {
    issuer: ISSUER,
    kid: KID,
    event: oneOf(EVENT_NAMES, ''),
    effect: oneOf(
      ['none', 'signed-out', 'issuer-signed-out', 'disabled', 'enabled', 'verified'],
      '`disabled` includes a sign-out. `issuer-signed-out`: all users of the issuer.',
    ),
    sessions: integer(''),
    clientAddress: optional(CLIENT_ADDRESS),
  }),
  'svc.audit.token-exchange.signal-refused': event('A security event was refused.', {
    issuer: REFUSAL.issuer,
    kid: REFUSAL.kid,
    ...CLIENT_REFUSAL,
  }),
};
