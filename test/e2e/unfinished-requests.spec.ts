// Thousands of requests under way at once, in a process with 256 MiB of heap.
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceProcess } from '../../demo/service-process.js';
import { surroundingsOf } from '../support/built-service.js';
import { describeWithProcesses } from '../support/service-cluster.js';

const PATH = '/rest/auth/oauth/token';
const FORM = 'application/x-www-form-urlencoded';
const SMALL_POSTS = 2_000;

const head = (bodyBytes: number, more = '') =>
  `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: ${bodyBytes}\r\n${more}\r\n`;

describeWithProcesses('[B.unfinished][B.connections] requests under way', (database) => {
  let service: ServiceProcess;
  let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;

  beforeAll(async () => {
    surroundings = await surroundingsOf({
      ...database.environment,
      SVC_HOST: '127.0.0.1',
      // A machine that is slow must not be taken for a database that does not answer.
      SVC_DATABASE_WAIT_MS: '30000',
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
      NODE_OPTIONS: '--max-old-space-size=256',
    });
    service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  const open = (sent: string): Socket => {
    const socket = connect(Number(new URL(surroundings.baseUrl).port), '127.0.0.1').resume();
    socket.on('error', () => undefined).write(sent);
    return socket;
  };

  it(`${SMALL_POSTS} small posts at once are all answered, each with a part of it under way when the last one begins`, async () => {
    const form = `grant_type=none&subject_token=${'a'.repeat(1_000)}`;
    const sockets = Array.from({ length: SMALL_POSTS }, () =>
      open(head(form.length, 'Connection: close\r\n') + form.slice(0, -1)),
    );
    const answers = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          let text = '';
          socket.setEncoding('latin1').on('data', (part: string) => (text += part));
          socket.once('close', () => resolve(text.split(' ', 2)[1] ?? ''));
        }),
    );
    await pause(1_000);
    for (const socket of sockets) socket.write(form.slice(-1));
    const statuses = await Promise.all(answers);
    // A slow machine does not get to all of them in time, but closes none unanswered.
    expect(statuses.filter((status) => status !== '400' && status !== '503')).toEqual([]);
    expect(statuses).toContain('400');
  });
});
