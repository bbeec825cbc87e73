// The grants of the token endpoint, and which of them a form names.
import { CLIENT_AUTH_METHODS } from './client-credentials.js';
import { FlowRefusal, notEnabled } from './flow-refusal.js';
import type { Form } from './form.js';
import { ID_JAG_PROFILE, JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from './token-exchange.form.js';

type Switches = Readonly<Record<'exchange' | 'idAssertion', { readonly enabled: boolean }>>;

export type TokenFlow = 'exchange' | 'id-jag';

/** The grants that are switched on, by the name that `grant_type` gives them. */
export function grantTypes({ exchange, idAssertion }: Switches): ReadonlyMap<string, TokenFlow> {
  return new Map([
    ...(exchange.enabled ? [[TOKEN_EXCHANGE_GRANT, 'exchange'] as const] : []),
    ...(idAssertion.enabled ? [[JWT_BEARER_GRANT, 'id-jag'] as const] : []),
  ]);
}

/** Metadata of the grants that are switched on. */
export function publishedGrants(switches: Switches) {
  const { exchange, idAssertion } = switches;
  return {
    grantTypes: [...grantTypes(switches).keys()],
    authMethods: [...(exchange.enabled ? ['none'] : []), ...(idAssertion.enabled ? CLIENT_AUTH_METHODS : [])],
    grantProfiles: idAssertion.enabled ? [ID_JAG_PROFILE] : undefined,
  };
}

/**
 * @rule 4.2.grant_type = 7.4 Anything but the exact URN is an unsupported grant type; with identity assertions on, theirs is another (D133).
 * @throws FlowRefusal `unsupported_grant_type`, or `not_enabled` for a token exchange where identity assertions alone are on
 */
export function readGrantType(form: Form, grants: ReadonlyMap<string, TokenFlow>): TokenFlow {
  const asked = form.get('grant_type') ?? '';
  const flow = grants.get(asked);
  if (flow !== undefined) return flow;
  if (asked === TOKEN_EXCHANGE_GRANT) throw notEnabled('Token exchange');
  const names = [...grants.keys()].join(' or ');
  throw new FlowRefusal('unsupported_grant_type', `grant_type must be ${names}`);
}
