// The machine's clock is set while the built service runs on the embedded database, which goes by the same clock.
import { rmSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { buildIsMissing, exchangeAt, logOf, surroundingsOf } from '../support/built-service.js';
import { describeOnEmbedded } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';
import { MetricSamples } from '../support/metric-samples.js';
import { until } from '../support/until.js';

const LIMIT_MS = 60_000;
/** The purge runs each second. */
const WATCHED_MS = 5_000;
const MOST_RUNS = 10;

const LIBRARY = join('faketime', 'libfaketimeMT.so.1');

/** The library that stands between a program and the system's clock; undefined where it is not installed. */
function faketimeLibrary(): string | undefined {
  const folders = ['/usr/lib', ...readdirSync('/usr/lib').map((name) => join('/usr/lib', name))];
  return folders.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
}

/** The clock of a program that is started with its environment: it goes as the machine's does, and can be set. */
class FakeTime {
  constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.set(0);
  }

  /** The monotonic clock stays what it is, as it does when somebody sets the other one. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** @param aheadSeconds of the machine's clock; negative ones are behind it */
  set(aheadSeconds: number): void {
    writeFileSync(this.file, `${aheadSeconds < 0 ? '-' : '+'}${Math.abs(aheadSeconds)}\n`);
  }
}

const library = faketimeLibrary();
const missing =
  library === undefined ? 'faketime is not installed (Debian: apt-get install -y faketime)' : buildIsMissing;

describeUnless(missing, '[D97] the clock of a machine', () => {
  describeOnEmbedded('with an embedded database', (database) => {
    const partner = Partner.create({ issuer: 'https://partner.example' });
    let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
    let service: ServiceProcess | undefined;
    let time: FakeTime;

    beforeAll(async () => {
      surroundings = await surroundingsOf({
        ...database.environment,
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
        SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1',
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '20',
      });
      time = new FakeTime(library ?? '', join(surroundings.directory, 'time'));
      Object.assign(surroundings.environment, time.environment);
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    });
    afterAll(async () => {
      await service?.stop();
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    const send = async (token: string) => (await exchangeAt(surroundings.baseUrl, token)).status;
    const metric = async (name: string) => (await MetricSamples.at(surroundings.metricsUrl)).value(name);

    it('[D97][5.2.5] is set 50 minutes ahead and back: a used token stays refused, and jobs run as often as before', async () => {
      const token = partner.sign();
      expect(await send(token)).toBe(200);
      const purges = await metric('svc_replay_purges_total');
      time.set(50 * 60);
      await until('the purge has run', LIMIT_MS, async () => {
        return (await metric('svc_replay_purges_total')) > purges + 1;
      });
      time.set(0);
      expect(await metric('svc_replay_records_purged_total')).toBe(0);
      expect(await send(token)).toBe(400);
      await until('it is refused as used', LIMIT_MS, async () => {
        return service !== undefined && JSON.stringify(await logOf(service)).includes('token_replayed');
      });
      const runs = await metric('svc_replay_purges_total');
      await pause(WATCHED_MS);
      const since = (await metric('svc_replay_purges_total')) - runs;
      expect(since).toBeGreaterThan(0);
      expect(since).toBeLessThanOrEqual(MOST_RUNS);
    });

    it('[D97] is set while a client is over its limit: it stays out', async () => {
      let last = 200;
      for (let count = 0; count < 40 && last !== 429; count++) last = await send('no token');
      expect(last).toBe(429);
      for (const seconds of [-3_600, -60, 60, 3_600]) {
        time.set(seconds);
        // Before its licence was issued an instance takes no tokens at all.
        expect([404, 429]).toContain(await send('no token'));
        time.set(0);
        expect(await send('no token')).toBe(429);
      }
    });
  });
});
