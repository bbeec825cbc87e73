// Runs `check` of the packed client as a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Partner } from '../../../demo/partner.js';
import { CLIENT, installedClient } from './packed-client.js';

const COMMAND = 'embedded-token-exchange-partner';

export interface CheckedResult {
  readonly id: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly found?: string;
  readonly cause?: string;
  readonly remedy?: string;
  readonly reason?: string;
  readonly requestId?: string;
}

export interface Ran {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder where the client is installed as npm does it, with a partner's key. */
export class CheckFolder {
  readonly path = installedClient();

  constructor(partner: Partner) {
    const commands = join(this.path, 'node_modules', '.bin');
    const program = join(this.path, 'node_modules', CLIENT, 'dist', 'cli.js');
    mkdirSync(commands, { recursive: true });
    chmodSync(program, 0o755);
    // npm has created the link if it has installed a release file.
    rmSync(join(commands, COMMAND), { force: true });
    symlinkSync(program, join(commands, COMMAND));
    writeFileSync(join(this.path, 'package.json'), '{ "private": true }');
    writeFileSync(join(this.path, 'key.pem'), partner.privateKeyPem(), { mode: 0o600 });
  }

  /** @param certificate of an authority that the process trusts */
  run(args: readonly string[], certificate?: string): Promise<Ran> {
    return this.spawned([join(this.path, 'node_modules', '.bin', COMMAND), ...args], certificate);
  }

  /** Runs a script by `bash -e`, as GitHub does with a step. */
  script(text: string, environment: Readonly<Record<string, string>>, certificate?: string): Promise<Ran> {
    return this.spawned(['bash', '-e', '-c', text], certificate, environment);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  private async spawned(
    [program = '', ...args]: readonly string[],
    certificate: string | undefined,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Ran> {
    const authority = join(this.path, 'authority.pem');
    if (certificate !== undefined) writeFileSync(authority, certificate);
    const trust = certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority };
    const env = { PATH: process.env['PATH'], HOME: this.path, ...trust, ...environment };
    const child = spawn(program, args, { cwd: this.path, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (more: string) => (said.stdout += more));
    child.stderr.setEncoding('utf8').on('data', (more: string) => (said.stderr += more));
    const [exitCode] = (await once(child, 'close')) as [number | null];
    return { exitCode, ...said };
  }
}
