// A partner's backend of examples/partners as a separate process, in any language.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../demo/free-port.js';
import { REPOSITORY } from '../../support/source-files.js';
import { until } from '../../support/until.js';

/** What the README of the examples promises of each. */
export const ISSUER = 'https://partner.example';
export const KEY_ID = 'conformance-1';
/** A virtual machine on a busy computer takes its time. */
const START_MS = 240_000;

/** A program that is there: its command, and the folder in which it is run. */
export interface RunnableProgram {
  readonly command: readonly [program: string, ...args: string[]];
  readonly folder: string;
  /** A key that was made elsewhere, as this program takes it; one of P-256 as PKCS #8 if left out. */
  readonly foreignKey?: () => string;
  /** It answers one request after the other. */
  readonly isSequential?: boolean;
}

export class PartnerProgram {
  private output = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
    readonly baseUrl: string,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  /**
   * Starts it for an instance that need not be there yet.
   * @param keyPem the key that it finds; without one it makes its own
   */
  static async start(
    { command, folder }: RunnableProgram,
    instanceUrl: string,
    keyPem?: string,
  ): Promise<PartnerProgram> {
    const directory = mkdtempSync(join(tmpdir(), 'partner-program-'));
    if (keyPem !== undefined) writeFileSync(join(directory, 'key.pem'), keyPem, { mode: 0o400 });
    const port = String(await freePort());
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: folder,
      // Its children end with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        PORT: port,
        PARTNER_ISSUER: ISSUER,
        INSTANCE_URL: instanceUrl,
        KEY_FILE: join(directory, 'key.pem'),
        KEY_ID,
        PAGE_DIR: join(REPOSITORY, 'examples', 'partners', 'page'),
      },
    });
    const partner = new PartnerProgram(child, directory, `http://localhost:${port}`);
    try {
      await until('the program answers', START_MS, () => partner.isUp());
      return partner;
    } catch (error) {
      await partner.stop();
      throw new Error(`it did not start:\n${partner.output}`, { cause: error });
    }
  }

  get keyFile(): string {
    return join(this.directory, 'key.pem');
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.baseUrl), init);
  }

  /** @throws Error with the program's output if the answer is not a successful JSON response */
  async json<T>(path: string): Promise<T> {
    const answer = await this.fetch(path);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}\n${this.output}`);
    return JSON.parse(text) as T;
  }

  async stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const exited = once(this.child, 'close');
      process.kill(-pid, 'SIGKILL');
      await exited;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async isUp(): Promise<boolean> {
    if (this.child.exitCode !== null || this.child.pid === undefined) throw new Error('it has ended');
    return this.fetch('/.well-known/jwks.json').then(
      ({ status }) => status === 200,
      () => false,
    );
  }
}
