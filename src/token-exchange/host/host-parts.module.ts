// The parts that a host provides: checked at the start, which also lists them.
import type { Abstract, DynamicModule, ModuleMetadata, NestModule } from '@nestjs/common';
import { Logger, Module, Scope } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { StartError } from '../../platform/start-error.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { SessionOpener } from './logins.js';
import { ProjectDirectory } from './projects.js';
import { ExchangeTelemetry } from './telemetry.js';
import { UserDirectory } from './users.js';

/**
 * The storage of @nestjs/throttler that counts requests for all processes. It has its own injection token, so that the storage of
 * the host's own limits is not used by accident. `perMinute` of an entry needs a `RefundingThrottlerStorage`: with any other, a
 * request is also counted by its address.
 */
export abstract class TokenExchangeThrottlerStorage implements ThrottlerStorage {
  abstract increment(
    ...hit: Parameters<ThrottlerStorage['increment']>
  ): ReturnType<ThrottlerStorage['increment']>;
}

/** An abstract class that a host may provide. */
class Part<Port extends object> {
  /** Injection token of the host's part; undefined if there is none. */
  readonly given: symbol;

  constructor(readonly port: Abstract<Port> & { readonly name: string }) {
    this.given = Symbol(`${port.name} of the host`);
  }
}

export const PARTS = {
  users: new Part(UserDirectory),
  projects: new Part(ProjectDirectory),
  sessions: new Part(SessionOpener),
  auditTrail: new Part(AuditTrail),
  telemetry: new Part(ExchangeTelemetry),
  throttlerStorage: new Part(TokenExchangeThrottlerStorage),
};
const ALL = Object.values(PARTS);

/**
 * Finds the parts among the exports of the host's modules. This is a separate module, because `TokenExchangeModule`'s own
 * providers of these classes would win there.
 */
@Module({})
export class HostPartsModule implements NestModule {
  private readonly log = new Logger('TokenExchange');

  constructor(private readonly modules: ModuleRef) {}

  static from(imports: ModuleMetadata['imports']): DynamicModule {
    return {
      module: HostPartsModule,
      imports,
      providers: ALL.map((part) => ({
        provide: part.given,
        inject: [{ token: part.port, optional: true }],
        useFactory: (found?: object) => found,
      })),
      exports: ALL.map(({ given }) => given),
    };
  }

  /** Lists the parts, so that a forgotten `exports` is seen. @throws StartError for a request-scoped part */
  configure(): void {
    // Everything that depends on such a part would be created for each request, so that locks, limits and counts would apply to
    // one request only.
    const scoped = ALL.find(({ given }) => this.modules.introspect(given).scope === Scope.REQUEST);
    if (scoped !== undefined)
      throw new StartError(`${scoped.port.name}: must not be request-scoped, nor depend on such a provider`);
    const isGiven = ({ given }: (typeof ALL)[number]) => this.modules.get<unknown>(given) !== undefined;
    const namesOf = (parts: readonly (typeof ALL)[number][]) => parts.map(({ port }) => port.name).join(', ');
    const own = namesOf(ALL.filter((part) => !isGiven(part)));
    this.log.log(`parts of this application: ${namesOf(ALL.filter(isGiven))}; of the package: ${own}`);
  }
}
