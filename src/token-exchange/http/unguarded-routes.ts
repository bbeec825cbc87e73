// Warns of routes that ask who makes the call, and have no guard that would know.
import type { CanActivate, OnApplicationBootstrap, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { ApplicationConfig, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { TokenExchangeGuard, currentUser } from './token-exchange-auth.js';

/** Nest's names for what decorators say; it exports them under paths that differ from version to version. */
const ROUTE_ARGUMENTS = '__routeArguments__';
const GUARDS = '__guards__';

type RouteArguments = Readonly<Record<string, { readonly factory?: unknown }>>;
type Guards = readonly (CanActivate | Type<CanActivate>)[];

/** Of several registrations in one application the first one warns. */
const LOOKED_AT = new WeakSet<ModulesContainer>();

@Injectable()
export class UnguardedRoutes implements OnApplicationBootstrap {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly application: ApplicationConfig,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    if (LOOKED_AT.has(this.modules)) return;
    LOOKED_AT.add(this.modules);
    if (this.isGuardedAsAWhole()) return;
    const controllers = [...this.modules.values()].flatMap((module) => [...module.controllers.values()]);
    const routes = [...new Set(controllers.flatMap(({ metatype }) => unguardedRoutesOf(metatype)))];
    if (routes.length === 0) return;
    this.log.warn(
      { routes },
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
}

function unguardedRoutesOf(controller: unknown): string[] {
  if (typeof controller !== 'function') return [];
  if (hasOurs(guardsOn(controller))) return [];
  const prototype = controller.prototype as Readonly<Record<string, object>>;
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => asksForCaller(controller, name) && !hasOurs(guardsOn(prototype[name])))
    .map((name) => `${controller.name}.${name}`);
}

function asksForCaller(controller: object, method: string): boolean {
  const given = Reflect.getMetadata(ROUTE_ARGUMENTS, controller, method) as RouteArguments | undefined;
  return Object.values(given ?? {}).some(({ factory }) => factory === currentUser);
}

function guardsOn(target: object | undefined): Guards {
  return target === undefined ? [] : ((Reflect.getMetadata(GUARDS, target) as Guards | undefined) ?? []);
}

function hasOurs(guards: Guards): boolean {
  return guards.some(
    (guard) =>
      guard instanceof TokenExchangeGuard ||
      (typeof guard === 'function' &&
        (guard === TokenExchangeGuard || guard.prototype instanceof TokenExchangeGuard)),
  );
}
