// Warns at the start of a host's routes that use the caller without a guard that sets it.
import type { CanActivate, OnApplicationBootstrap, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { GUARDS_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ApplicationConfig, DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { TokenExchangeGuard, currentUser } from './token-exchange-auth.js';

type RouteArguments = Readonly<Record<string, { readonly factory?: unknown }>>;
type Guards = readonly (CanActivate | Type<CanActivate>)[];
type Method = (...parameters: never[]) => unknown;

@Injectable()
export class UnguardedRoutes implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly application: ApplicationConfig,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    if (this.isGuardedAsAWhole()) return;
    const controllers = this.discovery.getControllers();
    const routes = new Set(controllers.flatMap(({ metatype }) => this.unguardedIn(metatype as Type)));
    if (routes.size === 0) return;
    this.log.warn(
      { routes: [...routes] },
      'CurrentUser fails on these routes, unless a guard of yours calls TokenExchangeGuard: put @TokenExchangeAuth() on the route or ' +
        'its controller',
    );
  }

  private isGuardedAsAWhole(): boolean {
    const scoped = this.application
      .getGlobalRequestGuards()
      .map(({ metatype }) => metatype as Guards[number]);
    return hasOurs([...this.application.getGlobalGuards(), ...scoped]);
  }

  private unguardedIn(controller: Type): string[] {
    if (this.isGuarded(controller)) return [];
    const methods = controller.prototype as Readonly<Record<string, Method>>;
    return this.scanner
      .getAllMethodNames(methods)
      .filter((name) => asksForCaller(controller, name) && !this.isGuarded(methods[name]))
      .map((name) => `${controller.name}.${name}`);
  }

  private isGuarded(target: Type | Method | undefined): boolean {
    return (
      target !== undefined && hasOurs(this.reflector.get<Guards | undefined>(GUARDS_METADATA, target) ?? [])
    );
  }
}

/** Nest's Reflector cannot read metadata of parameters. */
function asksForCaller(controller: object, method: string): boolean {
  const given = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as RouteArguments | undefined;
  return Object.values(given ?? {}).some(({ factory }) => factory === currentUser);
}

function hasOurs(guards: Guards): boolean {
  return guards.some(
    (guard) =>
      guard instanceof TokenExchangeGuard ||
      (typeof guard === 'function' &&
        (guard === TokenExchangeGuard || guard.prototype instanceof TokenExchangeGuard)),
  );
}
