// What every endpoint has beside its controller: its guards, and the filter of its errors.
import type { CanActivate, Type } from '@nestjs/common';
import { UseFilters, UseGuards, applyDecorators } from '@nestjs/common';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { errorFilterOf } from './flow-error.filter.js';
import {
  AvailableGuard,
  ClockGuard,
  FormGuard,
  LoginMethodGuard,
  PrefetchGuard,
  RevocationsKnownGuard,
  enabledGuardOf,
  throttlerOf,
} from './flow.guards.js';
import type { Endpoint } from './paths.js';

/** Whether the token endpoint takes any grant. */
const issuesTokens = ({ exchange, idAssertion }: TokenExchangeOptions) =>
  exchange.enabled || idAssertion.enabled;

/**
 * The guards of each endpoint, in the order in which they are asked (D20).
 * @rule 8.5 Embedded logins per client address and minute; GET and POST share the count.
 * @rule 8.6 Token exchanges per client address and minute.
 * @rule 5.1.3 = 7.3 A disabled embedded login answers 501.
 * @rule 5.1.4 = 7.2 A disabled token exchange answers 501, unless the endpoint takes identity assertions.
 */
const GUARDS: Readonly<Record<Endpoint, readonly Type<CanActivate>[]>> = {
  exchange: [
    AvailableGuard,
    throttlerOf('exchange', ({ exchange }) => exchange.perMinute),
    enabledGuardOf('Token exchange', issuesTokens),
    FormGuard,
    RevocationsKnownGuard,
    ClockGuard,
  ],
  revocation: [
    AvailableGuard,
    throttlerOf('revocation', ({ tokenRevocation }) => tokenRevocation.perMinute),
    // What is not issued is not ended.
    enabledGuardOf('Token revocation', issuesTokens),
    FormGuard,
    RevocationsKnownGuard,
  ],
  introspection: [
    AvailableGuard,
    throttlerOf('introspection', ({ tokenIntrospection }) => tokenIntrospection.perMinute),
    enabledGuardOf('Token introspection', issuesTokens),
    FormGuard,
    RevocationsKnownGuard,
    ClockGuard,
  ],
  logout: [
    AvailableGuard,
    // Before their tokens are looked at; those that are verified are counted by issuer too.
    throttlerOf('logout', ({ logout }) => logout.perMinute),
    FormGuard,
    RevocationsKnownGuard,
    ClockGuard,
  ],
  embed: [
    AvailableGuard,
    LoginMethodGuard,
    PrefetchGuard,
    throttlerOf('embed', ({ embedLogin }) => embedLogin.perMinute),
    enabledGuardOf('Embed login', ({ embedLogin }) => embedLogin.enabled),
    FormGuard,
    RevocationsKnownGuard,
    ClockGuard,
  ],
};

/** For the controller of an endpoint. */
export function FlowEndpoint(endpoint: Endpoint): ClassDecorator {
  return applyDecorators(UseGuards(...GUARDS[endpoint]), UseFilters(errorFilterOf(endpoint)));
}
