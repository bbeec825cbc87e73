// The log of the built service: a stop loses no line and cuts none, and no request waits for the log's reader.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { describeBuilt, exchangeAt, surroundingsOf } from '../support/built-service.js';
import { TestDatabase } from '../support/databases.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example' });
/** The pipe of a child process holds some 200 KiB; each of these logs more than 700 bytes. */
const REQUESTS_THAT_FILL_A_PIPE = 450;
const START_PATIENCE_MS = 90_000;

type Surroundings = ServiceSurroundings & { baseUrl: string };

describeBuilt('[D21] the log of the process', () => {
  const database = TestDatabase.ofAnyKind();
  let surroundings: Surroundings;

  beforeAll(() => database.create());
  beforeEach(async () => {
    surroundings = await surroundingsOf({
      ...database.environment,
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
      SVC_PROXY_HOPS: '1',
    });
  });
  afterEach(() => rmSync(surroundings.directory, { recursive: true, force: true }));
  afterAll(() => database.remove());

  const exchange = async (token: string, requestId: string) =>
    (await exchangeAt(surroundings.baseUrl, token, { 'x-request-id': requestId })).status;

  it('[D21] a stop loses no line and cuts none, through a pipe whose reader is slow', async () => {
    const child = start(surroundings);
    await untilReady(surroundings);
    const ids = Array.from({ length: REQUESTS_THAT_FILL_A_PIPE }, (_, index) =>
      `piped-request-${index}`.padEnd(128, '.'),
    );
    await inTurns(ids, (id) => exchange('no token', id));
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await pause(500);
    const text = await readSlowly(child);
    expect((await ended)[0]).toBe(0);
    expect(text.endsWith('\n')).toBe(true);
    const lines = linesOf(text.slice(0, -1));
    const told = lines.filter(({ event }) => String(event).endsWith('.failed'));
    expect(told.map(({ requestId }) => String(requestId)).toSorted()).toEqual(ids.toSorted());
    const times = lines.map(({ time }) => String(time));
    expect(times).toEqual(times.toSorted());
  });

  it('[D21] no request waits for a reader who does not read: requests go on being answered', async () => {
    const child = start(surroundings);
    try {
      await untilReady(surroundings);
      const ids = Array.from({ length: REQUESTS_THAT_FILL_A_PIPE }, (_, index) =>
        `unread-request-${index}`.padEnd(128, '.'),
      );
      const statuses = await inTurns(ids, (id) => exchange('no token', id));
      expect(new Set(statuses)).toEqual(new Set([400]));
      // Signatures are verified on the threads that writes wait on.
      const good = await inTurns(ids.slice(0, 20), (id) => exchange(partner.sign(), id));
      expect(new Set(good)).toEqual(new Set([200]));
    } finally {
      child.kill('SIGKILL');
      child.stdout?.resume();
      await once(child, 'close');
    }
  });
});

/** Starts the service with its output on a pipe that has no reader yet. */
function start({ packageRoot, directory, environment }: Surroundings): ChildProcess {
  const main = join(packageRoot, 'dist', 'src', 'main.js');
  return spawn(process.execPath, [main], {
    cwd: directory,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const untilReady = ({ baseUrl }: Surroundings) =>
  until('the service is ready', START_PATIENCE_MS, async () => {
    const answer = await fetch(new URL('/healthz/readiness', baseUrl)).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status === 200;
  });

/** Eight at a time. */
async function inTurns<T>(ids: readonly string[], send: (id: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let from = 0; from < ids.length; from += 8) {
    results.push(...(await Promise.all(ids.slice(from, from + 8).map(send))));
  }
  return results;
}

async function readSlowly({ stdout }: ChildProcess): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stdout ?? []) {
    pieces.push(piece as Buffer);
    await pause(10);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** @throws SyntaxError if a line is cut */
function linesOf(text: string): Record<string, unknown>[] {
  return text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
}
