// How this instance implements the ports of token-exchange/: a file per port.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import {
  AccessTokenIssuer,
  ExchangeTelemetry,
  SessionOpener,
  Settlements,
  UserDirectory,
} from '../token-exchange/host.js';
import { InstanceAccessTokens } from './instance-access-tokens.js';
import { InstanceSessions } from './instance-sessions.js';
import { InstanceTelemetry } from './instance-telemetry.js';
import { InstanceUsers } from './instance-users.js';
import { SettlementRepository } from './settlement.repository.js';

const PORTS = [
  { provide: Settlements, useClass: SettlementRepository },
  { provide: UserDirectory, useClass: InstanceUsers },
  { provide: SessionOpener, useClass: InstanceSessions },
  { provide: AccessTokenIssuer, useClass: InstanceAccessTokens },
  { provide: ExchangeTelemetry, useClass: InstanceTelemetry },
];

@Module({})
export class HostModule {
  /** @param imports modules that offer database, users, sessions, access tokens and metrics */
  static register(imports: ModuleMetadata['imports']): DynamicModule {
    return {
      module: HostModule,
      imports,
      providers: PORTS,
      exports: PORTS.map(({ provide }) => provide),
    };
  }
}
