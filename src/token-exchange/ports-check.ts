// Checks at the start that a host's implementations of ports have all methods, which else the first login would show.
import type { InjectionToken, Provider } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { THROTTLE_STORAGE } from '../platform/http/throttle/counting.storage.js';
import { AuditTrail } from './audit/audit.bus.js';
import { LoginFailurePage, SessionOpener } from './host/logins.js';
import { ProjectDirectory } from './host/projects.js';
import { ExchangeTelemetry } from './host/telemetry.js';
import { GIVEN_USERS } from './host/checked-users.js';
import type { UserDirectory } from './host/users.js';

interface Port {
  /** What the parts call it. */
  readonly part: string;
  readonly token: InjectionToken;
  readonly methods: readonly string[];
}

function port<T>(part: string, token: InjectionToken<T>, ...methods: (keyof T & string)[]): Port {
  return { part, token, methods };
}

export const PORTS: readonly Port[] = [
  port<UserDirectory>('users', GIVEN_USERS, 'findById', 'findByEmail', 'create', 'lock', 'update'),
  port('sessions', SessionOpener, 'open'),
  port('auditTrail', AuditTrail, 'append'),
  port(
    'telemetry',
    ExchangeTelemetry,
    'observeStage',
    'countThrottled',
    'countUnrecordedFailure',
    'watchKeys',
  ),
  port('projects', ProjectDirectory, 'find', 'change'),
  port('loginFailurePage', LoginFailurePage, 'render'),
  port<ThrottlerStorage>('throttlerStorage', THROTTLE_STORAGE, 'increment'),
];

/** Of the ports, a host that wants no page for failed logins has none for it. */
export const PORTS_CHECK: Provider = {
  provide: Symbol('ports are complete'),
  inject: PORTS.map(({ token }) => ({ token, optional: true })),
  useFactory: (...given: unknown[]) => PORTS.forEach((each, index) => refuseIncomplete(each, given[index])),
};

/** @throws TypeError that names the part and the methods that are missing */
function refuseIncomplete({ part, methods }: Port, given: unknown): void {
  if (given === undefined) return;
  const missing = methods.filter((name) => typeof (given as Record<string, unknown>)[name] !== 'function');
  if (missing.length === 0) return;
  throw new TypeError(`${part}: has no ${missing.join(', no ')}; every method of the port is needed`);
}
