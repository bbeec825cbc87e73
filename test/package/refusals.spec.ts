// What the package refuses, alike on Express and Fastify, and that its host's other routes never notice it.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Partner } from '../../demo/partner.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import type { Answer } from './support/host-process.js';
import { BASE_URL, HostProcess, KINDS, exchangeForm, newPartner, optionsOf } from './support/host-process.js';
import { sendBytes } from '../support/raw-http.js';
import { until } from '../support/until.js';

const TOKEN_PATH = '/rest/auth/oauth/token';
const EMBED_PATH = '/rest/auth/embed';
const LIMIT_BYTES = 256 * 1024;

describeOnEmptyDatabase.each(KINDS.slice(0, 2), (kind, database) => {
  const partner = newPartner();
  const sealingKey = randomBytes(32).toString('base64');
  const options = () => optionsOf(partner, { ...kind, sealingKey, databaseUrl: database().url });
  const host = HostProcess.forBlock(options);

  const form = () => exchangeForm(partner.sign());
  const error = ({ status, body }: Answer) => [status, body['error']];

  it.each([
    ['another media type', 'application/json', () => JSON.stringify({ subject_token: partner.sign() })],
    ['multipart', 'multipart/form-data; boundary=b', () => '--b--'],
    ['another charset', 'application/x-www-form-urlencoded; charset=windows-1252', form],
    ['no media type', '', form],
  ])('refuses %s', async (_, type, body) => {
    const bytes = Buffer.from(body());
    // As bytes, for which fetch adds no media type of its own.
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    const answer = await host.call(TOKEN_PATH, { method: 'POST', body: bytes, headers });
    expect(error(answer)).toEqual([415, 'invalid_request']);
  });

  it('refuses a body that is compressed', async () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-encoding': 'gzip',
    };
    const answer = await host.call(TOKEN_PATH, { method: 'POST', body: gzipSync(form()), headers });
    expect(error(answer)).toEqual([415, 'invalid_request']);
    expect(answer.headers.get('accept-encoding')).toBe('identity');
  });

  it.each([
    [
      'a field that is given twice',
      () => `${form()}&subject_token=again`,
      'subject_token must not be given more than once',
    ],
    ['a broken escape', () => `${form()}&scope=%zz`, 'scope is not valid form encoding'],
    ['bytes that are no UTF-8', () => `${form()}&scope=%ff`, 'scope is not valid form encoding'],
    ['an empty body', () => '', undefined],
  ])('refuses %s', async (_, body, description) => {
    const answer = await host.post(TOKEN_PATH, body());
    expect(answer.status).toBe(400);
    if (description !== undefined)
      expect(answer.body).toMatchObject({ error: 'invalid_request', error_description: description });
  });

  it.each([TOKEN_PATH, EMBED_PATH])('refuses a body over 256 KiB at %s, declared or not', async (path) => {
    const body = `${form()}&padding=${'x'.repeat(LIMIT_BYTES)}`;
    expect((await host.post(path, body)).status).toBe(413);
    const head = `POST ${path} HTTP/1.1\r\nHost: product.example\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n`;
    const type = 'Content-Type: application/x-www-form-urlencoded\r\n\r\n';
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const chunked = await sendBytes(host.url, Buffer.from(head + type + chunk));
    expect(chunked?.status).toBe(413);
  });

  it('takes a body of 256 KiB to the byte', async () => {
    const start = `${form()}&padding=`;
    expect((await host.post(TOKEN_PATH, start + 'x'.repeat(LIMIT_BYTES - start.length))).status).toBe(200);
  });

  it('refuses another audience by the same words as every bad token, and notifies the host why', async () => {
    const answer = await host.exchange(partner.sign(partner.claims({ aud: 'https://other.example' })));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Token exchange failed' },
    });
    const id = answer.headers.get('x-request-id');
    const told = () => host.events.filter(({ requestId }) => requestId === id);
    await until('the host is told', 5_000, () => told().length > 0);
    expect(told()).toMatchObject([
      { name: 'svc.audit.token-exchange.failed', payload: { reason: 'audience_mismatch' } },
    ]);
    const login = await host.login(partner.sign(partner.claims({ aud: 'https://other.example' })));
    expect(error(login)).toEqual([401, 'audience_mismatch']);
  });

  it('has no token endpoint for GET', async () => {
    expect((await host.call(TOKEN_PATH)).status).toBe(404);
  });

  it('refuses a client that comes too often, with the word when to come again, and counts by entries that have a limit', async () => {
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

  it('puts nothing of a token into the log of its host', () => {
    expect(host.output).not.toContain('eyJ');
    expect(host.output).not.toContain('customer-1@partner.example');
  });
});
