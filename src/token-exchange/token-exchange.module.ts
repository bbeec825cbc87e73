// The parts list of token exchange: controllers, keys, the stages of a request, the flows, jobs.
import type { DynamicModule, NestModule, Provider, Type } from '@nestjs/common';
import { Module, Controller, VERSION_NEUTRAL } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuditBus, EVENT_PREFIX } from './audit/audit.bus.js';
import { USED_ID_PURGE } from './replay/used-id-purge.js';
import { JtiRepository } from './replay/jti.repository.js';
import { Transactions } from '../platform/database/transaction.js';
import { BackChannelLogoutController } from './http/back-channel-logout.controller.js';
import { TokenExchangeController } from './http/token-exchange.controller.js';
import { BackChannelLogoutService } from './flows/back-channel-logout.service.js';
import { ApplyService } from './flows/apply.service.js';
import { IdAssertionService } from './flows/id-assertion.service.js';
import { IntrospectionService } from './flows/introspection.service.js';
import { IssuancePlanner } from './flows/issuance.planner.js';
import { LoginRepository } from './flows/login.repository.js';
import { TokenExchangeService } from './flows/token-exchange.service.js';
import { UseRepository } from './flows/use.repository.js';
import { EntryThrottleService } from './flows/entry-throttle.service.js';
import { FlowRunner } from './http/flow.runner.js';
import { FlowErrors } from './http/flow-error.filter.js';
import {
  KeySetController,
  METADATA_OPTIONS,
  MetadataController,
  PublishedPaths,
} from './http/metadata.controller.js';
import type { MetadataOptions } from './http/metadata.controller.js';
import { ENDPOINTS, WELL_KNOWN } from './http/paths.js';
import { OwnRoutes, CallerService } from './http/token-exchange-auth.js';
import { publishedGrants } from './http/token-exchange.form.js';
import { UnguardedRoutes } from './http/unguarded-routes.js';
import { RegistrationsCheck } from './registrations-check.js';
import {
  completedOptions,
  completedRoutes,
  entryRules,
  givenSettings,
} from './settings/token-exchange.settings.js';
import { ROUTES } from './settings/settings.js';
import { didYouMean } from '../platform/text/wording.js';
import { HttpAnswers } from '../platform/http/http-answers.js';
import { MemoryCounts } from '../platform/http/throttle/counting.storage.js';
import { EmbedLoginController } from './http/embed-login.controller.js';
import { EmbeddedLoginService } from './flows/embedded-login.service.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { IdentityLinkRepository } from './users/identity-link.repository.js';
import { IdentityService } from './users/identity.service.js';
import { NewProjectThrottle } from './users/new-project-throttle.js';
import { Notices } from './flows/notices.js';
import { ClientKeyProvider } from './trust/lookup/client-keys.js';
import { JwksKeyProvider } from './trust/jwks/jwks-key.provider.js';
import { JwksSnapshotRepository } from './trust/jwks/jwks-snapshot.repository.js';
import { StaticKeyProvider } from './trust/lookup/static-key.provider.js';
import type { StoredEntriesRules } from './trust/stored/stored-entry.reader.js';
import { StoredEntryFollower } from './trust/stored/stored-entry.follower.js';
import { STORED_ENTRIES_RULES } from './trust/stored/stored-entry.js';
import { StoredEntryRepository } from './trust/stored/stored-entry.repository.js';
import { StoredEntryService } from './trust/stored/stored-entry.service.js';
import { TrustedKeyService } from './trust/lookup/trusted-key.service.js';
import type {
  RouteSettings,
  TokenExchangeOptions,
  GivenSettings,
  TokenExchangeSettings,
} from './settings/token-exchange.options.js';
import { ROUTE_SETTINGS, TOKEN_EXCHANGE_OPTIONS } from './settings/token-exchange.options.js';
import type { SettingsFactory, TokenExchangeParts } from './token-exchange.parts.js';
import { FACTORY, PARTS, TOKEN_EXCHANGE_SETTINGS, ownServices, providersOf } from './token-exchange.parts.js';
import { TokenIntrospectionController } from './http/token-introspection.controller.js';
import { TokenRevocationController } from './http/token-revocation.controller.js';
import { ClientAuthenticator } from './verify/client-authenticator.js';
import { ExternalTokenVerifier } from './verify/external-token.verifier.js';
import { parsedUrl } from '../platform/text/url.js';

const EDGE = [
  FlowRunner,
  FlowErrors,
  HttpAnswers,
  EntryThrottleService,
  MemoryCounts,
  PublishedPaths,
  UnguardedRoutes,
  RegistrationsCheck,
];
const KEYS = [
  StaticKeyProvider,
  JwksSnapshotRepository,
  JwksKeyProvider,
  ClientKeyProvider,
  TrustedKeyService,
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
  IdentityService,
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
  IntrospectionService,
];

/**
 * Every flow, for a host with PostgreSQL and Nest's event emitter. The instance of this repository is the first of its
 * hosts, and registers it only when flag and licence allow it (see src/instance/token-exchange.modules.ts of its repository).
 */
@Module({})
export class TokenExchangeModule implements NestModule {
  constructor(private readonly registrations: RegistrationsCheck) {}

  /** Before routes are made, of which Fastify refuses two of one path in its own words. */
  configure(): void {
    this.registrations.run();
  }

  /** @throws Error for members that are not known and a port that is missing; at the start for settings that cannot be meant */
  static register(settings: TokenExchangeSettings & RouteSettings, parts: TokenExchangeParts): DynamicModule {
    const { pathPrefix, metadata, ...others } = settings;
    refuseUnknownParts(parts, PARTS);
    return moduleOf(parts, { pathPrefix, metadata }, settingsBy({ useFactory: () => others }));
  }

  /** As `register`, with settings that are made of what the host injects. Those of the routes are not among them. */
  static registerAsync(given: TokenExchangeParts & RouteSettings & SettingsFactory): DynamicModule {
    refuseUnknownParts(given, { ...PARTS, ...ROUTES.shape, ...FACTORY });
    const { inject, useFactory, pathPrefix, metadata, ...parts } = given;
    return moduleOf(parts, { pathPrefix, metadata }, settingsBy({ inject, useFactory }));
  }
}

/** @throws Error where the one part is missing that every host has to give, also to a host that is not compiled */
function refuseUnknownParts(parts: Partial<TokenExchangeParts> | undefined, known: object): void {
  if (parts?.users === undefined)
    throw new Error('users: is needed, a class that extends UserDirectory or another provider of one');
  const names = Object.keys(known);
  const unknown = Object.keys(parts).filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new RangeError(unknown.map((name) => `${name}: is not known${didYouMean(name, names)}`).join('\n'));
}

const CONTROLLERS = [
  TokenExchangeController,
  EmbedLoginController,
  TokenRevocationController,
  TokenIntrospectionController,
  BackChannelLogoutController,
];
const PUBLISHED = [MetadataController, KeySetController];

function settingsBy({ inject = [], useFactory }: SettingsFactory): Provider {
  return {
    provide: TOKEN_EXCHANGE_SETTINGS,
    inject: [...inject],
    useFactory: async (...needs: never[]) => givenSettings(await useFactory(...needs)),
  };
}

function moduleOf(parts: TokenExchangeParts, routes: RouteSettings, settings: Provider): DynamicModule {
  const completed = completedRoutes(routes);
  const { pathPrefix, metadata } = completed;
  return {
    module: TokenExchangeModule,
    imports: [DiscoveryModule, ...(parts.imports ?? [])],
    controllers: [
      ...routed(CONTROLLERS, pathPrefix, parts.decorators),
      ...(metadata ? routed(PUBLISHED, WELL_KNOWN, parts.decorators) : []),
    ],
    providers: [
      settings,
      { provide: ROUTE_SETTINGS, useValue: completed },
      {
        provide: TOKEN_EXCHANGE_OPTIONS,
        inject: [TOKEN_EXCHANGE_SETTINGS, LOGGER],
        useFactory: (settings: GivenSettings, log: Log) => {
          refuseMissingProjects(parts, settings);
          const options = completedOptions(settings, log);
          const { ownIssuer } = options;
          return { ...options, tokenEndpoint: ownIssuer && ownIssuer + pathPrefix + ENDPOINTS.exchange };
        },
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
        useFactory: publishedMetadata,
      },
      CallerService,
      ...providersOf(parts),
      ...EDGE,
      ...KEYS,
      ...STAGES,
      ...FLOWS,
      USED_ID_PURGE,
    ],
    exports: [
      CallerService,
      FlowErrors,
      TrustedKeyService,
      JwksKeyProvider,
      StoredEntryFollower,
      StoredEntryService,
      ...ownServices(parts),
    ],
  };
}

/** @throws RangeError where no metadata document can be at the issuer's address */
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
  const takesPlainJwts = () => keys.serve('jwt-bearer');
  const endpoint = () => ({
    path: pathPrefix + ENDPOINTS.exchange,
    ...publishedGrants({ switches, takesPlainJwts }),
    revocationPath: pathPrefix + ENDPOINTS.revocation,
    introspectionPath: pathPrefix + ENDPOINTS.introspection,
    namesDocuments: keys.namesDocuments,
  });
  const isSwitchedOn = exchange.enabled || idAssertion.enabled;
  const tokenEndpoint = () => (isSwitchedOn && isOffered() ? endpoint() : undefined);
  return { baseUrl, scopes: rules?.scopes, tokenEndpoint };
}

/** @throws RangeError for roles in projects that the host does not bring, by which entries could have `projects` */
function refuseMissingProjects({ projects }: TokenExchangeParts, { roles }: GivenSettings): void {
  if (roles.inProject !== undefined && projects === undefined)
    throw new RangeError('roles.inProject: needs the part `projects`');
}

function storedEntriesRules(
  { trustedKeys }: TokenExchangeOptions,
  settings: GivenSettings,
): StoredEntriesRules {
  return { configured: trustedKeys, rules: entryRules(settings) };
}

/** As classes of its own: decorators stay on a class, and a process may have several applications. */
export function routed(
  controllers: readonly Type<object>[],
  path: string,
  decorators: readonly ClassDecorator[] = [],
): Type<object>[] {
  return controllers.map((Base) => {
    class Routed extends Base {}
    Object.defineProperty(Routed, 'name', { value: Base.name });
    const own = [Controller({ path, version: VERSION_NEUTRAL }), OwnRoutes()];
    for (const decorate of [...own, ...decorators]) decorate(Routed);
    return Routed;
  });
}
