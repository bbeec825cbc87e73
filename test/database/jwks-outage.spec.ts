// An outage in real time: the endpoint hangs for longer than its keys are fresh, and no token notices.
import { setTimeout as delay } from 'node:timers/promises';
import { SigningKey } from '../../demo/signing-key.js';
import { TestDatabase } from '../support/databases.js';
import { JwksInstance } from '../support/jwks-instance.js';
import { JwksServer, silence } from '../support/jwks-server.js';

const ISSUER = 'https://a.example';
const OUTAGE_MS = 70_000;
const LOOK_EVERY_MS = 50;

describe('an outage of 70 seconds', () => {
  const database = new TestDatabase('embedded');
  const server = JwksServer.forBlock();

  beforeAll(async () => {
    await database.create();
  });
  afterAll(async () => {
    await database.remove();
  });

  it('[D34] with max-age 60 costs no token with a held key', async () => {
    server.publish({ keys: [new SigningKey('old', 'ES256').publicJwk()] }, { 'cache-control': 'max-age=60' });
    const entries = [{ type: 'jwks' as const, entryIndex: 0, label: 'a', issuer: ISSUER, url: server.url }];
    const opened = await database.open();
    const instance = await JwksInstance.start(opened, database.settings, { entries });
    await instance.keys.tick();
    server.answerWith(silence());

    const missed: number[] = [];
    const startedAt = performance.now();
    while (performance.now() - startedAt < OUTAGE_MS) {
      if (instance.held(ISSUER, 'old') === undefined) missed.push(performance.now() - startedAt);
      await delay(LOOK_EVERY_MS);
    }
    expect(missed).toEqual([]);
    const [state] = instance.keys.status();
    expect(state?.lastFailureReason).toBe('no complete answer within 5 seconds');
    await instance.stop();
  }, 120_000);
});
