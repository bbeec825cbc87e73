// The grants of the token endpoint, and which of them a form names.
import { isIdJag } from '../verify/key-checks.js';
import { CLIENT_AUTH_METHODS } from './client-credentials.js';
import { FlowRefusal, notEnabled } from './flow-refusal.js';
import type { TokenForm } from './token-exchange.form.js';
import { ID_JAG_PROFILE, JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from './token-exchange.form.js';

type Switches = Readonly<Record<'exchange' | 'idAssertion', { readonly enabled: boolean }>>;

export type TokenFlow = 'exchange' | 'id-jag' | 'jwt-bearer';

/** What decides which grants there are: the switches, and whether an entry takes ordinary JWTs by the grant of RFC 7523. */
export interface GrantRules {
  readonly switches: Switches;
  /** Asked each time: entries are added while the service runs. */
  readonly takesPlainJwts: () => boolean;
}

/** Metadata of the grants that are switched on. */
export function publishedGrants({ switches, takesPlainJwts }: GrantRules) {
  const { exchange, idAssertion } = switches;
  const takesAssertions = idAssertion.enabled || (exchange.enabled && takesPlainJwts());
  return {
    grantTypes: [
      ...(exchange.enabled ? [TOKEN_EXCHANGE_GRANT] : []),
      ...(takesAssertions ? [JWT_BEARER_GRANT] : []),
    ],
    authMethods: [...(exchange.enabled ? ['none'] : []), ...(idAssertion.enabled ? CLIENT_AUTH_METHODS : [])],
    grantProfiles: idAssertion.enabled ? [ID_JAG_PROFILE] : undefined,
  };
}

/**
 * One grant type has two flows: where both are on, the `typ` of an identity assertion tells it from an ordinary JWT, and each checks it.
 * @rule 4.2.grant_type = 7.4 Anything but the exact URN is an unsupported grant type; where the operator lets entries take assertions,
 *   theirs is another (D133).
 * @throws FlowRefusal `unsupported_grant_type`, `field_invalid` for one that is repeated, or `not_enabled` for a token exchange where identity assertions alone are on
 */
export function readGrantType(form: TokenForm, rules: GrantRules): TokenFlow {
  const { exchange, idAssertion } = rules.switches;
  const asked = form.get('grant_type');
  if (asked === TOKEN_EXCHANGE_GRANT) {
    if (exchange.enabled) return 'exchange';
    throw notEnabled('Token exchange');
  }
  if (asked === JWT_BEARER_GRANT) {
    const takesPlain = exchange.enabled && rules.takesPlainJwts();
    if (idAssertion.enabled && !(takesPlain && !isIdJag(form.trimmed('assertion')))) return 'id-jag';
    if (takesPlain) return 'jwt-bearer';
  }
  const names = publishedGrants(rules).grantTypes.join(' or ');
  throw new FlowRefusal('unsupported_grant_type', `grant_type must be ${names}`);
}
