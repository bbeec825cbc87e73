// `npx embedded-token-exchange` as a process: an empty folder becomes an instance, which the same line starts again.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import { describeBuilt } from '../support/built-service.js';
import { REPOSITORY } from '../support/source-files.js';
import { until } from '../support/until.js';

const PROGRAM = join(REPOSITORY, 'dist', 'src', 'start.js');
const PATIENCE_MS = 100_000;

describeBuilt('the program of the npm package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'first-start-'));
  let running: ChildProcess | undefined;
  afterAll(() => {
    running?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** Waits until the service is ready. @returns its output */
  const started = async (port: number, args: string[] = [], settings: Record<string, string> = {}) => {
    const env = { PATH: process.env['PATH'], ...settings };
    const child = (running = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env }));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    let isClosed = false;
    child.once('close', () => (isClosed = true));
    const address = `http://localhost:${port}/healthz/readiness`;
    const isReady = () =>
      fetch(address).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('it is ready', PATIENCE_MS, async () => isClosed || isReady());
    return output;
  };
  const stopped = async () => {
    running?.kill();
    if (running?.exitCode === null) await once(running, 'exit');
    return running?.exitCode;
  };

  it('sets an instance up in an empty folder and starts it, then starts what is there', async () => {
    const port = await freePort();
    const line = ['--yes', '--owner-email', 'owner@b.example', '--port', String(port)];
    expect(await started(port, line)).toContain('created   owner ');
    expect(await stopped()).toBe(0);
    const settings = readFileSync(join(folder, '.env'), 'utf8');
    expect(await started(port, line)).toContain('nothing was changed');
    expect(await stopped()).toBe(0);
    expect(await started(port)).not.toMatch(/created|changed/);
    expect(await stopped()).toBe(0);
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(settings);
  }, 300_000);

  it('[D45] says in one line, with another sealing key, which one is missing and what to do', async () => {
    const output = await started(0, [], { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
    expect(running?.exitCode).toBe(1);
    const line = output.slice(output.lastIndexOf('}\n') + 2);
    expect(line).toMatch(
      /^no key of SVC_ENCRYPTION_KEY has the id [\da-f]{16}: put the key that sealed .*\n$/,
    );
  });

  it('ends where init refuses', async () => {
    const output = await started(0, ['--yes', '--owner-email', 'nobody', '--dir', 'other']);
    expect(output).toContain('must be an e-mail address');
    expect(running?.exitCode).toBe(2);
  });
});
