// The parts list of token exchange: controllers, keys, the services that verify, decide and commit, both flows, jobs.
import type { DynamicModule, InjectionToken, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { AuditBus } from './audit/audit.bus.js';
import { JtiPurgeJob } from './replay/jti-purge.job.js';
import { JtiRepository } from './replay/jti.repository.js';
import { Transactions } from '../platform/database/transaction.js';
import { BackChannelLogoutController } from './http/back-channel-logout.controller.js';
import { TokenExchangeController } from './http/token-exchange.controller.js';
import { BackChannelLogoutService } from './flows/back-channel-logout.service.js';
import { CommitRepository } from './flows/commit.repository.js';
import { CommitService } from './flows/commit.service.js';
import { IssuancePlanner } from './flows/issuance.planner.js';
import { TokenExchangeService } from './flows/token-exchange.service.js';
import { TokenTypeWarning } from './http/token-type.warning.js';
import { EntryThrottleService } from './flows/entry-throttle.service.js';
import { ClockDifference } from './replay/clock-difference.js';
import { FlowRunner } from './http/flow.runner.js';
import { FormBodies } from './http/form-bodies.js';
import { HttpAnswers } from '../platform/http/http-answers.js';
import { EmbedLoginController } from './http/embed-login.controller.js';
import { EmbeddedLoginService } from './flows/embedded-login.service.js';
import { PlainHttpWarning } from './http/plain-http.warning.js';
import { LOGGER } from '../platform/log/log.js';
import { IdentityLinkRepository } from './users/identity-link.repository.js';
import { IdentityService } from './users/identity.service.js';
import { KnownUsers } from './users/known-users.js';
import { PrivilegedLinkWarning } from './users/privileged-link.warning.js';
import { Notices } from './flows/notices.js';
import { JwksKeyProvider } from './trust/jwks/jwks-key.provider.js';
import type { JwksOptions } from './trust/jwks/jwks-options.js';
import { JWKS_OPTIONS } from './trust/jwks/jwks-options.js';
import { JwksSnapshotRepository } from './trust/jwks/jwks-snapshot.repository.js';
import { StaticKeyProvider } from './trust/lookup/static-key.provider.js';
import type { StoredEntriesRules } from './trust/stored/stored-entries.judgement.js';
import { StoredEntryFollower } from './trust/stored/stored-entry.follower.js';
import { STORED_ENTRIES_RULES } from './trust/stored/stored-entry.options.js';
import { StoredEntryRepository } from './trust/stored/stored-entry.repository.js';
import { StoredEntryService } from './trust/stored/stored-entry.service.js';
import { TrustedKeyService } from './trust/lookup/trusted-key.service.js';
import type { TokenExchangeOptions, TokenExchangeSettings } from './settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from './settings/token-exchange.options.js';
import type { TokenExchangeParts } from './token-exchange.parts.js';
import { TOKEN_EXCHANGE_SETTINGS, ownServices, providersOf } from './token-exchange.parts.js';
import { completedOptions, entryRules } from './settings/token-exchange.settings.js';
import { TokenRevocationController } from './http/token-revocation.controller.js';
import { TokenRevocationService } from './tokens/token-revocation.service.js';
import { ExternalTokenVerifier } from './verify/external-token.verifier.js';

const EDGE = [FlowRunner, FormBodies, HttpAnswers, EntryThrottleService];
const KEYS = [
  StaticKeyProvider,
  JwksSnapshotRepository,
  JwksKeyProvider,
  TrustedKeyService,
  StoredEntryRepository,
  StoredEntryFollower,
  StoredEntryService,
];
const VERIFY_DECIDE_COMMIT = [
  ExternalTokenVerifier,
  JtiRepository,
  KnownUsers,
  IdentityLinkRepository,
  IdentityService,
  CommitRepository,
  CommitService,
  PrivilegedLinkWarning,
  Transactions,
  AuditBus,
  Notices,
];
const FLOWS = [
  IssuancePlanner,
  TokenExchangeService,
  TokenTypeWarning,
  EmbeddedLoginService,
  PlainHttpWarning,
  TokenRevocationService,
  BackChannelLogoutService,
];
const JOBS = [JtiPurgeJob, ClockDifference];

/** How settings are made of what the host injects. */
export interface SettingsFactory {
  /** Among the exports of `imports`. */
  readonly inject?: readonly InjectionToken[];
  readonly useFactory: (...needs: never[]) => TokenExchangeSettings | Promise<TokenExchangeSettings>;
}

/**
 * Both flows, for a host with PostgreSQL and Nest's event emitter. The instance of this repository is the first of its
 * hosts, and registers it only when flag and licence allow it (see app.module.ts).
 */
@Module({})
export class TokenExchangeModule {
  /** @throws Error at the start of the application, for settings that cannot be meant */
  static register(settings: TokenExchangeSettings, parts: TokenExchangeParts): DynamicModule {
    return moduleOf(parts, { provide: TOKEN_EXCHANGE_SETTINGS, useValue: settings });
  }

  /** As `register`, with settings that are made of what the host injects. */
  static registerAsync({
    inject = [],
    useFactory,
    ...parts
  }: TokenExchangeParts & SettingsFactory): DynamicModule {
    return moduleOf(parts, { provide: TOKEN_EXCHANGE_SETTINGS, inject: [...inject], useFactory });
  }
}

const CONTROLLERS = [
  TokenExchangeController,
  EmbedLoginController,
  TokenRevocationController,
  BackChannelLogoutController,
];

function moduleOf(parts: TokenExchangeParts, settings: Provider): DynamicModule {
  for (const decorate of parts.decorators ?? []) CONTROLLERS.forEach((controller) => decorate(controller));
  return {
    module: TokenExchangeModule,
    imports: parts.imports,
    controllers: CONTROLLERS,
    providers: [
      settings,
      {
        provide: TOKEN_EXCHANGE_OPTIONS,
        inject: [TOKEN_EXCHANGE_SETTINGS, LOGGER],
        useFactory: completedOptions,
      },
      { provide: JWKS_OPTIONS, inject: [TOKEN_EXCHANGE_OPTIONS], useFactory: jwksOptions },
      {
        provide: STORED_ENTRIES_RULES,
        inject: [TOKEN_EXCHANGE_OPTIONS, TOKEN_EXCHANGE_SETTINGS],
        useFactory: storedEntriesRules,
      },
      ...providersOf(parts),
      ...EDGE,
      ...KEYS,
      ...VERIFY_DECIDE_COMMIT,
      ...FLOWS,
      ...JOBS,
    ],
    exports: [
      TrustedKeyService,
      JwksKeyProvider,
      StoredEntryFollower,
      StoredEntryService,
      ClockDifference,
      ...ownServices(parts),
    ],
  };
}

function jwksOptions({ trustedKeys, jwks }: TokenExchangeOptions): JwksOptions {
  return { ...jwks, entries: trustedKeys.filter((entry) => entry.type === 'jwks') };
}

function storedEntriesRules(
  { trustedKeys }: TokenExchangeOptions,
  settings: TokenExchangeSettings,
): StoredEntriesRules {
  return { configured: trustedKeys, rules: entryRules(settings) };
}
