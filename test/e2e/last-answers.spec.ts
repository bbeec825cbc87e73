// The last answer of a connection: it arrives whatever its client still sends, and the connection ends whatever its client does.
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

const MIB = 1024 * 1024;
const LINGER_MS = 10_000;
const PATIENCE_MS = 60_000;
const TOGETHER = 8;
const FORM = 'application/x-www-form-urlencoded';
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];

jest.setTimeout(3 * PATIENCE_MS);

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

/** The status line of what it is told before the service ends its half; empty where it is told nothing. */
async function answered(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  if (!socket.destroyed) await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return Buffer.concat(parts).toString().split('\r\n', 1)[0] ?? '';
}

describeOnAnyDatabase('[D124][D20] a client that sends all of its body before it reads', (database) => {
  describe.each(WAYS)('by $way', ({ environment, open }) => {
    let service: TestService;
    beforeAll(async () => {
      const limits = {
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000',
        SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000',
      };
      service = await TestService.start(database, {
        trustedKeys,
        environment: { ...limits, ...environment },
      });
    });
    afterAll(() => service?.stop());

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

describeOnAnyDatabase('[D124] a client that does not end its half of the connection', (database) => {
  let service: TestService;
  beforeAll(async () => {
    const environment = { SVC_REQUEST_TIMEOUT_SECONDS: '1' };
    service = await TestService.start(database, { trustedKeys, environment });
  });
  afterAll(() => service?.stop());

  /** It has sent this, and goes on until it says so. */
  const stubborn = (text: string): Socket => {
    const { hostname, port } = new URL(service.address);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.write(text);
    return socket;
  };
  /** How long the service bears it after its answer. */
  const borneMs = async (socket: Socket): Promise<number> => {
    const startedAt = performance.now();
    const passedMs = () => performance.now() - startedAt;
    while (!socket.destroyed && passedMs() < PATIENCE_MS) {
      socket.write('x');
      await pause(100);
    }
    return passedMs();
  };

  it('is answered, and cut off when ten seconds are over', async () => {
    const refused: [what: string, sent: string, status: number][] = [
      ['what is not HTTP', 'HTTP, please\r\n\r\n', 400],
      ['headers that are too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(65 * 1024)}\r\n\r\n`, 431],
      ['too many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'x: 1\r\n'.repeat(250)}\r\n`, 431],
      ['headers that do not end', 'GET / HTTP/1.1\r\n', 408],
      ['a body that does not end', `${postOf(4)}a`, 408],
      ['a body that is too large and does not end', postOf(400_000) + 'a'.repeat(100 * 1024), 413],
    ];
    await Promise.all(
      refused.map(async ([what, sent, status]) => {
        const socket = stubborn(sent);
        expect([what, await answered(socket)]).toEqual([what, expect.stringContaining(` ${status} `)]);
        const tookMs = await borneMs(socket);
        // At once would have cost others their answer.
        expect([what, tookMs > LINGER_MS - 1_000, tookMs < PATIENCE_MS]).toEqual([what, true, true]);
      }),
    );
  });

  it('is cut off before it has sent all of what nobody reads', async () => {
    const socket = stubborn(postOf(1024 * MIB));
    const block = Buffer.alloc(MIB, 'a');
    const cutOff = new Promise((resolve) => socket.once('close', resolve));
    const drained = () => new Promise((resolve) => socket.once('drain', resolve));
    let sent = 0;
    while (!socket.destroyed && sent < 512 * MIB) {
      sent += block.length;
      if (!socket.write(block)) await Promise.race([drained(), cutOff]);
    }
    // What the system holds of it on the way comes on top of the 16 MiB.
    expect(sent).toBeLessThan(64 * MIB);
  });

  it('has nothing worked for that comes after a 408, of which it could not be told', async () => {
    const token = partner.sign();
    const form = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: token }).toString();
    const socket = stubborn(postOf(form.length, EXCHANGE_PATH) + form.slice(0, -1));
    expect(await answered(socket)).toContain(' 408 ');
    socket.end(form.slice(-1));
    await once(socket, 'close');
    expect((await service.exchange({ subject_token: token })).status).toBe(200);
  });
});
