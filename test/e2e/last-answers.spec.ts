// The answer to a client that sends too much: it arrives, and the connection always ends.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectByTls } from 'node:tls';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { EMBED_PATH, EXCHANGE_PATH } from '../support/entry-paths.js';
import { makeSelfSignedCertificate } from '../support/self-signed-certificate.js';
import { BASE_URL, GRANT_TYPE, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;
const PATIENCE_MS = 60_000;
const TOGETHER = 8;
const FORM = 'application/x-www-form-urlencoded';
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];

interface Place {
  readonly host: string;
  readonly port: number;
}

const { cert, key } = makeSelfSignedCertificate('localhost');
const WAYS = [
  { way: 'HTTP', environment: {}, open: (place: Place): Socket => connect(place) },
  {
    way: 'HTTPS',
    environment: { SVC_SSL_CERT: cert, SVC_SSL_KEY: key },
    open: (place: Place): Socket => connectByTls({ ...place, ca: cert, servername: 'localhost' }),
  },
];

const postOf = (bytes: number, path = EMBED_PATH) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: ${bytes}\r\n\r\n`;

function sentWhole(socket: Socket, head: string, body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.write(head);
    socket.write(body, () => resolve());
  });
}

/** Waits for the first answer. @returns its status line; empty if there is none */
async function answered(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (part: Buffer) => (text += part.toString('latin1')));
  await until(
    'an answer',
    PATIENCE_MS,
    () => text.includes('\r\n') || socket.readableEnded || socket.destroyed,
  );
  return text.split('\r\n', 1)[0] ?? '';
}

describeOnAnyDatabase('[D124][D20] a client that sends all of its body before it reads', (database) => {
  describe.each(WAYS)('by $way', ({ environment, open }) => {
    const limits = {
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000',
      SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000',
    };
    const service = TestService.forBlock(database, {
      trustedKeys,
      environment: { ...limits, ...environment },
    });
    /** The status line, or the code of the error by which it was lost. */
    const outcome = async (path: string, bytes: number): Promise<string> => {
      const { hostname: host, port } = new URL(service.address);
      const socket = open({ host, port: Number(port) });
      try {
        await sentWhole(socket, postOf(bytes, path), Buffer.alloc(bytes, 'a'));
        return await answered(socket);
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? String(error);
      } finally {
        socket.destroy();
      }
    };

    it.each([EXCHANGE_PATH, EMBED_PATH])('is answered 413 at %s', async (path) => {
      for (const bytes of [MIB, 5 * MIB, 10 * MIB]) {
        const outcomes = await Promise.all(Array.from({ length: TOGETHER }, () => outcome(path, bytes)));
        expect(outcomes).toEqual(Array.from({ length: TOGETHER }, () => 'HTTP/1.1 413 Payload Too Large'));
      }
    });
  });
});

describeOnAnyDatabase('[D124] a client that does not end its request, or continues sending', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  beforeAll(() => {
    service.server.headersTimeout = service.server.requestTimeout = 2_000;
  });
  const send = (text: string): Socket => {
    const { hostname, port } = new URL(service.address);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.write(text);
    return socket;
  };
  const stubborn = async (socket: Socket): Promise<void> => {
    while (!socket.destroyed) {
      socket.write('x');
      await pause(100);
    }
  };

  it('is answered and disconnected', async () => {
    const refused: [what: string, sent: string, status: number][] = [
      ['what is not HTTP', 'HTTP, please\r\n\r\n', 400],
      ['headers that are too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(65 * 1024)}\r\n\r\n`, 431],
      ['headers that do not end', 'GET / HTTP/1.1\r\n', 408],
      ['a body that does not end', `${postOf(4)}a`, 408],
      ['a body that is too large and does not end', postOf(400_000) + 'a'.repeat(100 * 1024), 413],
    ];
    await Promise.all(
      refused.map(async ([what, sent, status]) => {
        const socket = send(sent);
        expect([what, await answered(socket)]).toEqual([what, expect.stringContaining(` ${status} `)]);
        await stubborn(socket);
      }),
    );
  });

  it('is answered 413 if it asks first, and its next request is answered after the whole body', async () => {
    const body = 'a'.repeat(MIB);
    const asking = postOf(MIB).replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n');
    const socket = send(asking);
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    await until('it may send', PATIENCE_MS, () => text.startsWith('HTTP/1.1 100 Continue'));
    socket.write(body);
    await until('413', PATIENCE_MS, () => text.includes('HTTP/1.1 413 Payload Too Large'));
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('200', PATIENCE_MS, () => text.includes('HTTP/1.1 200 OK'));
    socket.destroy();
  });

  it('causes nothing by what it sends after a 408', async () => {
    const token = partner.sign();
    const form = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: token }).toString();
    const socket = send(postOf(form.length, EXCHANGE_PATH) + form.slice(0, -1));
    expect(await answered(socket)).toContain(' 408 ');
    socket.end(form.slice(-1));
    await once(socket, 'close');
    expect((await service.exchange({ subject_token: token })).status).toBe(200);
  });
});
