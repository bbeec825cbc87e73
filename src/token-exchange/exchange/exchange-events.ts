// Audit events of token exchanges and redeemed assertions.
import { event, integer, listOf, oneOf, optional, text } from '../audit/event-members.js';
import {
  ISSUER,
  KID,
  ACCESS_TOKEN_ID,
  clientAddress,
  PRIOR_ACTORS,
  IGNORED_ROLE,
  WORKLOADS,
  CLIENT_ID,
  REFUSAL,
} from '../audit/shared-members.js';

export const EXCHANGE_EVENTS = {
  /** @rule 6.1 A token exchange succeeded. */
  'svc.audit.token-exchange.succeeded': event(
    'A token exchange succeeded, or an assertion was redeemed (`flow`).',
    {
      issuer: ISSUER,
      kid: KID,
      flow: optional(oneOf(['id-jag', 'jwt-bearer'], 'The flow of an assertion.')),
      clientId: CLIENT_ID,
      tenants: optional(
        listOf(text(''), '`tenant` and `aud_tenant` of an identity assertion, if its entry lists tenants.'),
      ),
      accessTokenId: ACCESS_TOKEN_ID,
      lifetimeSeconds: integer('Life of the access token, in seconds.', 1),
      scope: optional(text('The requested `scope`.')),
      resource: optional(listOf(text(''), 'The requested `resource`, without user, password and query.')),
      grantedScopes: optional(listOf(text(''), 'The granted scopes, if the entries limit them.')),
      audience: optional(text('The service that the token is for, if it is another one.')),
      rights: optional(oneOf(['actor', 'both'], 'Whose rights a call with the token needs.')),
      keyThumbprint: optional(
        text('Thumbprint (RFC 7638) of the key that the access token is bound to (DPoP).'),
      ),
      priorActors: PRIOR_ACTORS,
      ...IGNORED_ROLE,
      workloads: WORKLOADS,
      clientAddress: optional(clientAddress()),
    },
    { of: 'exchange', is: 'succeeded' },
  ),
  /** @rule 6.2 A token exchange was refused; the event holds the reason. */
  'svc.audit.token-exchange.failed': event(
    'A token exchange or an assertion was refused, or failed (`internal_error`).',
    REFUSAL,
    { of: 'exchange', is: 'failed' },
  ),
};
