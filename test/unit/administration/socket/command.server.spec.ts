// How the command socket is made, replaced and removed.
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:net';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CommandError } from '../../../../src/administration/operation.js';
import { commandSocketPath, obstacleTo } from '../../../../src/administration/socket/command.client.js';
import { listenOnSocket } from '../../../../src/administration/socket/command.server.js';

describe('[D46] the command socket', () => {
  const servers: Server[] = [];
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-test-socket-'));
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    rmSync(directory, { recursive: true });
  });

  /** A server that says its name to each client. */
  const serverNamed = (name: string) => {
    const server = createServer((connection) => connection.end(name));
    servers.push(server);
    return server;
  };
  const nameAt = (path: string) => text(createConnection(path));
  const modeOf = (path: string) => lstatSync(path).mode & 0o7777;

  it('[D46] is created in a folder of the data directory, and only its owner can open it whatever the umask', async () => {
    const before = process.umask(0);
    const path = commandSocketPath(directory);
    await listenOnSocket(serverNamed('a'), path).finally(() => process.umask(before));
    expect(path).toBe(join(directory, 'admin', 'socket'));
    expect([modeOf(dirname(path)), modeOf(path)]).toEqual([0o700, 0o600]);
    expect(await nameAt(path)).toBe('a');
  });

  it("[D46] removes other users' permissions from an existing folder", async () => {
    const path = commandSocketPath(directory);
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o777);
    await listenOnSocket(serverNamed('a'), path);
    expect(modeOf(dirname(path))).toBe(0o700);
  });

  it('[D46] replaces the socket of a killed process, is removed when the server stops, and leaves other files alone', async () => {
    const path = commandSocketPath(directory);
    mkdirSync(dirname(path));
    writeFileSync(join(dirname(path), 'note'), 'of the operator');
    const dead = serverNamed('dead').listen(path);
    await once(dead, 'listening');
    const living = serverNamed('living');
    await listenOnSocket(living, path);
    expect(await nameAt(path)).toBe('living');
    await new Promise((resolve) => living.close(resolve));
    expect(readdirSync(dirname(path))).toEqual(['note']);
  });

  it('[D46] fails if its path exceeds 100 bytes, and the error says what to do', async () => {
    const pathOf = (bytes: number) =>
      commandSocketPath(join(directory, 'x'.repeat(bytes - directory.length - '//admin/socket'.length)));
    expect(Buffer.byteLength(pathOf(100))).toBe(100);
    await listenOnSocket(serverNamed('a'), pathOf(100));
    expect(await nameAt(pathOf(100))).toBe('a');
    expect(obstacleTo(pathOf(101))).toMatch(/ has 101 bytes; 100 are the most\. .*SVC_DATA_DIR/);
    await expect(listenOnSocket(serverNamed('a'), pathOf(101))).rejects.toThrow(CommandError);
    expect(existsSync(dirname(pathOf(101)))).toBe(false);
  });

  it('[D46] is not created if its folder is a file or a symbolic link', async () => {
    const path = commandSocketPath(directory);
    writeFileSync(dirname(path), '');
    await expect(listenOnSocket(serverNamed('a'), path)).rejects.toThrow(/EEXIST/);
    rmSync(dirname(path));
    const elsewhere = join(directory, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, dirname(path));
    await expect(listenOnSocket(serverNamed('a'), path)).rejects.toThrow(/not a folder of the service's own/);
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
