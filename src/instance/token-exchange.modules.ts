// Token exchange in this instance, and its metadata.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { AccessModule } from '../access/access.module.js';
import { AuditTrailRepository } from '../audit/audit-trail.repository.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import { HttpAnswers } from '../platform/http/http-messages.js';
import { TokenExchangeModule } from '../token-exchange/index.js';
import type { MetadataOptions } from '../token-exchange/instance.js';
import {
  AuditTrail,
  ExchangeTelemetry,
  givenSettings,
  KeySetController,
  METADATA_OPTIONS,
  MetadataController,
  PATH_PREFIX,
  ProjectDirectory,
  ROUTE_SETTINGS,
  SessionOpener,
  SessionService,
  TOKEN_EXCHANGE_SETTINGS,
} from '../token-exchange/instance.js';
import { UsersModule } from '../users/users.module.js';
import { InstanceProjects } from '../workspace/projects/instance-projects.js';
import { SCOPES } from '../workspace/rights/rights.js';
import { PresentEntries } from './frame-ancestors.js';
import { InstanceTelemetry } from './instance-telemetry.js';
import { tokenEndpointOf } from './routes.js';
import { isTokenExchangeOffered, tokenExchangeSettings } from './token-exchange-settings.js';

/** This instance's implementations of the ports, except users, and its settings. */
const PROVIDERS = [
  { provide: ProjectDirectory, useClass: InstanceProjects },
  { provide: SessionOpener, useExisting: SessionService },
  { provide: AuditTrail, useExisting: AuditTrailRepository },
  { provide: ExchangeTelemetry, useClass: InstanceTelemetry },
  {
    provide: TOKEN_EXCHANGE_SETTINGS,
    inject: [STARTUP, Clock],
    useFactory: (startup: Startup, clock: Clock) => givenSettings(tokenExchangeSettings(startup, clock)),
  },
  // MetadataModule publishes the instance's metadata.
  { provide: ROUTE_SETTINGS, useValue: { pathPrefix: PATH_PREFIX, metadata: false } },
];

@Module({
  imports: [AccessModule],
  providers: PROVIDERS,
  exports: PROVIDERS.map(({ provide }) => provide),
})
class PortsModule {}

/**
 * Empty if flag or licence excludes token exchange. Sessions and access tokens remain valid while it is off,
 * so they are in AccessModule.
 */
export function tokenExchange({
  startup,
  clock,
}: {
  readonly startup: Startup;
  readonly clock: Clock;
}): DynamicModule[] {
  if (!isTokenExchangeOffered(startup, clock)) return [];
  return [
    // Global, because readers of its state inject its parts even if it is not loaded.
    { module: TokenExchangeModule, global: true, imports: [AccessModule, UsersModule, PortsModule] },
    RouterModule.register([{ path: PATH_PREFIX, module: TokenExchangeModule }]),
  ];
}

@Module({
  imports: [AccessModule],
  controllers: [KeySetController, MetadataController],
  providers: [
    HttpAnswers,
    { provide: METADATA_OPTIONS, inject: [STARTUP, Clock, PresentEntries], useFactory: metadataOptions },
  ],
})
export class MetadataModule {}

function metadataOptions(startup: Startup, clock: Clock, entries: PresentEntries): MetadataOptions {
  const { baseUrl } = startup.config;
  return {
    baseUrl,
    scopes: SCOPES,
    resourceName: 'Instance API',
    resourceDocumentation: `${baseUrl}/api/v1/docs`,
    tokenEndpoint: () => tokenEndpointOf({ startup, clock, entries }),
  };
}
