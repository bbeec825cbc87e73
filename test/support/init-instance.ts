// A folder as `init` leaves it, with the command and the library that documents use, and the service that runs there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import { runAdmin, ServiceProcess } from '../../demo/service-process.js';
import { REPOSITORY, repositoryFile } from './source-files.js';

/** The output of a shell. */
export interface Typed {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The texts of the fenced blocks of a document, of one language, without the blanks before them in a list. */
export function blocksOf(path: string, language: string): string[] {
  const blocks = repositoryFile(path).text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```/gm);
  return [...blocks]
    .filter(([, , name]) => name === language)
    .map(([, indent = '', , text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** Call `start` before the tests and `end` after them. */
export class InitInstance {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-init-'));
  private readonly surroundings = {
    packageRoot: REPOSITORY,
    directory: this.folder,
    environment: {
      PATH: process.env['PATH'],
      HOME: this.folder,
      SVC_METRICS_PORT: '0',
      npm_config_offline: 'true',
    },
  };
  private service?: ServiceProcess;
  private port = 0;

  /**
   * @param options of `init`
   * @param policy properties that are added to the partner's entry from `init`
   */
  async start(options: readonly string[] = [], policy: object = {}): Promise<void> {
    const modules = join(this.folder, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(join(REPOSITORY, 'node_modules', 'jose'), join(modules, 'jose'));
    const command = join(modules, '.bin', 'svc-admin');
    writeFileSync(command, `#!/bin/sh\nexec node '${join(REPOSITORY, 'dist/src/cli/svc-admin.js')}' "$@"\n`);
    chmodSync(command, 0o755);
    this.port = await freePort();
    const usual = ['init', '--yes', '--owner-email', 'owner@example.com', '--port', String(this.port)];
    await runAdmin(this.surroundings, [...usual, ...options]);
    const file = join(this.folder, 'instance', 'trusted-keys.json');
    const [entry] = JSON.parse(readFileSync(file, 'utf8')) as object[];
    writeFileSync(file, JSON.stringify([{ ...entry, ...policy }]));
    this.service = await ServiceProcess.start(this.surroundings, this.baseUrl);
  }

  async end(): Promise<void> {
    await this.service?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get baseUrl(): string {
    return `http://localhost:${this.port}`;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), this.here(text));
  }

  /** Types a script into a shell that stops at the first command which fails. */
  async type(script: string): Promise<Typed> {
    const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', this.here(script)], {
      cwd: this.folder,
      env: this.surroundings.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    shell.stdout.setEncoding('utf8').on('data', (more: string) => (said.stdout += more));
    shell.stderr.setEncoding('utf8').on('data', (more: string) => (said.stderr += more));
    const [exitCode] = (await once(shell, 'close')) as [number | null];
    return { exitCode, ...said };
  }

  /** The port of the documents may be taken. */
  private here(text: string): string {
    return text.replaceAll('localhost:5678', `localhost:${this.port}`);
  }
}
