// Products of one application that have registrations, databases and users of their own.
import { RequestMethod } from '@nestjs/common';
import { Partner } from '../../demo/partner.js';
import type { HostOptions } from './host/options.js';
import { EmptyDatabase, describeOnEmptyDatabase } from './support/empty-database.js';
import type { Answer } from './support/host-process.js';
import {
  BASE_URL,
  HostProcess,
  exchangeForm,
  newPartner,
  ofParts,
  optionsOf,
} from './support/host-process.js';

/** What a host prints of what is to be there once in each registration. */
const ONE_EACH = [
  ['AdvisoryLockLeader', 1],
  ['PostgresNotifications', 1],
  ['Revocations', 1],
  ['AccessTokenService', 1],
];

function instancesIn(host: HostProcess): [string, unknown][] {
  return Object.entries(JSON.parse(host.printed('instances') ?? '{}') as object);
}

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  let second: EmptyDatabase;
  beforeAll(async () => void (second = await EmptyDatabase.create()));
  afterAll(() => second?.remove());

  const optionsFor = (name: string, databaseUrl: string) => {
    const sealingKey = Buffer.alloc(32, name).toString('base64');
    const options = optionsOf(partner, { ...kind, dataSource: name, databaseUrl, sealingKey });
    return { ...options, settings: { ...options.settings, pathPrefix: `/${name}`, eventPrefix: `${name}.` } };
  };

  const exchange = (host: HostProcess, name: string, token: string) =>
    host.post(`/${name}/oauth/token`, exchangeForm(token));

  describe('two products, each with a guarded route', () => {
    const host = HostProcess.forBlock(() => ({
      ...optionsFor('a', database().url),
      guarded: { path: 'of-a' },
      beside: { ...optionsFor('b', second.url), guarded: { path: 'of-b' } },
    }));

    const tokenOf = async (name: string) => {
      const { body } = await exchange(host, name, partner.sign());
      return String(body['access_token']);
    };
    const call = (path: string, token: string): Promise<Answer> =>
      host.call(path, { headers: { authorization: `Bearer ${token}` } });

    it('have one leader and one memory of revocations each', () => {
      expect(instancesIn(host)).toEqual(ONE_EACH.map(([name]) => [name, 2]));
    });

    it('each take their own tokens, for their own users, and no others', async () => {
      const [ofA, ofB] = [await tokenOf('a'), await tokenOf('b')];
      const usersOf = async (product: EmptyDatabase) =>
        (await product.query<{ id: string }>('SELECT id FROM product_user'))[0];
      expect((await call('/of-a', ofA)).body).toEqual(await usersOf(database()));
      expect((await call('/of-b', ofB)).body).toEqual(await usersOf(second));
      expect([(await call('/of-a', ofB)).status, (await call('/of-b', ofA)).status]).toEqual([401, 401]);
    });
  });

  it('does not start where a guarded route is in a module that imports neither, and says so', async () => {
    const { exitCode, output } = await HostProcess.failing({
      ...optionsFor('a', database().url),
      guarded: { path: 'of-a', outside: true },
      beside: optionsFor('b', second.url),
    });
    expect(output).toContain('2 registrations of TokenExchangeModule are there, and a module with guarded');
    expect(exitCode).not.toBe(0);
  });

  it('does not start where both are at one path, and says so', async () => {
    const beside = optionsFor('b', second.url);
    const { exitCode, output } = await HostProcess.failing({
      ...optionsFor('a', database().url),
      beside: { ...beside, settings: { ...beside.settings, pathPrefix: '/a' } },
    });
    expect(output).toContain('pathPrefix: two registrations of TokenExchangeModule have the same');
    expect(exitCode).not.toBe(0);
  });

  describe('the only registration', () => {
    const limited = Partner.create({ issuer: 'https://limited.example', audience: BASE_URL });
    const host = HostProcess.forBlock(() => {
      const options = optionsFor('a', database().url);
      const trustedKeys = JSON.stringify([limited.staticEntry({ scopes: ['first'] })]);
      return {
        ...options,
        settings: { ...options.settings, trustedKeys },
        guarded: { path: 'guarded', outside: true },
      };
    });

    it('has one leader and one memory of revocations', () => {
      expect(instancesIn(host)).toEqual(ONE_EACH);
    });

    it('guards routes of a module that does not import it, and adds up all scopes of a route', async () => {
      const { body } = await exchange(host, 'a', limited.sign());
      const headers = { authorization: `Bearer ${String(body['access_token'])}` };
      expect((await host.call('/guarded', { headers })).status).toBe(200);
      const refused = await host.call('/guarded/limited', { headers });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        403,
        expect.stringContaining('scope="third first second base class"'),
      ]);
    });
  });
});

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const sealingKey = Buffer.alloc(32, 'a').toString('base64');
  const start = (globalPrefix?: HostOptions['globalPrefix']) =>
    HostProcess.start(
      optionsOf(newPartner(), { ...kind, databaseUrl: database().url, sealingKey, globalPrefix }),
    );

  it('warns of a global prefix before what metadata name, with the line that mends it', async () => {
    const host = await start({ name: 'v2' });
    await host.stop();
    const [, list = ''] = /setGlobalPrefix\(…, \{ exclude: \[(.*)\] \}\)/.exec(host.output) ?? [];
    expect(host.output).toContain('metadata names addresses that answer 404');
    const exclude = list.split(', ').map((path) => path.slice(1, -1));
    expect(exclude).toEqual(['.well-known/{*path}', 'rest/auth/oauth/{*path}']);

    const mendedInPart = await start({
      name: 'v2',
      exclude: exclude.map((path) => ({ path, method: RequestMethod.GET })),
    });
    await mendedInPart.stop();
    const published = [
      'jwks.json',
      'oauth-protected-resource',
      'oauth-authorization-server',
      'openid-configuration',
    ].map((name) => `OPTIONS /.well-known/${name}`);
    const endpoints = ['token', 'revoke', 'introspect'].map((name) => `POST /rest/auth/oauth/${name}`);
    expect(mendedInPart.output).toContain(JSON.stringify({ missing: [...published, ...endpoints] }));

    const mended = await start({ name: 'v2', exclude });
    expect((await mended.call('/.well-known/jwks.json')).status).toBe(200);
    expect((await mended.exchange('none')).status).toBe(400);
    await mended.stop();
    expect(mended.output).not.toContain('answer 404');
  });
});
