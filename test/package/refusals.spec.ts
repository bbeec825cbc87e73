// What the package refuses, alike on Express and Fastify, and that its host's other routes never notice it.
import { randomBytes } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { BASE_URL, HostProcess, KINDS, newPartner, optionsOf } from './support/host-process.js';

const TOKEN_PATH = '/rest/auth/oauth/token';

describeOnEmptyDatabase.each(KINDS.slice(0, 2), (kind, database) => {
  const partner = newPartner();
  const sealingKey = randomBytes(32).toString('base64');
  const options = () => optionsOf(partner, { ...kind, sealingKey, databaseUrl: database().url });
  const host = HostProcess.forBlock(options);

  it('refuses another audience with the same message as any bad token, and tells the host why', async () => {
    const answer = await host.exchange(partner.sign(partner.claims({ aud: 'https://other.example' })));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Token exchange failed' },
    });
    const id = answer.headers.get('x-request-id');
    const told = () => host.events.filter(({ requestId }) => requestId === id);
    await until('the host is told', 60_000, () => told().length > 0);
    expect(told()).toMatchObject([
      { name: 'svc.audit.token-exchange.failed', payload: { reason: 'audience_mismatch' } },
    ]);
    const login = await host.login(partner.sign(partner.claims({ aud: 'https://other.example' })));
    expect([login.status, login.body['error']]).toEqual([401, 'audience_mismatch']);
  });

  it('has no token endpoint for GET', async () => {
    expect((await host.call(TOKEN_PATH)).status).toBe(404);
  });

  it('[D57] [D23] a HEAD request signs no user in; the login by GET that follows succeeds and leaks its address to no site', async () => {
    const path = `/rest/auth/embed?token=${partner.sign()}`;
    const head = await host.call(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect(head.headers.get('set-cookie')).toBeNull();
    const login = await host.call(path);
    expect(login.status).toBe(303);
    expect(login.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('refuses a client with too many requests, with the time to retry, and counts by entry if it has a limit', async () => {
    const wide = Partner.create({ issuer: 'https://wide.example', audience: BASE_URL });
    const trustedKeys = JSON.stringify([partner.staticEntry(), wide.staticEntry({ perMinute: 3 })]);
    const settings = { ...options().settings, trustedKeys, exchange: { perMinute: 2 } };
    const strict = await HostProcess.start({ ...options(), settings });
    try {
      // These do not count for the address.
      for (let turn = 0; turn < 3; turn += 1) expect((await strict.exchange(wide.sign())).status).toBe(200);
      const answers = [];
      for (let turn = 0; turn < 3; turn += 1) answers.push(await strict.exchange(partner.sign()));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answers[2]?.body['error']).toBe('too_many_requests');
    } finally {
      await strict.stop();
    }
  });

  it('logs nothing of a token', () => {
    expect(host.output).not.toContain('eyJ');
    expect(host.output).not.toContain('customer-1@partner.example');
  });
});
