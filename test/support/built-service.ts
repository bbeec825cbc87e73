// The built service as a process of its own, the way an operator starts it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import type { ServiceProcess, ServiceSurroundings } from '../../demo/service-process.js';
import { describeUnless } from './describe-unless.js';
import { serviceEnvironment } from './service-environment.js';
import { REPOSITORY } from './source-files.js';
import { GRANT_TYPE } from './test-service.js';
import { until } from './until.js';

const MAIN = join(REPOSITORY, 'dist', 'src', 'main.js');
const PATIENCE_MS = 60_000;

export const buildIsMissing = existsSync(MAIN)
  ? undefined
  : 'there is no dist/src/main.js, which `npm test` builds';

/** Declares a block that needs the build. */
export function describeBuilt(title: string, block: () => void): void {
  describeUnless(buildIsMissing, title, block);
}

/** The folder and the environment of a process. Each process gets two free ports and its own temporary folder. */
export async function surroundingsOf(
  settings: Record<string, string | undefined>,
): Promise<ServiceSurroundings & { baseUrl: string; metricsUrl: string }> {
  const port = await freePort();
  const metricsPort = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const environment = {
    PATH: process.env['PATH'],
    ...(await serviceEnvironment()),
    SVC_PORT: String(port),
    SVC_METRICS_PORT: String(metricsPort),
    SVC_BASE_URL: baseUrl,
    ...settings,
  };
  const directory = await mkdtemp(join(tmpdir(), 'built-service-'));
  return { packageRoot: REPOSITORY, directory, environment, baseUrl, metricsUrl };
}

/** The log lines of a running or ended service. Lines that are not JSON are left out. */
export async function logOf({ logFile }: ServiceProcess): Promise<Record<string, unknown>[]> {
  // The service is still writing the text after the last line break.
  const written = (await readFile(logFile, 'utf8')).split('\n').slice(0, -1);
  const lines = written.filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Waits for a line of the log; it may have been written already. */
export async function untilLogged(service: ServiceProcess, message: RegExp): Promise<void> {
  await until(`the log says ${message.source}`, PATIENCE_MS, async () =>
    (await logOf(service)).some(({ msg }) => message.test(String(msg))),
  );
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a service that is expected to end by itself, and returns its results. */
export async function runToEnd(
  { environment, directory }: ServiceSurroundings,
  args: readonly string[] = [],
): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: directory,
    env: environment,
    timeout: PATIENCE_MS,
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}

/** A token exchange with a service that runs; its answer has been read. */
export async function exchangeAt(
  baseUrl: string,
  subjectToken: string,
  headers?: Record<string, string>,
): Promise<Response> {
  const answer = await sendExchange(baseUrl, subjectToken, headers);
  await answer.arrayBuffer();
  return answer;
}

/** The status of a token exchange, even if the answer breaks off after its headers; `undefined` without an answer. */
export async function exchangeStatusAt(baseUrl: string, subjectToken: string): Promise<number | undefined> {
  const answer = await sendExchange(baseUrl, subjectToken).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  return answer?.status;
}

function sendExchange(
  baseUrl: string,
  subjectToken: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: subjectToken });
  return fetch(`${baseUrl}/rest/auth/oauth/token`, { method: 'POST', body, headers });
}

/** A form post whose head the service has taken, and whose body is still to come. */
export interface OpenRequest {
  /** Sends the body, and returns the status of the answer. */
  finish(): Promise<number>;
}

/** Resolves when the service has said that it waits for the body, so that the request is surely in flight. */
export async function openPost(url: string, fields: Record<string, string>): Promise<OpenRequest> {
  const body = new URLSearchParams(fields).toString();
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
    expect: '100-continue',
  };
  const open = request(url, { method: 'POST', agent: false, headers });
  const answered = once(open, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => undefined);
  open.flushHeaders();
  await once(open, 'continue');
  const finish = async () => {
    open.end(body);
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode ?? 0;
  };
  return { finish };
}
