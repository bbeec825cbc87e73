// The providers of TokenExchangeModule in a host: the host's parts or their defaults, the database and the settings.
import type { InjectionToken, Provider } from '@nestjs/common';
import { Logger } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { sql } from '../../platform/database/sql.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import { MemoryCounts, THROTTLE_STORAGE } from '../../platform/http/throttle/rate-limit.js';
import { leadershipOf } from '../../platform/jobs/advisory-lock.leader.js';
import { notificationsOf } from '../../platform/jobs/postgres.notifications.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { KeyRing, SealError } from '../../platform/secrets/key-ring.js';
import { StartError, withStartErrors } from '../../platform/start-error.js';
import { AuditTrail, EventTable, EventTableTrail } from '../audit/audit-trail.js';
import { BoundSessionService } from '../login/bound-session.service.js';
import { SessionService } from '../login/session.service.js';
import { SESSION_OPTIONS } from '../login/session-cookie.js';
import { SESSION_PROVIDERS } from '../login/sessions.providers.js';
import { SignOutService } from '../login/sign-out.service.js';
import { PublishedPaths } from '../metadata/metadata.controller.js';
import { TOKEN_EXCHANGE_TABLES } from '../migrations/index.js';
import { REVOCATION_PROVIDERS } from '../revocation/revocation.providers.js';
import { RevocationService } from '../revocation/revocation.service.js';
import { Revocations } from '../revocation/revocations.js';
import type { GivenSettings } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_SETTINGS } from '../settings/token-exchange.options.js';
import { completedAccessTokens } from '../settings/token-exchange.settings.js';
import type { AccessTokenOptions } from '../tokens/access-token.service.js';
import { ACCESS_TOKEN_OPTIONS } from '../tokens/access-token.service.js';
import { ACCESS_TOKEN_PROVIDERS } from '../tokens/access-tokens.providers.js';
import { SigningKeyService } from '../tokens/signing-key.service.js';
import { PARTS } from './host-parts.module.js';
import { SessionOpener } from './logins.js';
import { ProjectDirectory } from './projects.js';
import { ExchangeTelemetry, SilentTelemetry } from './telemetry.js';
import { checkedUsers, UserDirectory } from './users.js';

/** The audit trail of a host that provides none: a table of this package. */
const EVENTS = new EventTable(
  sql`token_exchange_audit_event`,
  sql`text`,
  'token_exchange_audit_event_append',
);

/** Writes each line as its message, followed by its fields as JSON. */
class NestLog implements Log {
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

const PART_PROVIDERS: Provider[] = [
  { provide: UserDirectory, inject: [PARTS.users.given], useFactory: usersOfHost },
  given(ProjectDirectory, PARTS.projects.given),
  given(SessionOpener, PARTS.sessions.given, [SessionService], (own: SessionService) => own),
  given(AuditTrail, PARTS.auditTrail.given, [Database], (own: Database) => new EventTableTrail(EVENTS, own)),
  given(ExchangeTelemetry, PARTS.telemetry.given, [], () => new SilentTelemetry()),
  given<ThrottlerStorage>(
    THROTTLE_STORAGE,
    PARTS.throttlerStorage.given,
    [MemoryCounts],
    (own: MemoryCounts) => own,
  ),
];

/** The host's part, or the default. */
function given<Port>(
  provide: InjectionToken<Port>,
  part: symbol,
  needs: InjectionToken[] = [],
  own: (...needs: never[]) => Port | undefined = () => undefined,
): Provider {
  const useFactory = (found: Port | undefined, ...needed: never[]) => found ?? own(...needed);
  return { provide, inject: [part, ...needs], useFactory };
}

/** @throws StartError */
function usersOfHost(users?: UserDirectory): UserDirectory {
  if (users !== undefined) return checkedUsers(users);
  throw new StartError(
    'token exchange finds no UserDirectory: put a module into `imports` that provides and exports one, such as ' +
      '{ provide: UserDirectory, useExisting: ProductUsers }',
  );
}

/** @param dataSource its name, if it has one */
export function hostProviders(dataSource?: string): Provider[] {
  return [
    {
      provide: Database,
      inject: [{ token: getDataSourceToken(dataSource), optional: true }],
      useFactory: usableDatabase,
    },
    Clock,
    { provide: LOGGER, useClass: NestLog },
    ...leadershipOf(),
    ...notificationsOf(),
    {
      provide: DatabaseOutages,
      inject: [Database, LOGGER],
      useFactory: (database: Database, log: Log) => new DatabaseOutages(database, log),
    },
    ...PART_PROVIDERS,
    ...REVOCATION_PROVIDERS,
    ...SESSION_PROVIDERS,
    {
      provide: SESSION_OPTIONS,
      inject: [TOKEN_EXCHANGE_SETTINGS],
      useFactory: ({ sessions }: GivenSettings) => sessions,
    },
    ...ACCESS_TOKEN_PROVIDERS,
    {
      provide: ACCESS_TOKEN_OPTIONS,
      inject: [TOKEN_EXCHANGE_SETTINGS, ExchangeTelemetry],
      useFactory: withStartErrors(accessTokenOptions),
    },
    { provide: KeyRing, inject: [TOKEN_EXCHANGE_SETTINGS], useFactory: withStartErrors(keyRingOf) },
    { provide: Symbol('signing keys are open'), inject: [SigningKeyService], useFactory: openSigningKeys },
    PublishedPaths,
  ];
}

/** The services that a host may inject, besides those of `TokenExchangeModule` itself. */
export const HOST_EXPORTS = [
  ...[Revocations, RevocationService, SessionService, BoundSessionService, SignOutService],
  ...[...ACCESS_TOKEN_PROVIDERS, DatabaseOutages],
];

/** The driver reads only this, and the package's statements rely on it. */
const NEEDED_SETTINGS = `SELECT name, current_setting(name) AS value FROM unnest(ARRAY['DateStyle', 'extra_float_digits',
  'standard_conforming_strings', 'array_nulls']) AS name
  WHERE NOT CASE name WHEN 'DateStyle' THEN current_setting(name) LIKE 'ISO%'
    WHEN 'extra_float_digits' THEN current_setting(name)::int >= 0 ELSE current_setting(name) = 'on' END`;

/** @throws StartError if there is no data source, or its type, sessions or tables are wrong */
async function usableDatabase(dataSource: DataSource | undefined): Promise<Database> {
  if (dataSource === undefined)
    throw new StartError(
      "token exchange finds no TypeORM data source: import TypeOrmModule.forRoot({ type: 'postgres', … }), and if it has a " +
        'name, set `dataSource` to it',
    );
  const database = withStartErrors(() => new Database(dataSource))();
  const [unfit] = await database.background.query<{ name: string; value: string }>(NEEDED_SETTINGS);
  if (unfit !== undefined)
    throw new StartError(
      `token exchange needs ${unfit.name} as PostgreSQL has it by default, and the connections of the data source have ` +
        `"${unfit.value}": remove that from the database, the role or the options of the data source`,
    );
  const missing = await database.background.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [TOKEN_EXCHANGE_TABLES],
  );
  if (missing.length === 0) return database;
  throw new StartError(
    `tables of token exchange are missing (${missing.map(({ name }) => name).join(', ')}): add ` +
      'TOKEN_EXCHANGE_MIGRATIONS to the migrations of the data source, and run them',
  );
}

function accessTokenOptions(settings: GivenSettings, telemetry: ExchangeTelemetry): AccessTokenOptions {
  return { ...completedAccessTokens(settings), onProofForgotten: () => telemetry.countForgottenProof() };
}

function keyRingOf(settings: GivenSettings): KeyRing {
  return new KeyRing(completedAccessTokens(settings).sealingKeys, 'accessTokens.sealingKeys');
}

/** While Nest makes providers, it logs an error and ends. In most hosts a later failure is an unhandled rejection. */
async function openSigningKeys(keys: SigningKeyService): Promise<void> {
  try {
    await keys.refresh();
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new StartError(
      `accessTokens.sealingKeys: the signing keys in the database cannot be opened (${error.message}): put the key that sealed them ` +
        'behind the first one, or if it is lost, run DELETE FROM token_exchange_signing_key, which ends the access tokens that were issued',
    );
  }
}
