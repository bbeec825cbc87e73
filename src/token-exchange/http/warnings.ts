// Warnings to the operator. At the start: of documents below a global prefix, and of routes that ask who makes the call without a guard that
// would know. Once a minute at most: of a login over plain HTTP, which leaves no session, and of odd token types.
import type { CanActivate, OnApplicationBootstrap, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { GUARDS_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ApplicationConfig, DiscoveryService, HttpAdapterHost, MetadataScanner } from '@nestjs/core';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { Notices } from '../flows/notices.js';
import type { RouteSettings } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS } from '../settings/token-exchange.options.js';
import {
  ENDPOINTS,
  KEY_SET_PATH,
  RESOURCE_METADATA_PATH,
  SERVER_METADATA_PATHS,
  WELL_KNOWN,
} from './paths.js';
import { TokenExchangeGuard, currentUser } from './token-exchange-auth.js';
import type { OtherTokenType } from './token-exchange.form.js';

const PAUSE_MS = 60_000;

/** Each once a minute at most: they are harmless, and a client causes them with every request. */
@Injectable()
export class RareWarnings {
  private readonly lastWarnedAtMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    private readonly notices: Notices,
  ) {}

  /** @rule D27 Over plain HTTP the answer is the same; the log says why the cookie is lost, once a minute at most. */
  unlessHttps(protocol: string | undefined, requestId: string): void {
    if (protocol === 'https' || !this.isDue('plain HTTP')) return;
    this.logger.warn(
      { requestId },
      'an embedded login came over plain HTTP: browsers drop its Secure cookie except on localhost; serve HTTPS, and ' +
        'behind a proxy forward X-Forwarded-Proto and have the server believe it',
    );
  }

  /** Of token types that other servers would refuse: here they are accepted and ignored. */
  ofTokenType({ field, expected, found }: OtherTokenType, requestId: string): void {
    if (!this.isDue(field)) return;
    const values = { detail: field, expected, found };
    this.notices.warn('token_type_ignored', { flow: 'exchange', requestId, ...values });
  }

  private isDue(warning: string): boolean {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - (this.lastWarnedAtMs.get(warning) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return false;
    this.lastWarnedAtMs.set(warning, nowMs);
    return true;
  }
}

type RouteArguments = Readonly<Record<string, { readonly factory?: unknown }>>;
type Guards = readonly (CanActivate | Type<CanActivate>)[];

/** Of several registrations in one application the first one warns. */
const LOOKED_AT = new WeakSet<DiscoveryService>();

@Injectable()
export class UnguardedRoutes implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly application: ApplicationConfig,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    if (LOOKED_AT.has(this.discovery)) return;
    LOOKED_AT.add(this.discovery);
    if (this.isGuardedAsAWhole()) return;
    const controllers = this.discovery.getControllers();
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
  const given = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as RouteArguments | undefined;
  return Object.values(given ?? {}).some(({ factory }) => factory === currentUser);
}

function guardsOn(target: object | undefined): Guards {
  if (target === undefined) return [];
  return (Reflect.getMetadata(GUARDS_METADATA, target) as Guards | undefined) ?? [];
}

function hasOurs(guards: Guards): boolean {
  return guards.some(
    (guard) =>
      guard instanceof TokenExchangeGuard ||
      (typeof guard === 'function' &&
        (guard === TokenExchangeGuard || guard.prototype instanceof TokenExchangeGuard)),
  );
}

/** The used members of a Fastify instance. */
interface FastifyRoutes {
  hasRoute(route: { readonly method: string; readonly url: string }): boolean;
}

/** The used members of an Express application. */
interface ExpressRoutes {
  readonly router: { readonly stack: readonly { readonly route?: { readonly path: unknown } }[] };
}

const PUBLISHED = [KEY_SET_PATH, RESOURCE_METADATA_PATH, ...SERVER_METADATA_PATHS];

@Injectable()
export class PublishedPaths implements OnApplicationBootstrap {
  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(ROUTE_SETTINGS) private readonly routes: Required<RouteSettings>,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    const { pathPrefix, metadata } = this.routes;
    if (!metadata) return;
    const posts = [ENDPOINTS.exchange, ENDPOINTS.revocation, ENDPOINTS.introspection].map(
      (path) => pathPrefix + path,
    );
    const missing = [
      ...PUBLISHED.filter((path) => !this.isRouted('GET', path)),
      ...posts.filter((path) => !this.isRouted('POST', path)),
    ];
    if (missing.length === 0) return;
    const tokens = `${pathPrefix}/oauth`.slice(1);
    this.log.warn(
      { missing },
      'metadata names addresses that answer 404, since a global prefix stands before them: write ' +
        `setGlobalPrefix(…, { exclude: ['${WELL_KNOWN}/{*path}', '${tokens}/{*path}'] })`,
    );
  }

  /** True without a server: a command has the modules only. */
  private isRouted(method: string, url: string): boolean {
    const { httpAdapter } = this.host;
    const type = httpAdapter?.getType?.();
    if (type === 'fastify') return httpAdapter.getInstance<FastifyRoutes>().hasRoute({ method, url });
    if (type !== 'express') return true;
    const { stack } = httpAdapter.getInstance<ExpressRoutes>().router;
    return stack.some(({ route }) => route?.path === url);
  }
}
