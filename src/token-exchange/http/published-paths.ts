// Warns of a global prefix of the host that stands before addresses which metadata name without it.
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { RouteSettings } from '../settings/token-exchange.options.js';
import { ROUTE_SETTINGS } from '../settings/token-exchange.options.js';
import {
  ENDPOINTS,
  KEY_SET_PATH,
  RESOURCE_METADATA_PATH,
  SERVER_METADATA_PATHS,
  WELL_KNOWN,
} from './paths.js';

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
