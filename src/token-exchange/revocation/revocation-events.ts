// Audit events of revoked trust and revoked access tokens.
import { event, optional } from '../audit/event-members.js';
import { ISSUER, KID, ACCESS_TOKEN_ID, CLIENT_REFUSAL } from '../audit/shared-members.js';

export const REVOCATION_EVENTS = {
  'svc.audit.token-exchange.trust-revoked': event(
    'A key, or without `kid` every key of an issuer, was revoked, with everything that it signed for.',
    { issuer: ISSUER, kid: optional(KID) },
  ),
  'svc.audit.token-exchange.trust-restored': event('Trust was restored, for what is issued from then on.', {
    issuer: ISSUER,
    kid: optional(KID),
  }),
  'svc.audit.token-exchange.token-revoked': event('An access token was ended by a client that held it.', {
    accessTokenId: ACCESS_TOKEN_ID,
  }),
  'svc.audit.token-exchange.revocation-refused': event(
    "A client's access token was not ended: no authentication, or another client's token.",
    CLIENT_REFUSAL,
  ),
};
