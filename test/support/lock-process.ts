// Processes of their own that take and release the service's own lock of a data directory on command.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformFileSync } from '@swc/core';
import { REPOSITORY } from './source-files.js';

/** The lock with all of the project that it imports: no compiler need run in the process. */
const MODULES = ['database/embedded/data-directory.lock', 'start-error'];

const PROGRAM = `
  const { DataDirectoryLock, DataDirectoryLockedError } = require('./database/embedded/data-directory.lock.js');
  let lock;
  const take = (directory) => {
    try {
      lock = DataDirectoryLock.take(directory);
      return 'held';
    } catch (error) {
      if (error instanceof DataDirectoryLockedError) return 'refused';
      throw error;
    }
  };
  const release = () => {
    lock?.release();
    lock = undefined;
    return 'released';
  };
  process.on('message', ({ directory }) => process.send(directory === undefined ? release() : take(directory)));
  process.on('disconnect', () => process.exit());
  process.send('ready');`;

export type Taken = 'held' | 'refused';

/** One plain Node process, which lives until it is killed. It has one lock at a time. */
export class LockProcess {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<LockProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-lock-'));
    mkdirSync(join(folder, 'database/embedded'), { recursive: true });
    for (const name of MODULES) writeFileSync(join(folder, `${name}.js`), plain(name));
    const child = spawn(process.execPath, ['-e', PROGRAM], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const started = new LockProcess(child);
    await started.answer();
    rmSync(folder, { recursive: true });
    return started;
  }

  get processId(): number | undefined {
    return this.child.pid;
  }

  take(directory: string): Promise<Taken> {
    return this.ask({ directory }) as Promise<Taken>;
  }

  async release(): Promise<void> {
    await this.ask({});
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  private async ask(command: { directory?: string }): Promise<unknown> {
    const answer = this.answer();
    this.child.send(command);
    return answer;
  }

  /** @throws Error when the process ends instead */
  private async answer(): Promise<unknown> {
    const ended = new AbortController();
    const end = once(this.child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('the process of the lock has ended');
    });
    end.catch(() => undefined);
    const [answer] = (await Promise.race([once(this.child, 'message'), end])) as [unknown];
    ended.abort();
    return answer;
  }
}

function plain(name: string): string {
  return transformFileSync(join(REPOSITORY, 'src', 'platform', `${name}.ts`), {
    module: { type: 'commonjs' },
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  }).code;
}
