// The JWKS provider against real servers and both databases: its keys, and its behaviour with faulty endpoints.
import { SigningKey } from '../../demo/signing-key.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { toJwksAddress } from '../../src/token-exchange/trust/jwks/jwks-snapshot.repository.js';
import { readJwks } from '../../src/token-exchange/trust/jwks-content.js';
import type { JwksEntry, TrustedKey } from '../../src/token-exchange/trust/trusted-key.js';
import { describeOnEachDatabase } from '../support/databases.js';
import type { JwksInstanceParts } from '../support/jwks-instance.js';
import { AppointedLeader, JwksInstance } from '../support/jwks-instance.js';
import type { JwksAnswer } from '../support/jwks-server.js';
import { body, delayed, JwksServer, silence, status } from '../support/jwks-server.js';
import { TestClock } from '../support/test-clock.js';
import { until } from '../support/until.js';

const ISSUER = 'https://a.example';
const jwkOf = (kid: string) => new SigningKey(kid, 'ES256').publicJwk();
const setOf = (...kids: string[]) => ({ keys: kids.map(jwkOf) });
const OLD = jwkOf('old');
const NEW = jwkOf('new');

const xOf = (key: TrustedKey | undefined) => key?.publicKey.export({ format: 'jwk' }).x;

let entryIndex = 0;
function entryFor(server: JwksServer, members: Partial<JwksEntry> = {}): JwksEntry {
  const label = `entry-${entryIndex}`;
  return { type: 'jwks', entryIndex: entryIndex++, label, issuer: ISSUER, url: server.url, ...members };
}

describeOnEachDatabase('the JWKS provider', (database) => {
  let server: JwksServer;
  let clock: TestClock;
  let opened: OpenDatabase;
  const servers: JwksServer[] = [];
  const instances: JwksInstance[] = [];

  const listen = async () => {
    const listening = await JwksServer.listen();
    servers.push(listening);
    return listening;
  };
  const start = async (parts: Partial<JwksInstanceParts> = {}) => {
    const all = { entries: [entryFor(server)], clock, ...parts };
    const instance = await JwksInstance.start(opened, database.settings, all);
    instances.push(instance);
    return instance;
  };
  const startWithKeys = async (parts: Partial<JwksInstanceParts> = {}) => {
    const instance = await start(parts);
    await instance.tick();
    return instance;
  };
  /** Stops leading once it has keys. Later fetches are then for unknown kids only, never timed retries. */
  const startWithoutRetries = async () => {
    const leader = new AppointedLeader(true);
    const instance = await startWithKeys({ leader, options: { refreshIntervalSeconds: 3_600 } });
    leader.isLeader = false;
    return instance;
  };
  const passSeconds = async (instance: JwksInstance, seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1);
      await instance.tick();
    }
  };

  beforeAll(async () => {
    opened = await database.open();
  });
  beforeEach(async () => {
    clock = new TestClock();
    server = await listen();
    server.publish({ keys: [OLD] }, { 'cache-control': 'max-age=60' });
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((each) => each.close()));
    await Promise.all(instances.splice(0).map((each) => each.stop()));
  });

  describe('fetches', () => {
    it("[5.3.1] happen at startup, and keys carry their entry's policy", async () => {
      const entry = entryFor(server, {
        expectedAudience: 'https://us.example',
        allowedRoles: new Set(['global:member']),
      });
      const instance = await startWithKeys({ entries: [entry] });
      const key = instance.held(ISSUER, 'old');
      expect(key?.policy).toBe(entry);
      expect([...(key?.algorithms ?? [])]).toEqual(['ES256']);
      expect(key?.publicKey.export({ format: 'jwk' })).toMatchObject({ x: OLD.x, y: OLD.y });
      expect(server.requestCount).toBe(1);
    });

    it('[5.3.1] do not delay startup if the endpoint is down', async () => {
      server.answerWith(silence());
      const instance = await start();
      // Had it waited, it would know of a failure.
      expect(instance.keys.status()[0]).toMatchObject({ state: 'never_held', reason: undefined });
    });

    it('[5.3.1] happen after a restart even if the stored keys are fresh', async () => {
      await (await startWithKeys()).stop();
      const again = await startWithKeys();
      expect(server.requestCount).toBe(2);
      expect(again.held(ISSUER, 'old')).toBeDefined();
    });

    it.each([
      ['max-age over all else', 'max-age=120', 600, 120, 120],
      ['[2.1.jwks.cacheTtlSeconds] cacheTtlSeconds without max-age', 'no-cache', 600, 600, 600],
      ['[8.2] the refresh interval without both', 'no-cache', undefined, 300, 3600],
    ])('[D34] follow %s', async (_what, header, cacheTtlSeconds, dueSeconds, freshSeconds) => {
      server.publish({ keys: [OLD] }, { 'cache-control': header });
      const instance = await startWithKeys({ entries: [entryFor(server, { cacheTtlSeconds })] });
      const [row] = await instance.snapshots.find([toJwksAddress(server.url).urlHash]);
      expect(row?.freshUntil).toEqual(new Date(clock.nowMs() + freshSeconds * 1000));
      clock.advance(dueSeconds - 1);
      await instance.tick();
      expect(server.requestCount).toBe(1);
      clock.advance(1);
      await instance.tick();
      expect(server.requestCount).toBe(2);
    });

    it('[8.2] happen before keys become stale, even with a longer interval', async () => {
      server.publish({ keys: [OLD] });
      const instance = await startWithKeys({ options: { refreshIntervalSeconds: 80_000 } });
      expect(instance.keys.status()[0]?.nextRefreshAt).toEqual(new Date(clock.nowMs() + 3_600_000));
    });
  });

  describe('a failing endpoint', () => {
    it('[D34] for ten minutes with max-age 60 rejects no token of a held key, and gets few requests', async () => {
      const instance = await startWithKeys();
      await passSeconds(instance, 59);
      server.answerWith(body('{}'));
      const before = server.requestCount;
      let missed = 0;
      for (let second = 0; second < 600; second++) {
        await passSeconds(instance, 1);
        if (instance.held(ISSUER, 'old') === undefined) missed++;
      }
      expect(missed).toBe(0);
      // Back-off of 5, 10, 20, 40, 80, 160 and 300 seconds, give or take a fifth.
      expect(server.requestCount - before).toBeGreaterThanOrEqual(6);
      expect(server.requestCount - before).toBeLessThanOrEqual(9);
      server.publish({ keys: [OLD, NEW] });
      await passSeconds(instance, 360);
      expect(instance.held(ISSUER, 'new')).toBeDefined();
    });

    it('[D34] is tolerated no longer than the stale time, and recovers', async () => {
      const instance = await startWithKeys({ options: { maxStaleSeconds: 1_000 } });
      server.answerWith(status(500));
      clock.advance(1_059);
      await instance.tick();
      expect(instance.held(ISSUER, 'old')).toBeDefined();
      expect(instance.keys.status()[0]?.keys).toBe(1);
      clock.advance(1);
      expect(instance.held(ISSUER, 'old')).toBeUndefined();
      expect(instance.keys.status()[0]?.keys).toBe(0);
      server.publish({ keys: [OLD] });
      expect(await instance.find(ISSUER, 'old')).toBeDefined();
    });

    it('is reported at each change and every 15 minutes, with entry, address and rule, as is its recovery', async () => {
      const entry = entryFor(server, { label: 'acme', url: `${server.url}?secret=hidden-in-query` });
      const instance = await startWithKeys({ entries: [entry] });
      server.answerWith(status(500));
      await passSeconds(instance, 200);
      const failures = instance.logLines.filter(({ level }) => level === 'warn');
      expect(failures).toHaveLength(1);
      expect(failures[0]).toMatchObject({ entry: 'acme', url: server.url, keys: 1, reason: 'status 500' });
      const servesUntil = instance.keys.status()[0]?.servesUntil?.toISOString();
      expect(failures[0]?.['msg']).toBe(
        `the key set of an entry cannot be fetched: its keys are used until ${servesUntil}`,
      );
      await passSeconds(instance, 900);
      expect(instance.logLines.filter(({ level }) => level === 'warn')).toHaveLength(2);
      clock.advance(86_400);
      await instance.tick();
      expect(instance.logLines.at(-1)).toMatchObject({
        level: 'error',
        state: 'lapsed',
        reason: 'status 500',
        msg: 'the keys of a key set have expired: tokens of its entry are refused',
      });
      server.publish({ keys: [OLD] });
      await passSeconds(instance, 361);
      expect(instance.logLines.at(-1)).toMatchObject({
        level: 'info',
        msg: 'the key set of an entry is usable again',
      });
      const stored = await instance.query('SELECT * FROM token_exchange_jwks_snapshot');
      expect(JSON.stringify([instance.logLines, stored])).not.toContain('hidden-in-query');
    });

    it('[D34] delays no tokens of another issuer', async () => {
      const other = await listen();
      server.answerWith(silence());
      other.publish({ keys: [OLD] });
      const entries = [entryFor(server), entryFor(other, { issuer: 'https://b.example' })];
      const instance = await start({ entries });
      let isWaiting = true;
      void instance.find(ISSUER, 'any').finally(() => (isWaiting = false));
      other.publish({ keys: [OLD, NEW] });
      expect(await instance.find('https://b.example', 'new')).toBeDefined();
      expect(instance.held('https://b.example', 'old')).toBeDefined();
      expect(isWaiting).toBe(true);
    });

    it('[D34] does not make things worse if the snapshots are unavailable: the fetched keys are used', async () => {
      const instance = await startWithKeys();
      await instance.query('ALTER TABLE token_exchange_jwks_snapshot RENAME TO out_of_reach');
      server.publish({ keys: [OLD, NEW] }, { 'cache-control': 'max-age=60' });
      await passSeconds(instance, 60);
      expect(instance.held(ISSUER, 'new')).toBeDefined();
      server.answerWith(status(500));
      await passSeconds(instance, 60);
      expect(instance.held(ISSUER, 'old')).toBeDefined();
      await instance.query('ALTER TABLE out_of_reach RENAME TO token_exchange_jwks_snapshot');
      await passSeconds(instance, 360);
      expect(instance.held(ISSUER, 'old')).toBeDefined();
    });
  });

  describe('a set without a usable key', () => {
    const publish = (keySet: object) => server.publish(keySet, { 'cache-control': 'max-age=60' });

    it('[D34] ends the trust at once, even after a failure and a restart', async () => {
      const instance = await startWithKeys();
      publish({ keys: [{ ...OLD, use: 'enc' }] });
      await passSeconds(instance, 60);
      expect(instance.held(ISSUER, 'old')).toBeUndefined();
      expect(instance.keys.status()[0]).toMatchObject({
        keys: 0,
        lastSuccessAt: new Date(clock.nowMs()),
        lastFailureReason: undefined,
      });
      server.answerWith(status(500));
      await passSeconds(instance, 100);
      expect(await instance.find(ISSUER, 'old')).toBeUndefined();
      await instance.stop();
      expect((await startWithKeys()).held(ISSUER, 'old')).toBeUndefined();
    });

    it('[D34] does not affect another entry of the same issuer', async () => {
      const other = await listen();
      other.publish({ keys: [NEW] });
      const instance = await startWithKeys({ entries: [entryFor(server), entryFor(other)] });
      publish({ keys: [] });
      await passSeconds(instance, 60);
      expect(instance.held(ISSUER, 'old')).toBeUndefined();
      expect(instance.held(ISSUER, 'new')).toBeDefined();
    });
  });

  describe('an unknown kid', () => {
    it('[D34] is fetched once at once, and then kept', async () => {
      const instance = await startWithKeys();
      server.publish({ keys: [OLD, NEW] });
      expect(await instance.find(ISSUER, 'new')).toMatchObject({ kid: 'new' });
      expect(instance.held(ISSUER, 'new')).toBeDefined();
      expect(server.requestCount).toBe(2);
    });

    it('[D34] of an issuer without key sets causes no request', async () => {
      const instance = await startWithKeys();
      instance.statements.length = 0;
      expect(instance.keys.find('https://nobody.example', 'old', 'ES256')).toEqual([]);
      expect(server.requestCount).toBe(1);
      expect(instance.statements).toEqual([]);
    });

    it.each<[string, JwksAnswer]>([
      ['up', body(JSON.stringify({ keys: [OLD] }))],
      ['down', status(500)],
      ['slow', delayed(1_000, body(JSON.stringify({ keys: [OLD] })))],
    ])(
      '[D34][K23] among 1,000 causes one fetch and few statements while the endpoint is %s',
      async (_what, answer) => {
        const instance = await startWithoutRetries();
        server.answerWith(answer);
        instance.statements.length = 0;
        const before = server.requestCount;
        // All at once, then one by one over ten seconds.
        const atOnce = Array.from({ length: 500 }, (_, at) => instance.find(ISSUER, `random-${at}`));
        expect(instance.held(ISSUER, 'old')).toBeDefined();
        expect((await Promise.all(atOnce)).filter((key) => key !== undefined)).toEqual([]);
        for (let at = 500; at < 1_000; at++) {
          clock.advance(0.02);
          expect(await instance.find(ISSUER, `random-${at}`)).toBeUndefined();
          expect(instance.held(ISSUER, 'old')).toBeDefined();
        }
        expect(server.requestCount - before).toBe(1);
        expect(instance.statements.length).toBeLessThan(25);
      },
    );

    it('[D34] is awaited by 32 requests, and rejected at once for others', async () => {
      const instance = await startWithoutRetries();
      const publish: (() => unknown)[] = [];
      const keySet = body(JSON.stringify({ keys: [OLD, NEW] }));
      server.answerWith((...asked) => publish.push(() => keySet(...asked)));
      const found: (TrustedKey | undefined)[] = [];
      const finds = Array.from({ length: 40 }, async () => found.push(await instance.find(ISSUER, 'new')));
      await until('eight are refused', 60_000, () => found.length >= 8 && publish.length > 0);
      expect([found.length, found.some((key) => key !== undefined)]).toEqual([8, false]);
      for (const answer of publish) answer();
      await Promise.all(finds);
      expect(found.filter((key) => key?.kid === 'new')).toHaveLength(32);
    });

    it('[D34] keeps its window over a restart', async () => {
      const instance = await startWithKeys();
      expect(await instance.find(ISSUER, 'random')).toBeUndefined();
      await instance.stop();
      const again = await startWithKeys();
      const before = server.requestCount;
      expect(await again.find(ISSUER, 'random')).toBeUndefined();
      expect(server.requestCount).toBe(before);
    });
  });

  describe('issuers and entries', () => {
    it('[D37][K8] two issuers with the same kid have their own keys: cold, warm and after a refresh', async () => {
      const other = await listen();
      const kids = ['k1', 'a:b', 'a/b', '', '__proto__'];
      const headers = { 'cache-control': 'max-age=60' };
      const [keysOfA, keysOfB] = [setOf(...kids), setOf(...kids)];
      server.publish(keysOfA, headers);
      other.publish(keysOfB, headers);
      const issuerOfB = `${ISSUER}:k1`;
      const instance = await start({ entries: [entryFor(server), entryFor(other, { issuer: issuerOfB })] });
      const check = async () => {
        for (const [at, kid] of kids.entries()) {
          // The empty kid is none (D35).
          const [x, y] = kid === '' ? [undefined, undefined] : [keysOfA.keys[at]?.x, keysOfB.keys[at]?.x];
          expect(xOf(await instance.find(ISSUER, kid))).toBe(x);
          expect(xOf(await instance.find(issuerOfB, kid))).toBe(y);
        }
      };
      await check();
      await check();
      await passSeconds(instance, 61);
      await check();
    });

    it('[D37] a kid shared by two policies of one issuer is ignored, and their other keys are used', async () => {
      const other = await listen();
      const shared = jwkOf('shared');
      server.publish({ keys: [shared, jwkOf('one')] });
      other.publish({ keys: [shared, jwkOf('two')] });
      const entries = [entryFor(server), entryFor(other, { excludeOwner: true })];
      const instance = await startWithKeys({ entries });
      const before = server.requestCount + other.requestCount;
      expect(instance.keys.find(ISSUER, 'shared', 'ES256')).toEqual([]);
      expect(instance.keys.find(ISSUER, 'shared', 'ES256')).toEqual([]);
      expect(instance.held(ISSUER, 'one')).toBeDefined();
      expect(instance.held(ISSUER, 'two')).toBeDefined();
      expect(server.requestCount + other.requestCount).toBe(before);
      const told = instance.logLines.filter(({ msg }) => msg.startsWith('several JWKS entries'));
      expect(told).toHaveLength(1);
    });

    it('[D70] the first of two stored entries with the same kid is used, and a warning names both', async () => {
      const other = await listen();
      const shared = jwkOf('shared');
      server.publish({ keys: [shared] });
      other.publish({ keys: [shared, jwkOf('two')] });
      const instance = await startWithKeys({ entries: [] });
      const labelled = (one: typeof server, label: string) =>
        entryFor(one, { entryIndex: undefined, label, excludeOwner: label === 'second' });
      await instance.replaceStored([labelled(server, 'first'), labelled(other, 'second')]);
      await instance.tick();
      for (const kid of ['shared', 'shared', 'two']) await instance.find(ISSUER, kid);
      expect((await instance.find(ISSUER, 'shared'))?.policy.label).toBe('first');
      expect((await instance.find(ISSUER, 'two'))?.policy.label).toBe('second');
      const told = instance.logLines.filter(({ msg }) => msg.startsWith('several JWKS entries'));
      expect(told).toMatchObject([{ entries: ['first', 'second'], used: 'first', kid: '"shared"' }]);
    });

    it('[D37][K39][P.maxUsers] a key shared by two entries of one policy is tried once, for the entry with seats, and different keys in order', async () => {
      const other = await listen();
      const [shared, second] = [jwkOf('shared'), jwkOf('shared')];
      const rsa = new SigningKey('shared', 'RS256').publicJwk();
      server.publish({ keys: [shared, rsa] });
      other.publish({ keys: [second, shared, jwkOf('shared'), jwkOf('shared')] });
      const clientsOf = () =>
        new Map([['x', { id: 'x', keys: readJwks(Buffer.from(JSON.stringify({ keys: [OLD] }))).keys }]]);
      const entries = [server, other].map((one, at) =>
        entryFor(one, { clients: clientsOf(), ...(at === 0 && { maxUsers: 50 }) }),
      );
      const instance = await startWithKeys({ entries });
      const found = await instance.keys.find(ISSUER, 'shared', 'ES256');
      expect(found.map(xOf).slice(0, 2)).toEqual([shared.x, second.x]);
      expect(found).toHaveLength(3);
      expect(await instance.keys.find(ISSUER, 'shared', 'RS256')).toHaveLength(1);
      expect((await instance.keys.find(ISSUER, 'shared', 'EdDSA')).length).toBeGreaterThan(0);
    });

    it('[5.3.2][D70] a stored entry that comes back uses no key that its issuer has withdrawn, even without a leader', async () => {
      const leader = new AppointedLeader(true);
      const instance = await startWithKeys({ entries: [], leader });
      const stored = [entryFor(server, { entryIndex: undefined })];
      await instance.replaceStored(stored);
      await instance.tick();
      expect(instance.held(ISSUER, 'old')).toBeDefined();
      await instance.replaceStored([]);
      server.publish({ keys: [NEW] }, { 'cache-control': 'max-age=60' });
      leader.isLeader = false;
      await instance.replaceStored(stored);
      leader.isLeader = true;
      await instance.tick();
      expect(instance.held(ISSUER, 'old')).toBeUndefined();
      expect(instance.held(ISSUER, 'new')).toBeDefined();
    });

    it("[P.clients] a stored entry with a configured entry's address adds no keys to it", async () => {
      const instance = await startWithKeys();
      await instance.replaceStored([entryFor(server, { entryIndex: undefined })]);
      expect(instance.keys.keysOf(ISSUER)).toHaveLength(1);
      expect(instance.keys.status()).toHaveLength(1);
    });

    it('[D35] an unusable key is reported once, with entry, address and rule, and the others are used', async () => {
      const odd = [
        { kty: 'oct', k: 'c2VjcmV0LWtleQ', kid: 'mac' },
        { ...NEW, use: 'enc' },
      ];
      server.publish({ keys: [...odd, OLD] }, { 'cache-control': 'max-age=60' });
      const instance = await startWithKeys({ entries: [entryFor(server, { label: 'acme' })] });
      await passSeconds(instance, 130);
      expect(server.requestCount).toBe(3);
      expect(instance.held(ISSUER, 'old')).toBeDefined();
      const told = instance.logLines.filter(({ level }) => level === 'warn');
      expect(told.map(({ warning }) => warning)).toEqual([
        'key 0 (kid "mac") is symmetric (kty "oct")',
        'key 1 (kid "new") has a use other than "sig"',
      ]);
      expect(told[0]).toMatchObject({ entry: 'acme', url: server.url });
      expect(JSON.stringify(instance.logLines)).not.toContain('c2VjcmV0LWtleQ');
    });
  });

  describe('the stored snapshot', () => {
    it('[D36] is used at once after startup, even while the endpoint is down', async () => {
      await (await startWithKeys()).stop();
      server.answerWith(silence());
      const again = await start();
      expect(again.held(ISSUER, 'old')).toBeDefined();
      expect(again.keys.status()[0]).toMatchObject({ keys: 1, state: 'held' });
    });

    it('[D36] that is too old is not used after startup either', async () => {
      await (await startWithKeys()).stop();
      server.answerWith(status(500));
      clock.advance(60 + 86_400);
      const again = await startWithKeys();
      expect(again.held(ISSUER, 'old')).toBeUndefined();
    });

    it('[5.3.2] of an address that no entry contains any more is not used', async () => {
      await (await startWithKeys()).stop();
      const elsewhere = await listen();
      elsewhere.publish({ keys: [NEW] });
      const again = await startWithKeys({ entries: [entryFor(elsewhere)] });
      expect(await again.find(ISSUER, 'old')).toBeUndefined();
    });

    it('[D36] that is damaged is reported, and replaced by the next fetch', async () => {
      const instance = await startWithKeys();
      await instance.query(`UPDATE token_exchange_jwks_snapshot SET key_set = 'damaged'`);
      await instance.stop();
      server.publish({ keys: [OLD, NEW] });
      const again = await startWithKeys();
      expect(again.logLines.map(({ msg }) => msg)).toContain('a stored key set cannot be read');
      expect(again.held(ISSUER, 'new')).toBeDefined();
    });

    it('[D94] is never overwritten by a fetch that began before its last change', async () => {
      const { snapshots } = await startWithKeys();
      const address = toJwksAddress(server.url);
      const startedAt = new Date(clock.nowMs());
      const [{ revision: knownRevision } = { revision: 0 }] = await snapshots.find([address.urlHash]);
      const store = (keySet: string, known: number) => {
        const times = { lastSuccessAt: startedAt, nextRefreshAt: startedAt, freshUntil: startedAt };
        return snapshots.record(address, { ...times, keySet, consecutiveFailures: 0 }, known);
      };
      const fail = (known: number) => {
        const times = { lastFailureAt: startedAt, nextRefreshAt: startedAt };
        const failure = { ...times, lastFailureReason: 'status 500', consecutiveFailures: 1 };
        return snapshots.record(address, failure, known);
      };
      const stored = await store('second', knownRevision);
      expect(stored).toMatchObject({ keySet: 'second', revision: knownRevision + 1 });
      expect(await store('first', knownRevision)).toEqual(stored);
      expect(await fail(knownRevision)).toEqual(stored);
      expect(await fail(stored.revision)).toMatchObject({ keySet: 'second', consecutiveFailures: 1 });
      expect(await store('third', stored.revision + 1)).toMatchObject({
        keySet: 'third',
        consecutiveFailures: 0,
      });
    });

    it('[D36] grants the extra fetch of a window to one of many reservations', async () => {
      const { snapshots } = await startWithKeys();
      const address = toJwksAddress(server.url);
      const reserve = (seconds: number) =>
        snapshots.reserveUnknownKidFetch(address, new Date(clock.nowMs() + seconds * 1000), 30_000);
      const reservations = await Promise.all(Array.from({ length: 50 }, () => reserve(0)));
      expect(reservations.filter((holder) => holder === undefined)).toHaveLength(1);
      expect(await reserve(29.9)).toEqual(new Date(clock.nowMs()));
      expect(await reserve(30)).toBeUndefined();
      // A clock that is an hour ahead does not block others for an hour.
      expect(await reserve(3_600)).toBeUndefined();
      expect(await reserve(60)).toBeUndefined();
    });
  });

  it('an entry is marked as tried after one attempt, even a failed one', async () => {
    server.answerWith(status(500));
    const instance = await start();
    await instance.tick();
    expect(instance.keys.status()).toMatchObject([{ state: 'never_held', reason: 'status 500' }]);
  });

  it("[D34] each key change is reported with the entry's state", async () => {
    const instance = await startWithKeys();
    server.publish({ keys: [NEW] }, { 'cache-control': 'max-age=60' });
    await passSeconds(instance, 60);
    const changes = instance.logLines.filter(({ msg }) => msg === 'the keys of a JWKS entry have changed');
    expect(changes).toHaveLength(2);
    expect(changes[1]).toMatchObject({
      level: 'info',
      url: server.url,
      keys: 1,
      added: ['"new"'],
      removed: ['"old"'],
    });
    expect(changes[1]).toHaveProperty('nextRefreshAt', new Date(clock.nowMs() + 60_000).toISOString());
  });
});
