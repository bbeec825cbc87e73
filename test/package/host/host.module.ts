// A product as a test wants it, around the package: made of the parts of the two examples.
import type { TokenExchangeSettings } from '@embedded-token-exchange/nestjs';
import type { TokenExchangeParts } from '@embedded-token-exchange/nestjs/advanced';
import { TOKEN_EXCHANGE_MIGRATIONS, TokenExchangeModule } from '@embedded-token-exchange/nestjs';
import { limitWaits } from '@embedded-token-exchange/nestjs/advanced';
import type { CanActivate, DynamicModule, ModuleMetadata, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { DataSource } from 'typeorm';
import { ProductSessions } from '../../../examples/own-product/src/sessions/product-sessions.js';
import { ProductUsers as OwnUsers } from '../../../examples/own-product/src/users/product-users.js';
import { ProductUsers } from '../../../examples/with-defaults/src/product-users.js';
import { EventPrinter } from './event-printer.js';
import { ContactController, FURNITURE, FURNITURE_MODULES } from './furniture.js';
import { LoginGuard, Public } from './login-guard.js';
import { ProductLoginFailurePage } from './login-failure.page.js';
import { ApiGuard, guardedControllers } from './guarded.controllers.js';
import type { HostOptions } from './options.js';
import { DEFAULTS, OWN } from './parts.js';

const SETTINGS = Symbol('settings of a host');

/** A part may be a provider of the host's that exists already. */
@Module({ providers: [ProductUsers], exports: [ProductUsers] })
class DefaultUsersModule {}

@Module({})
class ProductModule {
  static with(options: HostOptions): DynamicModule {
    const { isFurnished = false, guarded } = options;
    const { entities, controllers } = ownPartsOf(options);
    return {
      module: ProductModule,
      imports: [
        TypeOrmModule.forRootAsync({
          name: options.dataSource,
          useFactory: () => dataSourceOf(options),
          dataSourceFactory: connected,
        }),
        TypeOrmModule.forFeature([...entities], options.dataSource),
        tokenExchange(options),
        ...(isFurnished ? FURNITURE_MODULES : []),
      ],
      // The controllers of the examples know the only data source there is, and the access tokens of the package.
      controllers: [
        ...(options.dataSource === undefined ? controllers : []),
        ...(guarded === undefined || guarded.outside === true ? [] : guardedControllers(guarded)),
        ...(isFurnished ? [ContactController] : []),
      ],
      providers: [
        ...(isFurnished ? FURNITURE : []),
        ...(options.guard === undefined ? [] : [{ provide: APP_GUARD, useClass: guardOf(options.guard) }]),
      ],
    };
  }
}

@Module({})
export class HostModule {
  static with(options: HostOptions): DynamicModule {
    const emits = options.missing !== 'event emitter';
    return {
      module: HostModule,
      imports: [
        ...(emits ? [EventEmitterModule.forRoot()] : []),
        ProductModule.with(options),
        ...(options.beside === undefined ? [] : [ProductModule.with(options.beside)]),
      ],
      controllers: options.guarded?.outside === true ? guardedControllers(options.guarded) : [],
      providers: emits ? [EventPrinter] : [],
    };
  }
}

function guardOf(guard: HostOptions['guard']): Type<CanActivate> {
  return guard === 'of-the-package' ? ApiGuard : LoginGuard;
}

/** The tables of the examples are of PostgreSQL: on another database the host has none, nor what reads them. */
function ownPartsOf({ parts, driver }: HostOptions): typeof OWN | typeof DEFAULTS {
  const all = parts === 'own' ? OWN : DEFAULTS;
  return driver === 'sqljs' ? { ...all, entities: [], controllers: [] } : all;
}

/** On a busy machine a request may take longer than the limit of a product. */
const WAIT_MS = 10_000;

async function connected(options: DataSourceOptions = { type: 'postgres' }): Promise<DataSource> {
  const dataSource = new DataSource(options);
  if ((options as TypeOrmModuleOptions).manualInitialization === true) return dataSource;
  return dataSource.initialize();
}

function dataSourceOf(options: HostOptions): TypeOrmModuleOptions {
  const { driver = 'postgres', databaseUrl, dataSource, withoutMigrations = false } = options;
  const { entities, migration } = ownPartsOf(options);
  const common = { retryAttempts: 0, name: dataSource, entities: [...entities] };
  if (driver === 'sqljs') return { ...common, type: driver };
  const migrations = withoutMigrations ? [migration] : [migration, ...TOKEN_EXCHANGE_MIGRATIONS];
  const isPostgres = driver === 'postgres';
  if (isPostgres) {
    const limited = { url: databaseUrl, driver: limitWaits({ waitMs: WAIT_MS }) };
    return { ...common, ...limited, type: driver, migrations, migrationsRun: true };
  }
  // Its driver asks the server for what PostgreSQL does not know: the host puts off to connect.
  return { ...common, type: driver, url: databaseUrl, timeTravelQueries: false, manualInitialization: true };
}

function tokenExchange(options: HostOptions): DynamicModule {
  const parts = partsOf(options);
  const { pathPrefix } = options.settings;
  const metadata = options.parts === 'defaults' && options.dataSource === undefined;
  if (options.isAsync !== true)
    return TokenExchangeModule.register({ ...settingsOf(options), pathPrefix, metadata }, parts);
  return TokenExchangeModule.registerAsync({
    ...parts,
    pathPrefix,
    metadata,
    imports: [...(parts.imports ?? []), settingsModule(options)],
    inject: [SETTINGS],
    useFactory: (settings: TokenExchangeSettings) => Promise.resolve(settings),
  });
}

function partsOf({ parts, dataSource, guard, isFurnished, missing }: HostOptions): TokenExchangeParts {
  const common = {
    dataSource: missing === 'data source' ? 'nowhere' : dataSource,
    decorators: guard === 'with-exemption' ? [Public()] : [],
    loginFailurePage: isFurnished === true ? ProductLoginFailurePage : undefined,
  };
  if (missing === 'users') return common as unknown as TokenExchangeParts;
  if (missing === 'methods of users')
    return { ...common, users: { useValue: { findById: () => undefined } as unknown as ProductUsers } };
  if (parts === 'own') return { ...common, users: OwnUsers, sessions: ProductSessions };
  return { ...common, users: { useExisting: ProductUsers }, imports: [DefaultUsersModule] };
}

function settingsOf({ settings: given, sealingKey, baseUrl }: HostOptions): TokenExchangeSettings {
  const { pathPrefix: _route, ...settings } = given;
  const roles = { assignable: ['member', 'admin'], owner: 'owner', initial: 'member' };
  if (sealingKey === undefined) return { ...settings, roles };
  const sealingKeys = [Buffer.from(sealingKey, 'base64')];
  return { ...settings, roles, accessTokens: { issuer: baseUrl, sealingKeys } };
}

function settingsModule(options: HostOptions): DynamicModule {
  class SettingsModule {}
  const metadata: ModuleMetadata = {
    providers: [{ provide: SETTINGS, useValue: settingsOf(options) }],
    exports: [SETTINGS],
  };
  return { module: SettingsModule, ...metadata };
}
