// Connections for fetches: when the address policy is asked, for which address, and that a refused server receives nothing.
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { guardedConnector } from '../../../../src/platform/http/guarded-connector.js';
import { AddressRefusedError } from '../../../../src/platform/http/network-address.js';

describe('a guarded connection', () => {
  let server: Server;
  const sockets: Socket[] = [];
  let received: Buffer[];
  let accepted: Promise<unknown[]>;

  beforeEach(async () => {
    received = [];
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('data', (chunk: Buffer) => received.push(chunk));
    });
    accepted = once(server, 'connection');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.close();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  const connect = (hostname: string, allows: (address: string) => boolean) => {
    const port = String((server.address() as AddressInfo).port);
    return new Promise<Socket>((resolve, reject) => {
      guardedConnector({ allows }, 1_000)({ hostname, protocol: 'http:', port }, (error, socket) =>
        error === null ? resolve(socket) : reject(error),
      );
    });
  };

  it.each(['127.0.0.1', 'localhost'])('[D33] to %s is opened if each check allows it', async (hostname) => {
    const asked: string[] = [];
    const socket = await connect(hostname, (address) => asked.push(address) > 0);
    expect(asked.at(-1)).toBe('127.0.0.1');
    expect(asked.length).toBeGreaterThan(1);
    socket.destroy();
  });

  it('[D33] is closed without sending a byte if the socket is connected to another address', async () => {
    // The first answer allows the address in the URL. Afterwards a name server may return another address.
    let questions = 0;
    await expect(connect('127.0.0.1', () => questions++ === 0)).rejects.toThrow(AddressRefusedError);
    const [accepting] = (await accepted) as [Socket];
    if (!accepting.closed) await once(accepting, 'close');
    expect(questions).toBe(2);
    expect(received).toEqual([]);
  });

  it('[D33] uses only the allowed addresses of a name', async () => {
    const socket = await connect('localhost', (address) => address === '127.0.0.1');
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
    await expect(connect('localhost', () => false)).rejects.toThrow(
      /^the address (127\.0\.0\.1|::1) is not public/,
    );
  });

  it('[D33] to an unknown name fails with a system error', async () => {
    await expect(connect('nowhere.invalid', () => true)).rejects.toMatchObject({
      code: expect.stringMatching(/^E/),
    });
  });
});
