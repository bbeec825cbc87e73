// A host as a separate process, in plain Node.js. Its output tells the test what happens.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { Partner } from '../../../demo/partner.js';
import type { AuditEvent } from '../../../src/token-exchange/audit/audit-trail.js';
import { until } from '../../support/until.js';
import type { HostOptions } from '../host/options.js';
import type { Installation } from './packed-package.js';
import { preparedInstallation } from './packed-package.js';

const PATIENCE_MS = 60_000;
const EXCHANGE = '/rest/auth/oauth/token';
const LOGIN = '/rest/auth/embed';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const FORM = 'application/x-www-form-urlencoded';

/** Differs from the address that the host listens on, which is unknown before the start. */
export const BASE_URL = 'https://product.example';

/** What differs from host to host; the rest is the same for all. */
export type Wishes = Partial<HostOptions> & Pick<HostOptions, 'server' | 'parts' | 'databaseUrl'>;

export type Kind = Pick<HostOptions, 'server' | 'parts'>;

/** Each server with each kind of parts. */
export const KINDS: readonly Kind[] = [
  { server: 'express', parts: 'own' },
  { server: 'fastify', parts: 'defaults' },
  { server: 'express', parts: 'defaults' },
  { server: 'fastify', parts: 'own' },
];

/** Both servers. */
export const ofParts = (parts: Kind['parts']) => KINDS.filter((kind) => kind.parts === parts);

/** An answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body if it is JSON. */
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export function newPartner(): Partner {
  return Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
}

export function optionsOf(partner: Partner, wishes: Wishes): HostOptions {
  const settings = {
    strict: false,
    trustedKeys: JSON.stringify([partner.staticEntry()]),
    exchange: { perMinute: 10_000 },
    embedLogin: { perMinute: 10_000 },
  };
  return { baseUrl: BASE_URL, sealingKey: randomBytes(32).toString('base64'), settings, ...wishes };
}

export class HostProcess {
  /** All that it has printed. */
  output = '';

  private child!: ChildProcess;

  /** @throws Error with all its output if it does not start to listen */
  static async start(options: HostOptions, program = 'host.js'): Promise<HostProcess> {
    const host = new HostProcess();
    await host.begin(preparedInstallation(), options, program);
    return host;
  }

  /** For all tests of a block. It runs in them, and in hooks that are declared later. */
  static forBlock(options: () => HostOptions, installed = preparedInstallation): HostProcess {
    const host = new HostProcess();
    beforeAll(() => host.begin(installed(), options(), 'host.js'));
    afterAll(() => host.child && host.stop());
    return host;
  }

  private async begin(installation: Installation, options: HostOptions, program: string): Promise<void> {
    this.launch(installation, options, program);
    await until(
      'the host listens',
      PATIENCE_MS,
      () => this.printed('listening') !== undefined || this.hasEnded,
    );
    if (this.hasEnded) throw new Error(`the host has ended:\n${this.output}`);
  }

  /** Starts a host that must fail. @returns its exit code and all its output */
  static async failing(
    options: HostOptions,
    installation = preparedInstallation(),
  ): Promise<{ exitCode: number | null; output: string }> {
    const host = new HostProcess();
    host.launch(installation, options, 'host.js');
    await until('the host ends', PATIENCE_MS, () => host.hasEnded || host.printed('listening') !== undefined);
    await host.stop();
    return { exitCode: host.child.exitCode, output: host.output };
  }

  private launch({ folder, hosts }: Installation, options: HostOptions, program: string): void {
    const env = { PATH: process.env['PATH'], HOST_OPTIONS: JSON.stringify(options), NO_COLOR: '1' };
    this.child = spawn(process.execPath, [join(hosts, program)], { cwd: folder, env });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  get url(): string {
    return this.printed('listening') ?? '';
  }

  /** The rest of the latest line that begins with a word. */
  printed(word: string): string | undefined {
    return this.allPrinted(word).at(-1);
  }

  /** The events of token exchange that the host's emitter has had. */
  get events(): AuditEvent[] {
    return this.allPrinted('event').map((line) => JSON.parse(line) as AuditEvent);
  }

  private allPrinted(word: string): string[] {
    const lines = this.output.split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  }

  async call(path: string, request: RequestInit = {}): Promise<Answer> {
    const answer = await fetch(this.url + path, { redirect: 'manual', ...request });
    const text = await answer.text();
    const isJson = text !== '' && answer.headers.get('content-type')?.includes('json') === true;
    const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: answer.status, headers: answer.headers, body, text };
  }

  post(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call(path, { method: 'POST', body, headers: { 'content-type': FORM, ...headers } });
  }

  exchange(subjectToken: string, actorToken?: string, prefix = ''): Promise<Answer> {
    return this.post(prefix + EXCHANGE, exchangeForm(subjectToken, actorToken));
  }

  login(token: string, headers: Record<string, string> = {}, prefix = ''): Promise<Answer> {
    return this.post(prefix + LOGIN, new URLSearchParams({ token }).toString(), headers);
  }

  /** The product API's data about the caller with a Bearer token. */
  apiMe(accessToken: unknown): Promise<Answer> {
    return this.call('/api/me', { headers: { authorization: `Bearer ${String(accessToken)}` } });
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }
}

export function exchangeForm(subjectToken: string, actorToken?: string): string {
  const form = new URLSearchParams({
    grant_type: GRANT_TYPE,
    subject_token: subjectToken,
    subject_token_type: JWT,
  });
  if (actorToken === undefined) return form.toString();
  form.set('actor_token', actorToken);
  form.set('actor_token_type', JWT);
  return form.toString();
}
