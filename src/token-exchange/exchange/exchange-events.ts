// Audit events of token exchanges and redeemed assertions.
import { event, integer, listOf, oneOf, optional, text } from '../audit/event-members.js';
import {
  ACCESS_TOKEN_ID,
  CLIENT_ADDRESS,
  CLIENT_ID,
  IGNORED_ROLE,
  ISSUER,
  KID,
  PRIOR_ACTORS,
  REFUSAL,
  WORKLOADS,
} from '../audit/shared-members.js';

export const EXCHANGE_EVENTS = {
  /** @rule 6.1 A token exchange succeeded. */
  'svc.audit.token-exchange.succeeded': event(
    'A token exchange or an assertion succeeded.',
    {
      issuer: ISSUER,
      kid: KID,
      flow: optional(oneOf(['id-jag', 'jwt-bearer'], '')),
      clientId: CLIENT_ID,
      tenants: optional(listOf(text(''), '`tenant` and `aud_tenant` of an identity assertion.')),
      accessTokenId: ACCESS_TOKEN_ID,
      lifetimeSeconds: integer('', 1),
      scope: optional(text('')),
      resource: optional(listOf(text(''), 'Requested `resource`, without query.')),
      grantedScopes: optional(listOf(text(''), 'Missing if the entries limit none.')),
      audience: optional(text('Another service that the token is for.')),
      rights: optional(oneOf(['actor', 'both'], '')),
      keyThumbprint: optional(text("The DPoP key's (RFC 7638).")),
      priorActors: PRIOR_ACTORS,
      ...IGNORED_ROLE,
      workloads: WORKLOADS,
      clientAddress: optional(CLIENT_ADDRESS),
    },
    { of: 'exchange', is: 'succeeded' },
  ),
  /** @rule 6.2 A token exchange was refused. The event has the reason. */
  'svc.audit.token-exchange.failed': event('A token exchange or an assertion failed.', REFUSAL, {
    of: 'exchange',
    is: 'failed',
  }),
};
