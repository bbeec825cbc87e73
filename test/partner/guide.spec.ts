// What the documents for partners print: programs and commands, typed as they stand against an instance that `init` has made.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { freePort } from '../../demo/free-port.js';
import { ServiceProcess, runAdmin } from '../../demo/service-process.js';
import { describeBuilt } from '../support/built-service.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

// Each command is a process of its own, where others keep the machine busy.
jest.setTimeout(300_000);

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  const { text } = repositoryFile(`docs/${page}`);
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }));
}

const textsOf = (page: string, language: string) =>
  blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text);

/** What a page prints as JSON, in the shape that it has. */
const shapesOf = (page: string) =>
  textsOf(page, 'json').map((text) => Object.keys(JSON.parse(text) as object).sort());

/** A folder as `init` leaves it, with the command and the library that the pages use. */
class Instance {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-guide-'));
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

  async start(): Promise<void> {
    const modules = join(this.folder, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(join(REPOSITORY, 'node_modules', 'jose'), join(modules, 'jose'));
    const command = join(modules, '.bin', 'svc-admin');
    writeFileSync(command, `#!/bin/sh\nexec node '${join(REPOSITORY, 'dist/src/cli/main.js')}' "$@"\n`);
    chmodSync(command, 0o755);
    this.port = await freePort();
    const init = ['init', '--yes', '--owner-email', 'owner@example.com', '--port', String(this.port)];
    await runAdmin(this.surroundings, init);
    this.letActors();
    this.service = await ServiceProcess.start(this.surroundings, `http://localhost:${this.port}`);
  }

  async end(): Promise<void> {
    await this.service?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes the programs of a page, types its commands one after the other, and returns what they print. */
  async typed(page: string): Promise<string> {
    for (const program of textsOf(page, 'js')) {
      const name = /^\/\/ (\S+\.mjs)\n/.exec(program)?.[1];
      if (name !== undefined) writeFileSync(join(this.folder, name), this.here(program));
    }
    const commands = textsOf(page, 'sh')
      .filter(isRun)
      .map((text) => this.here(text));
    const script = ['set -eu -o pipefail', ...commands].join('\n');
    const shell = spawn('bash', ['-c', script], {
      cwd: this.folder,
      env: this.surroundings.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    shell.stdout.setEncoding('utf8').on('data', (more: string) => (said.stdout += more));
    shell.stderr.setEncoding('utf8').on('data', (more: string) => (said.stderr += more));
    const [exitCode] = (await once(shell, 'close')) as [number | null];
    expect({ exitCode, stderr: said.stderr }).toEqual({ exitCode: 0, stderr: said.stderr });
    return said.stdout;
  }

  /** A token by the program of the guide. */
  tokenOf(customerAndLifetime: string): string {
    const program = `import { tokenFor } from './sign.mjs'; console.log(await tokenFor(${customerAndLifetime}))`;
    const args = ['--input-type=module', '--eval', program];
    return execFileSync(process.execPath, args, { cwd: this.folder, encoding: 'utf8' }).trim();
  }

  /** As the page on calling the API asks for. */
  private letActors(): void {
    const file = join(this.folder, 'instance', 'trusted-keys.json');
    const [entry] = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>[];
    writeFileSync(file, JSON.stringify([{ ...entry, actFor: ['https://partner.example'] }]));
  }

  /** The port of the pages may be taken. */
  private here(text: string): string {
    return text.replaceAll('localhost:5678', `localhost:${this.port}`);
  }
}

/** Commands for an instance of somebody else's cannot be. */
const isRun = (text: string) => !text.includes('instance.example');

function accessTokensIn(output: string): string[] {
  return [...output.matchAll(/"access_token":"([^"]+)"/g)].map(([, token = '']) => token);
}

describeBuilt('the documents for partners, typed as they stand,', () => {
  const instance = new Instance();
  beforeAll(() => instance.start());
  afterAll(() => instance.end());

  it('lead to a first exchange, a first login, and the cause of a refusal', async () => {
    const output = await instance.typed('partners.md');
    expect(textsOf('partners.md', 'sh').filter(isRun)).toHaveLength(4);
    expect(output).toContain('{"data":[],"nextCursor":null}\n');
    expect(output).toContain('"email":"customer-1@partner.example"');
    expect(output).toContain('{"error":"audience_mismatch","message":"Token audience does not match"}');
    const token = instance.tokenOf("{ id: 'c', email: 'c@partner.example', firstName: 'C' }, '60s'");
    const parts = [decodeProtectedHeader(token), decodeJwt(token)];
    expect(parts.map((part) => Object.keys(part).sort())).toEqual(shapesOf('partners.md'));
  });

  it('exchange tokens with and without an actor, and print the whole answer', async () => {
    const output = await instance.typed('calling-the-api.md');
    const [page = ''] = textsOf('calling-the-api.md', 'http');
    const [answer = ''] = /\{"access_token"[^}]*\}/.exec(output) ?? [];
    const keysOf = (text: string) => Object.keys(JSON.parse(text) as object);
    expect(keysOf(answer)).toEqual(keysOf(page.slice(page.indexOf('{'))));
    expect(output).toContain('{"data":[],"nextCursor":null}');
    expect(textsOf('calling-the-api.md', 'sh').every(isRun)).toBe(true);
    expect(output).toMatch(/"role":"project:editor"[^]*"name":"Shop"/);
    const [own = '', delegated = ''] = accessTokensIn(output);
    expect(decodeJwt(delegated)).toMatchObject({
      delegated_rights: 'both',
      act: { sub: expect.any(String) },
    });
    const parts = [decodeProtectedHeader(own), decodeJwt(own)];
    expect(parts.map((part) => Object.keys(part).sort())).toEqual(shapesOf('verifying-access-tokens.md'));
  });

  it('make a key, whose two halves have one thumbprint', async () => {
    const output = await instance.typed('partner-keys.md');
    expect(output).toMatch(/^([\w-]{43})\n\1\n$/);
  });
});
