// The module of token exchange: controllers, keys, the stages of a request, the flows.
import { Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Transactions } from '../platform/database/transaction.js';
import { HttpAnswers } from '../platform/http/http-messages.js';
import { MemoryCounts } from '../platform/http/throttle/rate-limit.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { StartError, withStartErrors } from '../platform/start-error.js';
import { parsedUrl } from '../platform/text/url.js';
import { ClientAuthenticator } from './assertions/client-authenticator.js';
import { ClientKeyProvider } from './assertions/client-keys.js';
import { IdAssertionService } from './assertions/id-assertion.service.js';
import { AuditBus, EVENT_PREFIX } from './audit/audit-trail.js';
import { EntryThrottleService } from './endpoint/entry-throttle.service.js';
import { FLOW_CONTROLLERS } from './endpoint/flow.controllers.js';
import { FlowRunner } from './endpoint/flow.runner.js';
import { ENDPOINTS } from './endpoint/flows.js';
import { ApplyService } from './exchange/apply.service.js';
import { IssuancePlanner } from './exchange/issuance.planner.js';
import { Notices } from './exchange/notices.js';
import { publishedGrants } from './exchange/token-exchange.form.js';
import { TokenExchangeService } from './exchange/token-exchange.service.js';
import { ExplainService } from './explain/explain.service.js';
import { ProjectDirectory } from './host/projects.js';
import { CallerService } from './host/token-exchange-auth.js';
import { IdentityService } from './identity/identity.service.js';
import { IdentityLinkRepository } from './identity/identity-link.repository.js';
import { ProvisioningRepository } from './identity/provisioning.repository.js';
import { SeatRepository } from './identity/seat.repository.js';
import { SeatMetrics } from './identity/seat-metrics.js';
import { IntrospectionService } from './introspection/introspection.service.js';
import { EmbeddedLoginService } from './login/embedded-login.service.js';
import { LoginRepository } from './login/login.repository.js';
import { BackChannelLogoutService } from './logout/back-channel-logout.service.js';
import type { MetadataOptions } from './metadata/metadata.controller.js';
import { METADATA_OPTIONS } from './metadata/metadata.controller.js';
import { NewProjectThrottle } from './projects/new-project-throttle.js';
import { JtiRepository } from './replay/jti.repository.js';
import { UseRepository } from './replay/use.repository.js';
import { USED_ID_PURGE } from './replay/used-id-purge.js';
import type {
  GivenSettings,
  RouteSettings,
  TokenExchangeOptions,
} from './settings/token-exchange.options.js';
import {
  ROUTE_SETTINGS,
  TOKEN_EXCHANGE_OPTIONS,
  TOKEN_EXCHANGE_SETTINGS,
} from './settings/token-exchange.options.js';
import { completedOptions, entryRules } from './settings/token-exchange.settings.js';
import { SignalsService, SignalSubjects } from './signals/signals.service.js';
import { Transmitters } from './signals/transmitters.js';
import { ConfigurableModuleClass } from './token-exchange.module-definition.js';
import { JWKS_PROVIDERS } from './trust/jwks/jwks.service.js';
import { JwksKeyProvider } from './trust/jwks/jwks-key.provider.js';
import { KeyMetrics } from './trust/key-metrics.js';
import { StaticKeyProvider, TrustedKeyService } from './trust/lookup/trusted-key.service.js';
import { StoredEntryFollower } from './trust/stored/stored-entry.follower.js';
import type { StoredEntriesRules } from './trust/stored/stored-entry.js';
import { STORED_ENTRIES_RULES } from './trust/stored/stored-entry.js';
import { StoredEntryRepository } from './trust/stored/stored-entry.repository.js';
import { StoredEntryService } from './trust/stored/stored-entry.service.js';
import { ExternalTokenVerifier } from './verify/external-token.verifier.js';

const EDGE = [FlowRunner, HttpAnswers, EntryThrottleService, MemoryCounts, CallerService];
const KEYS = [
  StaticKeyProvider,
  ...JWKS_PROVIDERS,
  ClientKeyProvider,
  TrustedKeyService,
  KeyMetrics,
  StoredEntryRepository,
  StoredEntryFollower,
  StoredEntryService,
];
const STAGES = [
  ExternalTokenVerifier,
  ClientAuthenticator,
  IssuancePlanner,
  JtiRepository,
  UseRepository,
  IdentityLinkRepository,
  SeatRepository,
  SeatMetrics,
  IdentityService,
  ProvisioningRepository,
  NewProjectThrottle,
  LoginRepository,
  ApplyService,
  Transactions,
  AuditBus,
  Notices,
];
const FLOWS = [
  TokenExchangeService,
  IdAssertionService,
  EmbeddedLoginService,
  BackChannelLogoutService,
  Transmitters,
  SignalSubjects,
  SignalsService,
  IntrospectionService,
  ExplainService,
];

const OPTIONS = [
  {
    provide: TOKEN_EXCHANGE_OPTIONS,
    inject: [TOKEN_EXCHANGE_SETTINGS, ROUTE_SETTINGS, LOGGER, { token: ProjectDirectory, optional: true }],
    useFactory: withStartErrors(optionsOf),
  },
  {
    provide: EVENT_PREFIX,
    inject: [TOKEN_EXCHANGE_OPTIONS],
    useFactory: ({ eventPrefix }: TokenExchangeOptions) => eventPrefix,
  },
  {
    provide: STORED_ENTRIES_RULES,
    inject: [TOKEN_EXCHANGE_OPTIONS, TOKEN_EXCHANGE_SETTINGS],
    useFactory: storedEntriesRules,
  },
  {
    provide: METADATA_OPTIONS,
    inject: [TOKEN_EXCHANGE_SETTINGS, TOKEN_EXCHANGE_OPTIONS, ROUTE_SETTINGS, TrustedKeyService],
    useFactory: withStartErrors(publishedMetadata),
  },
];

/**
 * The module of all flows. `register` adds the providers that a host of the package needs. The instance of this repository has its
 * own, and imports the module only if flag and licence allow it (see src/instance/token-exchange.modules.ts of its repository).
 */
@Module({
  controllers: FLOW_CONTROLLERS,
  providers: [...OPTIONS, ...EDGE, ...KEYS, ...STAGES, ...FLOWS, USED_ID_PURGE],
  exports: [
    CallerService,
    METADATA_OPTIONS,
    TrustedKeyService,
    JwksKeyProvider,
    StoredEntryFollower,
    StoredEntryService,
  ],
})
export class TokenExchangeModule extends ConfigurableModuleClass {
  /** @throws StartError for a second registration, which would have separate jobs and counts */
  constructor(modules: ModulesContainer) {
    super();
    const registered = [...modules.values()].filter(({ metatype }) => metatype === TokenExchangeModule);
    if (registered.length > 1)
      throw new StartError(
        'TokenExchangeModule is registered twice. It is global, so register it once in the application',
      );
  }
}

/** @throws RangeError */
function optionsOf(
  settings: GivenSettings,
  { pathPrefix }: Required<RouteSettings>,
  log: Log,
  projects?: ProjectDirectory,
): TokenExchangeOptions {
  if (settings.roles.inProject !== undefined && projects === undefined)
    throw new RangeError('roles.inProject: needs a ProjectDirectory');
  const options = completedOptions(settings, log);
  const { ownIssuer } = options;
  const endpointAt = (path: string) => ownIssuer && ownIssuer + pathPrefix + path;
  const { exchange, explain } = ENDPOINTS;
  return { ...options, tokenEndpoint: endpointAt(exchange.path), explainEndpoint: endpointAt(explain.path) };
}

/** @throws RangeError if no metadata document can be at the issuer's address */
function publishedMetadata(
  { accessTokens, entryRules: rules }: GivenSettings,
  { exchange, idAssertion, isOffered }: TokenExchangeOptions,
  { pathPrefix, metadata }: Required<RouteSettings>,
  keys: TrustedKeyService,
): MetadataOptions {
  const baseUrl = accessTokens?.issuer ?? '';
  if (metadata && parsedUrl(baseUrl)?.origin !== baseUrl)
    throw new RangeError('metadata: accessTokens.issuer must be an origin, such as https://product.example');
  const switches = { exchange, idAssertion };
  const takesPlainJwts = () => keys.allow('jwt-bearer');
  const endpoint = () => ({
    path: pathPrefix + ENDPOINTS.exchange.path,
    ...publishedGrants({ switches, takesPlainJwts }),
    revocationPath: pathPrefix + ENDPOINTS.revocation.path,
    introspectionPath: pathPrefix + ENDPOINTS.introspection.path,
    namesDocuments: keys.namesDocuments,
  });
  const isSwitchedOn = exchange.enabled || idAssertion.enabled;
  const tokenEndpoint = () => (isSwitchedOn && isOffered() ? endpoint() : undefined);
  return { baseUrl, scopes: rules?.scopes, tokenEndpoint };
}

function storedEntriesRules(
  { trustedKeys }: TokenExchangeOptions,
  settings: GivenSettings,
): StoredEntriesRules {
  return { configured: trustedKeys, rules: entryRules(settings) };
}
