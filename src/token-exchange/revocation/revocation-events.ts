// Audit events of revoked trust and revoked access tokens.
import { event, optional } from '../audit/event-members.js';
import { ACCESS_TOKEN_ID, CLIENT_REFUSAL, ISSUER, KID } from '../audit/shared-members.js';

export const REVOCATION_EVENTS = {
  'svc.audit.token-exchange.trust-revoked': event(
    'A key was revoked; without `kid`, every key of the issuer.',
    { issuer: ISSUER, kid: optional(KID) },
  ),
  'svc.audit.token-exchange.trust-restored': event('Trust was restored for later tokens.', {
    issuer: ISSUER,
    kid: optional(KID),
  }),
  'svc.audit.token-exchange.token-revoked': event('A client has revoked its access token.', {
    accessTokenId: ACCESS_TOKEN_ID,
  }),
  'svc.audit.token-exchange.revocation-refused': event('A revocation was refused.', CLIENT_REFUSAL),
};
