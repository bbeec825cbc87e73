// A product as a test wants it, around the package: made of the parts of the two examples.
import type { TokenExchangeSettings } from '@embedded-token-exchange/nestjs';
import {
  TOKEN_EXCHANGE_MIGRATIONS,
  TokenExchangeModule,
  UserDirectory,
} from '@embedded-token-exchange/nestjs';
import type { ModuleExtras } from '@embedded-token-exchange/nestjs/advanced';
import { limitWaits, SessionOpener } from '@embedded-token-exchange/nestjs/advanced';
import type { CanActivate, DynamicModule, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { Injectable, Module, Scope } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { TypeOrmModuleOptions } from '@nestjs/typeorm';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { DataSource } from 'typeorm';
import { ProductSessions } from '../../../examples/own-product/src/sessions/product-sessions.js';
import { ProductUsers as OwnUsers } from '../../../examples/own-product/src/users/product-users.js';
import { ProductUsers } from '../../../examples/with-defaults/src/product-users.js';
import { BoundSessionController } from './bound-session.controller.js';
import { EventPrinter } from './event-printer.js';
import { ContactController, FURNITURE, FURNITURE_MODULES } from './furniture.js';
import { ApiGuard, guardedControllers } from './guarded.controllers.js';
import { LoginGuard, Public } from './login-guard.js';
import type { HostOptions } from './options.js';
import { DEFAULTS, OWN } from './parts.js';

const SETTINGS = Symbol('settings of a host');

@Injectable({ scope: Scope.REQUEST })
class ScopedUsers extends ProductUsers {}

@Module({})
export class HostModule {
  static with(options: HostOptions): DynamicModule {
    const { isFurnished = false, guarded } = options;
    const { entities, controllers } = ownPartsOf(options);
    const emits = options.missing !== 'event emitter';
    return {
      module: HostModule,
      imports: [
        ...(emits ? [EventEmitterModule.forRoot()] : []),
        TypeOrmModule.forRootAsync({
          name: options.dataSource,
          useFactory: () => dataSourceOf(options),
          dataSourceFactory: connected,
        }),
        TypeOrmModule.forFeature([...entities], options.dataSource),
        tokenExchange(options),
        ...(options.isRegisteredTwice === true ? [tokenExchange(options)] : []),
        ...(isFurnished ? FURNITURE_MODULES : []),
        ...(guarded === undefined ? [] : [guardedModule(guarded)]),
      ],
      // The controllers of the examples know the only data source there is, and the access tokens of the package.
      controllers: [
        ...(options.dataSource === undefined ? controllers : []),
        ...(options.parts === 'defaults' ? [BoundSessionController] : []),
        ...(isFurnished ? [ContactController] : []),
      ],
      providers: [
        ...(emits ? [EventPrinter] : []),
        ...(isFurnished ? FURNITURE : []),
        ...(options.guard === undefined ? [] : [{ provide: APP_GUARD, useClass: guardOf(options.guard) }]),
      ],
    };
  }
}

/** A module that imports nothing. */
function guardedModule(guarded: NonNullable<HostOptions['guarded']>): DynamicModule {
  class GuardedModule {}
  return { module: GuardedModule, controllers: guardedControllers(guarded) };
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
  const { pathPrefix } = options.settings;
  const extras: ModuleExtras = {
    pathPrefix,
    metadata: options.parts === 'defaults' && options.dataSource === undefined,
    dataSource: options.missing === 'data source' ? 'nowhere' : options.dataSource,
    decorators: options.guard === 'with-exemption' ? [Public()] : [],
  };
  if (options.isAsync !== true)
    return TokenExchangeModule.register({
      ...settingsOf(options),
      ...extras,
      imports: [partsModule(options)],
    });
  return TokenExchangeModule.registerAsync({
    ...extras,
    imports: [partsModule(options), settingsModule(options)],
    inject: [SETTINGS],
    useFactory: (settings: TokenExchangeSettings) => Promise.resolve(settings),
  });
}

function partsModule(options: HostOptions): DynamicModule {
  class PartsModule {}
  const providers = partsOf(options);
  const exported = options.missing === 'exports of parts' ? providers.slice(0, 1) : providers;
  return { module: PartsModule, providers, exports: exported.map(({ provide }) => provide) };
}

function partsOf({ parts, missing }: HostOptions): Extract<Provider, { provide: unknown }>[] {
  if (missing === 'users') return [];
  if (missing === 'scope of users') return [{ provide: UserDirectory, useClass: ScopedUsers }];
  const users = parts === 'own' ? OwnUsers : ProductUsers;
  return [
    { provide: UserDirectory, useExisting: users },
    { provide: users, useClass: users },
    ...(parts === 'own' ? [{ provide: SessionOpener, useClass: ProductSessions }] : []),
  ];
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
