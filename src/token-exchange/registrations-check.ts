// Checks at the start what one registration cannot see by itself: what others of the application have, and how long parts live.
import { Inject, Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Database } from '../platform/database/database.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { PORTS } from './ports-check.js';
import { SESSION_OPTIONS } from './sessions/session-cookie.js';
import type { RouteSettings, SessionSettings } from './settings/token-exchange.options.js';
import { ROUTE_SETTINGS } from './settings/token-exchange.options.js';

/** Of several registrations in one application the first one checks. */
const LOOKED_AT = new WeakSet<ModulesContainer>();

@Injectable()
export class RegistrationsCheck {
  constructor(
    private readonly modules: ModulesContainer,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  /** @throws Error that names what two registrations share, or the part that is made anew for each request */
  run(): void {
    if (LOOKED_AT.has(this.modules)) return;
    LOOKED_AT.add(this.modules);
    const registrations = [...this.modules.values()].filter(({ providers }) => providers.has(ROUTE_SETTINGS));
    const each = <T>(token: symbol | typeof Database) =>
      registrations.flatMap(({ providers }) => (providers.get(token)?.instance ?? []) as T);
    // What depends on one would be made for each request, too: locks, limits and counts would hold for that request alone.
    for (const { part, token } of PORTS)
      if (registrations.some(({ providers }) => providers.get(token)?.isDependencyTreeStatic() === false))
        throw new Error(`${part}: must not be request-scoped, nor need what is`);
    const routes = each<Required<RouteSettings>>(ROUTE_SETTINGS);
    refuseTwo(
      'pathPrefix',
      routes.map(({ pathPrefix }) => pathPrefix),
    );
    refuseTwo(
      'metadata',
      routes.filter(({ metadata }) => metadata).map(({ metadata }) => metadata),
    );
    refuseTwo(
      'dataSource',
      each<Database>(Database).map(({ dataSource }) => dataSource),
    );
    if (hasTwo(each<SessionSettings>(SESSION_OPTIONS).map(({ cookieName }) => cookieName)))
      this.log.warn(
        {},
        'two registrations of TokenExchangeModule have one sessions.cookieName: on one host, a login at one ends the login at the other',
      );
  }
}

/** @throws Error */
function refuseTwo(setting: string, values: readonly unknown[]): void {
  if (hasTwo(values))
    throw new Error(
      `${setting}: two registrations of TokenExchangeModule have the same; where one is meant, keep what \`register\` returned ` +
        'in a constant',
    );
}

function hasTwo(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length;
}
