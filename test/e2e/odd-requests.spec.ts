// Hundreds of requests that nobody should send: none is answered with a fault, and no 404 tells what was asked for.
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ODD_BYTES, ODD_PATHS, oddRequests } from '../support/odd-requests.js';
import type { RawRequest } from '../support/raw-http.js';
import { sendAndLeave, sendBytes, sendRaw } from '../support/raw-http.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
/** At once; more would only wait for each other. */
const BATCH = 20;

describeOnAnyDatabase('[D23] odd requests', (database) => {
  const environment = { SVC_LOG_LEVEL: 'debug' };
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()], environment });

  it('[D42] nothing that a client sends makes a 5xx, an error in the log, or a hanging connection', async () => {
    const requests = oddRequests();
    expect(requests.length).toBeGreaterThan(400);
    const bad: unknown[] = [];
    for (let start = 0; start < requests.length; start += BATCH) {
      const answered = requests.slice(start, start + BATCH).map(async (request) => {
        const startedAt = Date.now();
        const answer = await sendRaw(service.address, request);
        const isSlow = Date.now() - startedAt > 5_000;
        if (answer === undefined || answer.status >= 500 || isSlow)
          bad.push(described(request, answer?.status));
      });
      await Promise.all(answered);
    }
    expect(bad).toEqual([]);
    expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  it('[D42] what is no HTTP at all is refused with a 4xx, or the connection is closed', async () => {
    for (const text of ODD_BYTES) {
      const answer = await sendBytes(service.address, Buffer.from(text, 'latin1'));
      expect([text.slice(0, 60), answer?.status ?? 400]).toEqual([text.slice(0, 60), expectedStatus]);
    }
    expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  it('[D23] every 404 has the same bytes for every request', async () => {
    const unknown = await sendRaw(service.address, { target: '/unknown' });
    expect(unknown).toMatchObject({
      status: 404,
      headers: { 'content-type': expect.stringMatching(/json/) },
    });
    const found: unknown[] = [];
    for (const target of ODD_PATHS) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const answer = await sendRaw(service.address, { method, target });
        if (answer?.status === 405 && isAsset(target)) continue;
        if (answer?.status === 404 && answer.body === unknown?.body) continue;
        found.push([method, target.slice(0, 60), answer?.status, answer?.body]);
      }
    }
    expect(found).toEqual([]);
  });

  it('[D23] no answer and no log line holds what an odd address said', async () => {
    const marker = 'Zq7marker';
    const logged = service.log.length;
    for (const target of [
      `/${marker}`,
      `/%zz${marker}`,
      `/rest/auth/embed?token=${marker}`,
      `/rest/${marker}/%ff`,
    ]) {
      const answer = await sendRaw(service.address, {
        target,
        headers: { 'user-agent': marker, referer: marker },
      });
      expect(JSON.stringify(answer)).not.toContain(marker);
    }
    expect(JSON.stringify(service.log.slice(logged))).not.toContain(marker);
  });

  it('[D42] a client that goes away in the middle of its body is no fault of the service', async () => {
    const head =
      'HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\n';
    for (const path of ['/rest/auth/embed', '/rest/auth/oauth/token', '/rest/auth/logout']) {
      await sendAndLeave(service.address, `POST ${path} ${head}token=half`);
    }
    // A request that comes later is answered later.
    await pause(200);
    expect((await service.fetch('/healthz')).status).toBe(200);
    const lines = service.log.filter(({ level, status }) => level === 'error' || Number(status) >= 500);
    expect(lines).toEqual([]);
  });

  it('[4.1] after all that the service works as before', async () => {
    expect((await service.embed({ token: partner.sign() })).status).toBe(303);
    expect((await service.exchange({ subject_token: partner.sign() })).status).toBe(200);
  });
});

/** 200 for a request that is merely old-fashioned. */
const expectedStatus: unknown = {
  asymmetricMatch: (status: unknown) => status === 200 || (Number(status) >= 400 && Number(status) < 500),
  toString: () => 'AClientError',
};

/** Of an asset the name may be unknown, which GET answers; other methods are wrong whatever the name is. */
function isAsset(target: string): boolean {
  return /^\/assets\/[^/]+\/[^/]+$/.test(target);
}

function described({ method, target, headers, body = '' }: RawRequest, status: number | undefined): unknown {
  const shown = JSON.stringify(headers ?? {}).slice(0, 80);
  return [
    status ?? 'no answer',
    method ?? 'GET',
    target.slice(0, 60),
    shown,
    Buffer.from(body).toString().slice(0, 60),
  ];
}
