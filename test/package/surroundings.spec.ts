// Beside what a host has for all its routes: parsers, pipes, interceptors, filters, guards, a prefix, versions, helmet and CORS.
import { JwksServer } from '../support/jwks-server.js';
import { EVENTS_PATH, TestTransmitter } from '../support/transmitter.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';
import { declareHostTable } from './support/host-table.js';
import { preparedInstallation } from './support/packed-package.js';

const PREFIX = '/v2';
const ORIGIN = 'https://app.example';
/** Two tokens of the longest kind. */
const LONG_FORM = `grant_type=x&subject_token=${'a'.repeat(65_536)}&actor_token=${'b'.repeat(65_536)}`;

declareHostTable(preparedInstallation);

describeOnEmptyDatabase.each(ofParts('own'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() => {
    const wishes = {
      isFurnished: true,
      forms: kind.server === 'express' ? 'querystring' : undefined,
    } as const;
    return optionsOf(partner, { ...kind, ...wishes, databaseUrl: database().url });
  });

  it("answers an exchange only at the prefix, and leaves other routes' answers to the interceptors", async () => {
    const { body } = await host.exchange(partner.sign(), undefined, PREFIX);
    const headers = { authorization: `Bearer ${String(body['access_token'])}` };
    const me = await host.call(`${PREFIX}/api/me`, { headers });
    expect(me.body).toMatchObject({ wrapped: { subject: { email: 'customer-1@partner.example' } } });
    expect((await host.exchange(partner.sign())).status).toBe(404);
  });

  it('accepts two tokens of 64 KiB', async () => {
    const answer = await host.post(`${PREFIX}/rest/auth/oauth/token`, LONG_FORM);
    expect([answer.status, answer.body['error']]).toEqual([400, 'unsupported_grant_type']);
  });

  it('leaves bodies that its parser rejects to the host', async () => {
    const answer = await host.post(`${PREFIX}/rest/auth/embed`, 'x'.repeat(1_500_000));
    expect([answer.status, answer.body]).toEqual([413, { filtered: 413 }]);
  });

  it('leaves forms and JSON of other routes to the host, with its pipe', async () => {
    const contact = { name: 'Ada', email: 'ada@product.example' };
    const json = { 'content-type': 'application/json' };
    const asForm = await host.post(`${PREFIX}/contact`, new URLSearchParams(contact).toString());
    expect([asForm.status, asForm.body]).toEqual([201, { wrapped: contact }]);
    const asJson = await host.post(`${PREFIX}/contact`, JSON.stringify(contact), json);
    expect([asJson.status, asJson.body]).toEqual([201, { wrapped: contact }]);
    const more = await host.post(`${PREFIX}/contact`, `${new URLSearchParams(contact).toString()}&more=1`);
    expect([more.status, more.body]).toEqual([400, { filtered: 400 }]);
  });

  it('sends the headers of helmet and CORS, and both throttles count', async () => {
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

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const keySet = JwksServer.forBlock();
  const transmitter = new TestTransmitter('https://login.company.example', keySet);
  const host = HostProcess.forBlock(() => {
    keySet.publish(transmitter.provider.jwks());
    const { issuer, audience, secret } = transmitter;
    const loginIssuer = partner.issuer;
    const options = optionsOf(partner, { ...kind, takesEvents: true, databaseUrl: database().url });
    const settings = {
      ...options.settings,
      jwks: { allowHttp: true, allowPrivate: ['127.0.0.0/8'] },
      signals: { transmitters: [{ issuer, audience, jwksUri: keySet.url, secret, loginIssuer }] },
    };
    return { ...options, settings };
  });

  it("[D147] ends access on a security event, with the guide's parser", async () => {
    const { body } = await host.exchange(partner.sign());
    expect((await host.apiMe(body['access_token'])).status).toBe(200);
    const now = Math.floor(Date.now() / 1000);
    const subject = { ...transmitter.user(String(partner.claims()['sub'])), iss: partner.issuer };
    const answer = await host.post(EVENTS_PATH, transmitter.token('sessions-revoked', now, subject), {
      'content-type': 'application/secevent+jwt',
      authorization: `Bearer ${transmitter.secret}`,
    });
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect((await host.apiMe(body['access_token'])).status).toBe(401);
  });
});
