// What the module has once, what of it every module of a host may use, and what the start says of parts and paths.
import { RequestMethod } from '@nestjs/common';
import { Partner } from '../../demo/partner.js';
import type { HostOptions } from './host/options.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import type { Wishes } from './support/host-process.js';
import { BASE_URL, HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

/** What a host prints of what must exist once. */
const ONE_EACH = {
  AdvisoryLockLeader: 1,
  PostgresNotifications: 1,
  Revocations: 1,
  AccessTokenService: 1,
};

const SEALING_KEY = Buffer.alloc(32, 'a').toString('base64');

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const limited = Partner.create({ issuer: 'https://limited.example', audience: BASE_URL });
  const host = HostProcess.forBlock(() => {
    const options = optionsOf(limited, { ...kind, databaseUrl: database().url });
    const trustedKeys = JSON.stringify([limited.staticEntry({ scopes: ['first'] })]);
    return { ...options, settings: { ...options.settings, trustedKeys }, guarded: { path: 'guarded' } };
  });

  it('has one leader and one list of revocations', () => {
    expect(JSON.parse(host.printed('instances') ?? '{}')).toEqual(ONE_EACH);
  });

  it('guards routes of a module without imports, and combines all scopes of a route', async () => {
    const { body } = await host.exchange(limited.sign());
    const headers = { authorization: `Bearer ${String(body['access_token'])}` };
    expect((await host.call('/guarded', { headers })).status).toBe(200);
    const refused = await host.call('/guarded/limited', { headers });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('scope="third first second base class"'),
    ]);
  });
});

describeOnEmptyDatabase('the startup log lists the parts', (database) => {
  const started = async (wishes: Partial<Wishes>) => {
    const options = optionsOf(newPartner(), {
      ...{ server: 'express', parts: 'own', databaseUrl: database().url, sealingKey: SEALING_KEY },
      ...wishes,
    });
    const host = await HostProcess.start(options);
    await host.stop();
    return host.output;
  };

  it('of the host and of the package', async () => {
    expect(await started({})).toContain(
      'parts of this application: UserDirectory, SessionOpener; of the package: ProjectDirectory, AuditTrail, ' +
        'ExchangeTelemetry, TokenExchangeThrottlerStorage',
    );
  });

  it('without a part that its module does not export', async () => {
    expect(await started({ missing: 'exports of parts' })).toContain(
      'parts of this application: UserDirectory; of the package: ProjectDirectory, SessionOpener,',
    );
  });
});

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  it('fails at the first form if an application parses no forms, and reports the cause', async () => {
    const partner = newPartner();
    const wishes = {
      ...kind,
      databaseUrl: database().url,
      sealingKey: SEALING_KEY,
      forms: 'unread',
    } as const;
    const host = await HostProcess.start(optionsOf(partner, wishes));
    const { status, text } = await host.exchange(partner.sign());
    await host.stop();
    if (kind.server === 'fastify')
      expect([status, text]).toEqual([415, expect.stringContaining('Unsupported Media Type')]);
    else {
      expect(status).toBe(500);
      expect(host.output).toContain(
        'no parser of this application has read the form: do not switch off its bodyParser',
      );
    }
  });
});

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const start = (globalPrefix?: HostOptions['globalPrefix']) =>
    HostProcess.start(
      optionsOf(newPartner(), {
        ...kind,
        databaseUrl: database().url,
        sealingKey: SEALING_KEY,
        globalPrefix,
      }),
    );

  it('warns of a global prefix before metadata paths, with the line that corrects it', async () => {
    const host = await start({ name: 'v2' });
    await host.stop();
    const [, list = ''] = /setGlobalPrefix\(…, \{ exclude: \[(.*)\] \}\)/.exec(host.output) ?? [];
    expect(host.output).toContain('metadata contains addresses that answer 404');
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
