// The optional settings of a host, and the errors for invalid ones.
import { generateKeyPairSync } from 'node:crypto';
import type { Log } from '../../../../src/platform/log/log.js';
import { SILENT } from '../../../../src/platform/log/log.js';
import type { TokenExchangeSettings } from '../../../../src/token-exchange/settings/token-exchange.options.js';
import {
  completedAccessTokens,
  completedOptions as completed,
  completedRoutes,
  givenSettings,
} from '../../../../src/token-exchange/settings/token-exchange.settings.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';

const roles = { assignable: ['user', 'admin'], owner: 'owner', initial: 'user' };
const LEAST: TokenExchangeSettings = { roles, trustedKeys: [], strict: false };
const DAY_SECONDS = 86_400;
const TABLE = {
  name: 'user_account',
  idType: 'uuid',
  columns: {
    id: 'id',
    role: 'role',
    enabled: 'enabled',
    givenName: 'given_name',
    familyName: 'family_name',
    accessGeneration: 'access_generation',
  },
};
const completedOptions = (settings: TokenExchangeSettings, log?: Log) =>
  completed(givenSettings(settings), log);

const publicKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
const staticEntry = (members: object = {}) => ({
  type: 'static',
  kid: 'k',
  issuer: 'https://partner.example',
  algorithms: ['ES256'],
  key: publicKey().export({ type: 'spki', format: 'pem' }),
  ...members,
});

describe('settings', () => {
  it("[8.1] [8.2] [8.3] [8.4] [8.5] [8.6] are completed by the contract's defaults", () => {
    const { isOffered, ...rest } = completedOptions(LEAST);
    expect(isOffered()).toBe(true);
    expect(rest).toEqual({
      roles,
      trustedKeys: [],
      strict: false,
      embedLogin: { enabled: true, perMinute: 20 },
      exchange: { enabled: true, perMinute: 20, maxTokenLifetimeSeconds: 900 },
      idAssertion: { enabled: false, maxLifetimeSeconds: 300 },
      tokenRevocation: { perMinute: 60 },
      tokenIntrospection: { perMinute: 600 },
      logout: { perMinute: 600 },
      signals: { perMinute: 600, transmitters: [] },
      clockToleranceSeconds: 5,
      replayPurge: { intervalSeconds: 60, batchSize: 1000 },
      jwks: {
        refreshIntervalSeconds: 300,
        maxStaleSeconds: DAY_SECONDS,
        allowHttp: false,
        allowPrivate: [],
      },
    });
  });

  it.each<[string, Partial<TokenExchangeSettings>]>([
    ['embedLogin.perMinute: must be a whole number from 1 to 1000000', { embedLogin: { perMinute: 0 } }],
    ['exchange.perMinute: must be a whole number from 1 to 1000000', { exchange: { perMinute: 1.5 } }],
    [
      'exchange.maxTokenLifetimeSeconds: must be a whole number from 5 to 86400',
      { exchange: { maxTokenLifetimeSeconds: 4 } },
    ],
    ['clockToleranceSeconds: must be a whole number from 0 to 60', { clockToleranceSeconds: 61 }],
    [
      'replayPurge.batchSize: must be a whole number from 1 to 100000',
      { replayPurge: { batchSize: 100_001 } },
    ],
  ])('[8.4][8.5][8.6] are rejected out of range: %s', (message, settings) => {
    expect(() => completedOptions({ ...LEAST, ...settings })).toThrow(new RangeError(message));
  });

  it('[P.strict] are strict unless they say otherwise', () => {
    const { strict, ...unsaid } = LEAST;
    expect([strict, completedOptions(unsaid).strict]).toEqual([false, true]);
    const read = () => completedOptions({ ...unsaid, trustedKeys: [staticEntry()] });
    expect(read).toThrow('entry 0, expectedAudience');
  });

  it('are rejected with unknown properties, with suggested names', () => {
    const misspelt = {
      ...LEAST,
      stict: true,
      exchange: { perMinut: 5 },
      userTable: { ...TABLE, columns: { ...TABLE.columns, rol: 'role' } },
      colour: 'blue',
    } as unknown as TokenExchangeSettings;
    expect(() => givenSettings(misspelt)).toThrow(
      new RangeError(
        [
          'userTable.columns.rol: is not known (did you mean role?)',
          'exchange.perMinut: is not known (did you mean perMinute?)',
          'stict: is not known (did you mean strict?)',
          'colour: is not known',
        ].join('\n'),
      ),
    );
  });

  it.each<[string, object | undefined]>([
    ['useFactory: has to return the settings', undefined],
    ['trustedKeys: is needed', { roles }],
    ['roles.owner: is needed', { ...LEAST, roles: { assignable: ['user'], initial: 'user' } }],
    [
      'userTable.columns.role: is needed',
      { ...LEAST, userTable: { ...TABLE, columns: { ...TABLE.columns, role: undefined } } },
    ],
  ])('are rejected if untyped code omits a required value: %s', (fault, settings) => {
    expect(() => givenSettings(settings as TokenExchangeSettings)).toThrow(new RangeError(fault));
  });

  it.each(['rest', '/rest/', '//', '/a b', '/:id', '/a?b'])(
    'are rejected with the path prefix %j',
    (pathPrefix) => {
      expect(() => completedRoutes({ pathPrefix })).toThrow(/^pathPrefix: /);
    },
  );

  it('accept a path prefix, or an empty one', () => {
    expect(['', '/a', '/a/b-c.d'].map((pathPrefix) => completedRoutes({ pathPrefix }).pathPrefix)).toEqual([
      '',
      '/a',
      '/a/b-c.d',
    ]);
    expect(completedRoutes({})).toEqual({ pathPrefix: '/rest/auth', metadata: false });
  });
});

describe('roles', () => {
  it.each([
    ['roles.assignable: must not have', { assignable: ['user', 'owner'] }],
    ['roles.initial: must not be', { initial: 'owner' }],
    ['roles: a role must have a name', { assignable: ['user', ''] }],
    ['roles.initial: must be one of roles.assignable', { initial: 'usr' }],
  ])(
    "[2.5.4] are rejected if a token could create an owner, or if a new user's role is missing: %s",
    (message, change) => {
      expect(() => completedOptions({ ...LEAST, roles: { ...roles, ...change } })).toThrow(message);
    },
  );
});

describe('trusted keys as JSON', () => {
  it('[2.1] are read as the contract describes them', () => {
    const { trustedKeys } = completedOptions({ ...LEAST, trustedKeys: JSON.stringify([staticEntry()]) });
    expect(trustedKeys).toMatchObject([{ type: 'static', issuer: 'https://partner.example' }]);
  });

  it('[2.1] are also read from parsed JSON, without a check', () => {
    const trusted = (entry: object) => completedOptions({ ...LEAST, trustedKeys: [entry] }).trustedKeys;
    expect(trusted(staticEntry())).toMatchObject([{ type: 'static', issuer: 'https://partner.example' }]);
    expect(() => trusted(staticEntry({ allowedRole: ['user'] }))).toThrow('is not a known member');
  });

  it('[D32] are rejected with every problem, and without any value', () => {
    const entries = [staticEntry({ key: 'SECRET' }), staticEntry({ type: 'other' })];
    const read = () => completedOptions({ ...LEAST, trustedKeys: JSON.stringify(entries) });
    expect(read).toThrow(/^trustedKeys:\n {2}entry 0.*\n {2}entry 1/s);
    expect(read).not.toThrow(/SECRET/);
  });

  it('[P.strict] are rejected if they were read without the strict policy that the settings require', () => {
    const rules = { assignableRoles: roles.assignable, allowHttp: false };
    const { entries } = readTrustedKeys(JSON.stringify([staticEntry({})]), rules);
    expect(() => completedOptions({ ...LEAST, trustedKeys: entries, strict: true })).toThrow(/^strict: /);
    expect(completedOptions({ ...LEAST, trustedKeys: entries }).trustedKeys).toBe(entries);
  });

  it.each<[string, Partial<TokenExchangeSettings>]>([
    [
      'its access tokens',
      { accessTokens: { issuer: 'https://host.example', sealingKeys: [Buffer.alloc(32)] } },
    ],
    [
      'its own address, where it brings access tokens of its own',
      { entryRules: { baseUrl: 'https://host.example:443' } },
    ],
  ])('[D126] are rejected with the issuer that the host has by %s, from any reader', (_what, host) => {
    const settings = { ...LEAST, ...host };
    expect(completedOptions(settings).ownIssuer).toMatch(/^https:\/\/host\.example/);
    const own = JSON.stringify([staticEntry({ issuer: 'https://host.example' })]);
    expect(() => completedOptions({ ...settings, trustedKeys: own })).toThrow(
      'entry 0, issuer: must not be the address of this instance',
    );
    const { entries } = readTrustedKeys(own, { assignableRoles: roles.assignable, allowHttp: false });
    expect(() => completedOptions({ ...settings, trustedKeys: entries })).toThrow(
      'an entry has the issuer of the access tokens of this host',
    );
  });

  it("are rejected if the host's address ends with a slash, since paths are appended", () => {
    const settings = { ...LEAST, entryRules: { baseUrl: 'https://host.example/' } };
    expect(() => completedOptions(settings)).toThrow(
      new RangeError('entryRules.baseUrl: must have no slash at its end'),
    );
  });

  it('log what their author may not expect', () => {
    const warn = jest.fn();
    const trustedKeys = [staticEntry({ expectedAudience: 'product' })];
    completedOptions({ ...LEAST, trustedKeys }, { ...SILENT, warn });
    expect(warn.mock.calls).toEqual([[{}, expect.stringMatching(/^trustedKeys: entry 0, linkPrivileged/)]]);
  });
});

describe('the sessions and access tokens of this package', () => {
  it('[D26] allow sessions of one minute to one hour', () => {
    expect(givenSettings(LEAST).sessions).toEqual({
      lifetimeSeconds: 3600,
      maxPerUser: 100,
      partitioned: true,
      cookieName: '__Host-svc-session',
    });
    for (const cookieName of ['session', '__Host-', '__Secure-a', '__Host-a;b'])
      expect(() => givenSettings({ ...LEAST, sessions: { cookieName } })).toThrow('sessions.cookieName');
    const settings = { ...LEAST, sessions: { lifetimeSeconds: 59 } };
    expect(() => givenSettings(settings)).toThrow('sessions.lifetimeSeconds: must be a whole number from 60');
  });

  it.each<[string, TokenExchangeSettings['accessTokens']]>([
    ['accessTokens: is needed', undefined],
    ['accessTokens.issuer: must be a URL', { issuer: 'product', sealingKeys: [Buffer.alloc(32)] }],
    [
      'accessTokens.sealingKeys: must be one key or more, of 32 bytes each',
      { issuer: 'https://p.example', sealingKeys: [Buffer.alloc(31)] },
    ],
  ])('are rejected: %s', (message, accessTokens) => {
    expect(() => completedAccessTokens(givenSettings({ ...LEAST, accessTokens }))).toThrow(message);
  });
});
