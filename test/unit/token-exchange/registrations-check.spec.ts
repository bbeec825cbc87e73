// What an application is told where its registrations share what each must have for itself, or a part is made for each request.
import type { DynamicModule } from '@nestjs/common';
import { Injectable, Module, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Database } from '../../../src/platform/database/database.js';
import { LOGGER, SILENT } from '../../../src/platform/log/log.js';
import { GIVEN_USERS } from '../../../src/token-exchange/host/checked-users.js';
import { RegistrationsCheck } from '../../../src/token-exchange/registrations-check.js';
import { SESSION_OPTIONS } from '../../../src/token-exchange/sessions/session-cookie.js';
import { ROUTE_SETTINGS } from '../../../src/token-exchange/settings/token-exchange.options.js';

@Injectable({ scope: Scope.REQUEST })
class OfRequest {}

@Injectable()
class Users {
  constructor(readonly of: OfRequest) {}
}

interface Registration {
  readonly pathPrefix: string;
  readonly metadata?: boolean;
  readonly dataSource?: object;
  readonly cookieName?: string;
  readonly users?: object;
}

const warn = jest.fn();

function registration({
  pathPrefix,
  metadata = false,
  dataSource = {},
  cookieName = pathPrefix,
  users = { useValue: {} },
}: Registration): DynamicModule {
  @Module({})
  class Registered {}
  return {
    module: Registered,
    providers: [
      RegistrationsCheck,
      OfRequest,
      { provide: ROUTE_SETTINGS, useValue: { pathPrefix, metadata } },
      { provide: Database, useValue: { dataSource } },
      { provide: SESSION_OPTIONS, useValue: { cookieName } },
      { provide: LOGGER, useValue: { ...SILENT, warn } },
      { provide: GIVEN_USERS, ...users } as never,
    ],
  };
}

async function start(...registrations: readonly Registration[]): Promise<void> {
  const compiled = await Test.createTestingModule({ imports: registrations.map(registration) }).compile();
  compiled.get(RegistrationsCheck, { strict: false }).run();
}

describe('the registrations of an application', () => {
  const dataSource = {};
  afterEach(() => warn.mockReset());

  it('may be several, each with what is its own, and one with metadata', async () => {
    await start({ pathPrefix: '/a', metadata: true }, { pathPrefix: '/b' });
    expect(warn).not.toHaveBeenCalled();
  });

  it.each<[string, Registration, Registration]>([
    ['pathPrefix', { pathPrefix: '/a' }, { pathPrefix: '/a' }],
    ['metadata', { pathPrefix: '/a', metadata: true }, { pathPrefix: '/b', metadata: true }],
    ['dataSource', { pathPrefix: '/a', dataSource }, { pathPrefix: '/b', dataSource }],
  ])('do not start with one %s', async (setting, one, other) => {
    await expect(start(one, other)).rejects.toThrow(`${setting}: two registrations of TokenExchangeModule`);
  });

  it('are warned of one name for the cookies of all', async () => {
    await start({ pathPrefix: '/a', cookieName: 'one' }, { pathPrefix: '/b', cookieName: 'one' });
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('do not start with users that are made for each request', async () => {
    const scoped = { pathPrefix: '/b', users: { useClass: Users } };
    await expect(start({ pathPrefix: '/a' }, scoped)).rejects.toThrow('users: must not be request-scoped');
  });
});
