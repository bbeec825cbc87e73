// The peers of the option `--peer`, which the service can be compared with.
import { hydraIsMissing, startHydra } from './hydra.mjs';
import { keycloakIsMissing, startKeycloak } from './keycloak.mjs';
import { startDurableOidcProvider, startOidcProvider } from './oidc-provider.mjs';

const isAlwaysThere = () => undefined;

/** `isMissing` returns why a peer cannot be started. `atLeast` is the service's target throughput as a multiple of the peer's. */
export const PEERS = [
  { name: 'oidc-provider', isMissing: isAlwaysThere, start: startOidcProvider, atLeast: 1.1 },
  { name: 'oidc-provider-durable', isMissing: isAlwaysThere, start: startDurableOidcProvider, atLeast: 2 },
  { name: 'hydra', isMissing: hydraIsMissing, start: startHydra },
  { name: 'keycloak', isMissing: keycloakIsMissing, start: startKeycloak },
];
