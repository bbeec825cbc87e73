// The peers that the service can be set against, by the names of the option `--peer`.
import { hydraIsMissing, startHydra } from './hydra.mjs';
import { keycloakIsMissing, startKeycloak } from './keycloak.mjs';
import { startDurableOidcProvider, startOidcProvider } from './oidc-provider.mjs';

const isAlwaysThere = () => undefined;

/** `isMissing` says what keeps a peer from being started, `atLeast` what is aimed at: its throughput, so many times. */
export const PEERS = [
  { name: 'oidc-provider', isMissing: isAlwaysThere, start: startOidcProvider, atLeast: 1.1 },
  { name: 'oidc-provider-durable', isMissing: isAlwaysThere, start: startDurableOidcProvider, atLeast: 2 },
  { name: 'hydra', isMissing: hydraIsMissing, start: startHydra },
  { name: 'keycloak', isMissing: keycloakIsMissing, start: startKeycloak },
];
