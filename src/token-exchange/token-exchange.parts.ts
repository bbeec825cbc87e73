// What a host gives the module, and what stands in the place of each part that it does not give.
import type { InjectionToken, ModuleMetadata, Provider, Type } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Logger } from '@nestjs/common';
import type { AccessTokenOptions } from './tokens/access-token.service.js';
import { ACCESS_TOKEN_OPTIONS, AccessTokenService } from './tokens/access-token.service.js';
import { ACCESS_TOKEN_PROVIDERS } from './tokens/access-tokens.providers.js';
import { AuditTrail } from './audit/audit.bus.js';
import { leadershipOf } from '../platform/jobs/advisory-lock.leader.js';
import { Leader } from '../platform/jobs/leader.js';
import { Notifications } from '../platform/jobs/notifications.js';
import { notificationsOf } from '../platform/jobs/postgres.notifications.js';
import { Database } from '../platform/database/database.js';
import { Clock } from '../platform/clock.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { LoginFailurePage, SessionOpener } from './host/logins.js';
import { ExchangeTelemetry, SilentTelemetry } from './host/telemetry.js';
import { ProjectDirectory } from './host/projects.js';
import { GIVEN_USERS, checkedUsers } from './host/checked-users.js';
import { UserDirectory } from './host/users.js';
import { DatabaseOutages } from '../platform/http/database-outages.js';
import { TOKEN_EXCHANGE_TABLES } from './migrations/index.js';
import { PORTS_CHECK } from './ports-check.js';
import { ClockDifference } from './replay/clock-difference.js';
import { REVOCATION_PROVIDERS } from './revocation/revocation.providers.js';
import { RevocationService } from './revocation/revocation.service.js';
import { Revocations } from './revocation/revocations.js';
import { KeyRing, SealError } from '../platform/secrets/key-ring.js';
import { SESSION_OPTIONS } from './sessions/session-cookie.js';
import { SessionService } from './sessions/session.service.js';
import { SESSION_PROVIDERS } from './sessions/sessions.providers.js';
import { SignOutService } from './sessions/sign-out.service.js';
import {
  CountingStorage,
  MemoryCounts,
  THROTTLE_STORAGE,
} from '../platform/http/throttle/counting.storage.js';
import type { GivenSettings, TokenExchangeSettings } from './settings/token-exchange.options.js';
import { DpopProofs } from './tokens/dpop-proofs.js';
import { SigningKeyService } from './tokens/signing-key.service.js';
import { completedAccessTokens } from './settings/token-exchange.settings.js';
import { sql } from '../platform/database/sql.js';
import { EventTable, EventTableTrail } from './audit/event-table.js';

/** The trail that a host has without bringing its own: a table of this package. */
const EVENTS = new EventTable(
  sql`token_exchange_audit_event`,
  sql`text`,
  'token_exchange_audit_event_append',
);

function ownAuditTrail(): Provider[] {
  const useFactory = (database: Database) => new EventTableTrail(EVENTS, database);
  return [{ provide: AuditTrail, inject: [Database], useFactory }];
}

/** Writes each line as its message with its fields as JSON behind it. */
export class NestLog implements Log {
  private readonly logger = new Logger('TokenExchange');

  debug(fields: object, message: string): void {
    this.logger.debug(lineOf(fields, message));
  }

  info(fields: object, message: string): void {
    this.logger.log(lineOf(fields, message));
  }

  warn(fields: object, message: string): void {
    this.logger.warn(lineOf(fields, message));
  }

  error(fields: object, message: string): void {
    const { err } = fields as { err?: unknown };
    this.logger.error(lineOf(fields, message), err instanceof Error ? err.stack : undefined);
  }
}

function lineOf(fields: object, message: string): string {
  const texts = JSON.stringify(fields, (_name, value: unknown) =>
    value instanceof Error ? `${value.name}: ${value.message}` : value,
  );
  return texts === '{}' ? message : `${message} ${texts}`;
}

/** How a host gives one part: as a class whose own needs `imports` offer, or as any other provider of Nest's. */
export type Given<Part> =
  | Type<Part>
  | { readonly useExisting: InjectionToken<Part> }
  | { readonly useValue: Part }
  | {
      readonly useFactory: (...needs: never[]) => Part | Promise<Part>;
      readonly inject?: readonly InjectionToken[];
    };

/** The parts of a host. The module has defaults for the rest. */
export interface TokenExchangeParts {
  /** Modules that offer what the parts need. */
  readonly imports?: ModuleMetadata['imports'];
  /** The name of the host's TypeORM data source, where it is not the only one. */
  readonly dataSource?: string;
  /**
   * Put on the controllers: they mark for guards of the host that these routes ask for no credential of its own, and have
   * throttles of their own.
   */
  readonly decorators?: readonly ClassDecorator[];
  readonly users: Given<UserDirectory>;
  /** None: then no entry may have `projects`. With it `roles.inProject` must be set. */
  readonly projects?: Given<ProjectDirectory>;
  /** Own: `SessionService`, on a table of this package. */
  readonly sessions?: Given<SessionOpener>;
  /** Own: a table of this package. */
  readonly auditTrail?: Given<AuditTrail>;
  /** Own: nothing is measured. */
  readonly telemetry?: Given<ExchangeTelemetry>;
  /** Default: none; a refused login is always JSON. */
  readonly loginFailurePage?: Given<LoginFailurePage>;
  /**
   * Own: each process counts for itself, in its memory. `perMinute` of an entry needs a `RefundingThrottlerStorage`: with any other
   * a request stays counted by its address, too.
   */
  readonly throttlerStorage?: Given<ThrottlerStorage>;
  /**
   * Services that the module makes unless `imports` offers them, because other modules of the host use them too: `DatabaseOutages`,
   * `AccessTokenService` (with `ClockDifference` and `DpopProofs`), and `Revocations` with `RevocationService`, which sessions and access tokens must share.
   */
  readonly imported?: readonly InjectionToken[];
}

/** How settings are made of what the host injects. */
export interface SettingsFactory {
  /** Among the exports of `imports`. */
  readonly inject?: readonly InjectionToken[];
  readonly useFactory: (...needs: never[]) => TokenExchangeSettings | Promise<TokenExchangeSettings>;
}

export const PARTS = {
  imports: true,
  dataSource: true,
  decorators: true,
  users: true,
  sessions: true,
  auditTrail: true,
  telemetry: true,
  projects: true,
  loginFailurePage: true,
  throttlerStorage: true,
  imported: true,
} satisfies Record<keyof TokenExchangeParts, true>;

export const FACTORY = { inject: true, useFactory: true } satisfies Record<keyof SettingsFactory, true>;

/** Injection token of what the host said. */
export const TOKEN_EXCHANGE_SETTINGS = Symbol('TOKEN_EXCHANGE_SETTINGS');

/** What the module makes, unless it is imported. */
const SHARED: ReadonlyMap<InjectionToken, () => Provider[]> = new Map<InjectionToken, () => Provider[]>([
  [Clock, () => [Clock]],
  [LOGGER, () => part(LOGGER, NestLog)],
  [Leader, leadershipOf],
  [Notifications, notificationsOf],
  [DatabaseOutages, ownOutages],
  [Revocations, () => REVOCATION_PROVIDERS],
  [AccessTokenService, ownAccessTokens],
]);

/** Providers of every part, given or own. */
export function providersOf(parts: TokenExchangeParts): Provider[] {
  return [
    {
      provide: Database,
      inject: [{ token: getDataSourceToken(parts.dataSource), optional: true }],
      useFactory: usableDatabase,
    },
    PORTS_CHECK,
    ...part(GIVEN_USERS, parts.users),
    { provide: UserDirectory, inject: [GIVEN_USERS], useFactory: checkedUsers },
    ...part(ProjectDirectory, parts.projects),
    ...part(LoginFailurePage, parts.loginFailurePage),
    ...part(SessionOpener, parts.sessions, ownSessions),
    ...part(AuditTrail, parts.auditTrail, ownAuditTrail),
    ...part(ExchangeTelemetry, parts.telemetry, () => part(ExchangeTelemetry, SilentTelemetry)),
    ...part(THROTTLE_STORAGE, parts.throttlerStorage, ownThrottlerStorage),
    ...sharedProviders(parts.imported),
  ];
}

/** @throws Error for one that the module would not make */
function sharedProviders(imported: readonly InjectionToken[] = []): Provider[] {
  for (const token of imported)
    if (!SHARED.has(token))
      throw new Error(
        `imported: the module makes no ${typeof token === 'function' ? token.name : String(token)}`,
      );
  return [...SHARED].flatMap(([token, providers]) => (imported.includes(token) ? [] : providers()));
}

/** The driver reads nothing else, and the statements of the package rely on it. */
const NEEDED_SETTINGS = `SELECT name, current_setting(name) AS value FROM unnest(ARRAY['DateStyle', 'extra_float_digits',
  'standard_conforming_strings', 'array_nulls']) AS name
  WHERE NOT CASE name WHEN 'DateStyle' THEN current_setting(name) LIKE 'ISO%'
    WHEN 'extra_float_digits' THEN current_setting(name)::int >= 0 ELSE current_setting(name) = 'on' END`;

/** @throws Error where there is no data source, it is of another database, its sessions or tables are not as this package needs them */
async function usableDatabase(dataSource: DataSource | undefined): Promise<Database> {
  if (dataSource === undefined)
    throw new Error(
      "token exchange finds no TypeORM data source: import TypeOrmModule.forRoot({ type: 'postgres', … }), and where it has a " +
        'name, give the name as `dataSource`',
    );
  const database = new Database(dataSource);
  const [unfit] = await database.query<{ name: string; value: string }>(NEEDED_SETTINGS);
  if (unfit !== undefined)
    throw new Error(
      `token exchange needs ${unfit.name} as PostgreSQL has it by default, and the connections of the data source have ` +
        `"${unfit.value}": remove that from the database, the role or the options of the data source`,
    );
  const missing = await database.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [TOKEN_EXCHANGE_TABLES],
  );
  if (missing.length === 0) return database;
  throw new Error(
    `tables of token exchange are missing (${missing.map(({ name }) => name).join(', ')}): add ` +
      'TOKEN_EXCHANGE_MIGRATIONS to the migrations of the data source, and run them',
  );
}

/** The services that a host may inject, where it has taken those of this package. */
export function ownServices({ sessions, imported = [] }: TokenExchangeParts): Type[] {
  return [
    ...(imported.includes(Revocations) ? [] : [Revocations, RevocationService]),
    ...(sessions === undefined ? [SessionService, SignOutService] : []),
    ...(imported.includes(AccessTokenService) ? [] : [AccessTokenService, ClockDifference, DpopProofs]),
  ];
}

function part<Part>(
  provide: InjectionToken<Part>,
  given: Given<Part> | undefined,
  own: () => Provider[] = () => [],
): Provider[] {
  if (given === undefined) return own();
  if (typeof given === 'function') return [{ provide, useClass: given }];
  return [{ provide, ...given } as Provider];
}

function ownSessions(): Provider[] {
  return [
    ...SESSION_PROVIDERS,
    {
      provide: SESSION_OPTIONS,
      inject: [TOKEN_EXCHANGE_SETTINGS],
      useFactory: ({ sessions }: GivenSettings) => sessions,
    },
    { provide: SessionOpener, useExisting: SessionService },
  ];
}

function ownAccessTokens(): Provider[] {
  const keyRing = (settings: GivenSettings) =>
    new KeyRing(completedAccessTokens(settings).sealingKeys, 'accessTokens.sealingKeys');
  const options = (settings: GivenSettings, telemetry: ExchangeTelemetry): AccessTokenOptions => ({
    ...completedAccessTokens(settings),
    onProofForgotten: () => telemetry.countForgottenProof(),
  });
  return [
    ...ACCESS_TOKEN_PROVIDERS,
    {
      provide: ACCESS_TOKEN_OPTIONS,
      inject: [TOKEN_EXCHANGE_SETTINGS, ExchangeTelemetry],
      useFactory: options,
    },
    { provide: KeyRing, inject: [TOKEN_EXCHANGE_SETTINGS], useFactory: keyRing },
    { provide: Symbol('signing keys are open'), inject: [SigningKeyService], useFactory: openSigningKeys },
  ];
}

/** While Nest makes providers it logs an error and ends; what fails later is an unhandled rejection of most hosts. */
async function openSigningKeys(keys: SigningKeyService): Promise<void> {
  try {
    await keys.refresh();
  } catch (error) {
    throw error instanceof SealError ? unopened(error) : error;
  }
}

/** One line: where it was thrown helps nobody. */
function unopened({ message }: SealError): Error {
  const error = new Error(
    `accessTokens.sealingKeys: the signing keys in the database cannot be opened (${message}): put the key that sealed them behind ` +
      'the first one, or if it is lost, run DELETE FROM token_exchange_signing_key, which ends the access tokens that were issued',
  );
  error.stack = error.message;
  return error;
}

function ownThrottlerStorage(): Provider[] {
  const useFactory = (counts: MemoryCounts) => new CountingStorage(counts);
  return [{ provide: THROTTLE_STORAGE, inject: [MemoryCounts], useFactory }];
}

function ownOutages(): Provider[] {
  const useFactory = (database: Database, log: Log) => new DatabaseOutages(database, log);
  return [{ provide: DatabaseOutages, inject: [Database, LOGGER], useFactory }];
}
