// How the command socket is made, replaced and removed.
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
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  CommandSocket,
  CommandSocketError,
  commandSocketPath,
  obstacleTo,
} from '../../../../src/administration/socket/command-socket.js';
import { answerOn, connectTo } from '../../../support/command-socket.js';

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

  /** A server that says its name to whoever connects. */
  const serverNamed = (name: string) => {
    const server = createServer((connection) => connection.end(`{"name":"${name}"}\n`));
    servers.push(server);
    return server;
  };
  const nameAt = async (path: string) => (await answerOn(await connectTo(path)))[0]?.['name'];
  const modeOf = (path: string) => lstatSync(path).mode & 0o7777;

  it('[D46] is in a folder of the data directory, whatever the umask; both are for their owner alone', async () => {
    const before = process.umask(0);
    const path = commandSocketPath(directory);
    await CommandSocket.listen(serverNamed('a'), path);
    expect(process.umask(before)).toBe(0);
    expect(path).toBe(join(directory, 'admin', 'socket'));
    expect([modeOf(dirname(path)), modeOf(path)]).toEqual([0o700, 0o600]);
    expect(await nameAt(path)).toBe('a');
  });

  it('[D46] takes the rights of others from a folder that is there already', async () => {
    const path = commandSocketPath(directory);
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o777);
    await CommandSocket.listen(serverNamed('a'), path);
    expect(modeOf(dirname(path))).toBe(0o700);
  });

  it('[D46] replaces what killed processes have left, also half made; other files stay', async () => {
    const path = commandSocketPath(directory);
    mkdirSync(dirname(path));
    writeFileSync(join(dirname(path), 'note'), 'of the operator');
    for (const left of [path, join(dirname(path), 'a1b2c3')])
      await new Promise<void>((resolve) => serverNamed('dead').listen(left, resolve));
    await CommandSocket.listen(serverNamed('living'), path);
    expect(await nameAt(path)).toBe('living');
    expect(readdirSync(dirname(path)).sort()).toEqual(['note', 'socket']);
  });

  it('[D46] is removed at the end, unless it is that of another by then', async () => {
    const path = commandSocketPath(directory);
    const [first, second] = [serverNamed('first'), serverNamed('second')];
    const firstSocket = await CommandSocket.listen(first, path);
    const secondSocket = await CommandSocket.listen(second, path);
    firstSocket.remove();
    await new Promise((resolve) => first.close(resolve));
    expect(await nameAt(path)).toBe('second');
    secondSocket.remove();
    secondSocket.remove();
    expect(existsSync(path)).toBe(false);
  });

  it('[D46] has a path of 100 bytes at most, by all that stands before it; more is told with what to do', async () => {
    const ofBytes = (bytes: number) =>
      `/${'ü'.repeat(40)}/${'x'.repeat(bytes - 82 - '/admin/socket'.length)}`;
    expect(Buffer.byteLength(commandSocketPath(ofBytes(100)))).toBe(100);
    expect(Buffer.byteLength(ofBytes(100))).toBe(87);
    expect(obstacleTo(commandSocketPath(ofBytes(100)))).toBeUndefined();
    expect(obstacleTo(commandSocketPath(ofBytes(101)))).toMatch(
      / has 101 bytes; 100 are the most\. .*SVC_DATA_DIR/,
    );
    const long = commandSocketPath(join(directory, 'x'.repeat(100)));
    await expect(CommandSocket.listen(serverNamed('a'), long)).rejects.toThrow(CommandSocketError);
    expect(existsSync(dirname(long))).toBe(false);
  });

  it('[D46] can be had at the longest path', async () => {
    const path = commandSocketPath(
      join(directory, 'x'.repeat(100 - directory.length - '//admin/socket'.length)),
    );
    expect(Buffer.byteLength(path)).toBe(100);
    mkdirSync(dirname(dirname(path)));
    await CommandSocket.listen(serverNamed('a'), path);
    expect(await nameAt(path)).toBe('a');
  });

  it('[D46] is not made where its folder is a file, or leads elsewhere', async () => {
    const path = commandSocketPath(directory);
    writeFileSync(dirname(path), '');
    await expect(CommandSocket.listen(serverNamed('a'), path)).rejects.toThrow(/EEXIST/);
    rmSync(dirname(path));
    const elsewhere = join(directory, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, dirname(path));
    await expect(CommandSocket.listen(serverNamed('a'), path)).rejects.toThrow(
      /not a folder of the service's own/,
    );
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
