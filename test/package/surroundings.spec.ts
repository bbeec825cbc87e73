// Beside what a host has for all its routes: parsers, pipes, interceptors, guards, a prefix, helmet and CORS.
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

const PREFIX = '/v2';
const ORIGIN = 'https://app.example';

describeOnEmptyDatabase.each(ofParts('own'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() =>
    optionsOf(partner, { ...kind, databaseUrl: database().url, isFurnished: true }),
  );

  it('answers an exchange behind the prefix as RFC 8693 lays it down, which no interceptor wraps', async () => {
    const answer = await host.exchange(partner.sign(), undefined, PREFIX);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual([
      'access_token',
      'expires_in',
      'issued_token_type',
      'token_type',
    ]);
    const headers = { authorization: `Bearer ${String(answer.body['access_token'])}` };
    const me = await host.call(`${PREFIX}/api/me`, { headers });
    expect(me.body).toMatchObject({ wrapped: { subject: { email: 'customer-1@partner.example' } } });
    expect((await host.exchange(partner.sign())).status).toBe(404);
  });

  it('reads its own forms strictly, though the host parses forms too', async () => {
    const twice = await host.post(`${PREFIX}/rest/auth/oauth/token`, 'grant_type=a&grant_type=b');
    expect(twice).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
    const login = await host.login(partner.sign(), {}, PREFIX);
    expect([login.status, login.text]).toEqual([303, '']);
  });

  it('refuses in its own words, without the host wrapping them', async () => {
    const answer = await host.exchange('no-token', undefined, PREFIX);
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: 'invalid_grant', error_description: 'Token exchange failed' },
    ]);
  });

  it('answers a refused login with the page of the host, where the post asks for it', async () => {
    const path = `${PREFIX}/rest/auth/embed`;
    const page = await host.post(path, 'token=none&answer=page');
    expect([page.status, page.text]).toEqual([401, '<!doctype html><title>token_malformed</title>']);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await host.post(path, 'token=none')).body['error']).toBe('token_malformed');
  });

  it('leaves the forms and JSON of other routes to the host, with its pipe', async () => {
    const contact = { name: 'Ada', email: 'ada@product.example' };
    const json = { 'content-type': 'application/json' };
    const asForm = await host.post(`${PREFIX}/contact`, new URLSearchParams(contact).toString());
    expect([asForm.status, asForm.body]).toEqual([201, { wrapped: contact }]);
    const asJson = await host.post(`${PREFIX}/contact`, JSON.stringify(contact), json);
    expect([asJson.status, asJson.body]).toEqual([201, { wrapped: contact }]);
    const refused = await host.post(
      `${PREFIX}/contact`,
      new URLSearchParams({ ...contact, more: '1' }).toString(),
    );
    expect(refused.status).toBe(400);
  });

  it('carries the headers of helmet and CORS, and both throttles count', async () => {
    const answer = await host.post(`${PREFIX}/rest/auth/oauth/token`, 'grant_type=x', { origin: ORIGIN });
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('x-ratelimit-limit')).toBe('5000');
    expect(answer.headers.get('ratelimit-limit')).toBe('10000');
    const preflight = await host.call(`${PREFIX}/rest/auth/oauth/token`, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
  });
});
