// How this instance implements the ports of token-exchange/: a file per port.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { InstanceLoginFailurePage } from './instance-login-failure-page.js';
import { InstanceProjects } from './instance-projects.js';
import { InstanceTelemetry } from './instance-telemetry.js';
import { InstanceUsers } from './instance-users.js';

const PORTS = [InstanceUsers, InstanceProjects, InstanceTelemetry, InstanceLoginFailurePage];

/** Sessions and access tokens are those of token-exchange/ itself: see access.module.ts. */
@Module({})
export class HostModule {
  /** @param imports modules that offer database, users, metrics and pages */
  static register(imports: ModuleMetadata['imports']): DynamicModule {
    return { module: HostModule, imports, providers: PORTS, exports: PORTS };
  }
}
