// Upgrades a former release to this one: alone, and as two instances, one after the other, under load without a failed request.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Partner } from '../../demo/partner.js';
import { SCHEMA } from '../../src/instance/schema.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import type { TestDatabase } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';
import { cookieOf } from '../support/logins.js';
import { lastingFolder } from '../support/run-folder.js';
import { isWholeSeries } from '../support/series.js';
import { describeWithProcesses, ServiceInstance } from '../support/service-cluster.js';
import { serviceEnvironment } from '../support/service-environment.js';
import { REPOSITORY } from '../support/source-files.js';
import { BASE_URL } from '../support/test-service.js';
import { until } from '../support/until.js';

/** The oldest commit whose databases can be upgraded: a release is compared with the one before, by its tag. */
const OLDEST = 'e17fd573244bdb9861ccfd75331b8ad5c53bdbb6';
const LIMIT_MS = 1_800_000;
const SOON_MS = 60_000;
/** Of each mixture of releases. */
const VISITS = 200;
/** A setting that this release does not have any more. */
const FORMER_SETTINGS = { SVC_MAX_CONNECTIONS: '4096' };

jest.setTimeout(LIMIT_MS);

const ran = (program: string, args: readonly string[], cwd = REPOSITORY) =>
  spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 30, timeout: LIMIT_MS });

/** The build of a former release: UPGRADE_FROM is a ref of git or a folder with a build; without it the last tag, or `OLDEST`. */
function formerRelease(): { folder: string } | { missing: string } {
  if (!isWholeSeries) return { missing: 'builds a former release, run it by `npm run test:long -- upgrade`' };
  const given = process.env['UPGRADE_FROM'] ?? '';
  if (existsSync(join(given, 'dist/src/main.js'))) return { folder: given };
  const tag = ran('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~1']).stdout.trim();
  const ref = given || tag || OLDEST;
  const folder = mkdtempSync(join(lastingFolder(), 'former-release-'));
  const archive = join(folder, 'release.tar');
  if (ran('git', ['archive', '-o', archive, ref]).status !== 0)
    return { missing: `${ref} is not on this machine: the clone has no history` };
  const root = join(folder, 'release');
  mkdirSync(root);
  for (const [program, ...args] of [
    ['tar', '-xf', archive],
    ['npm', 'ci', '--no-audit', '--no-fund'],
    ['npm', 'run', 'build'],
  ] as [string, ...string[]][]) {
    const { status, stderr } = ran(program, args, root);
    if (status !== 0) throw new Error(`${program} ${args.join(' ')} of ${ref}: ${stderr.slice(-2_000)}`);
  }
  return { folder: root };
}

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

/** Visits by exchange and by login, whose access token and session are used at another instance than the one that gave them. */
class Visitors {
  readonly failures: string[] = [];
  private isEnding = false;
  /** By visitor. */
  private readonly turns = [0, 0, 0, 0];
  private readonly loops: Promise<unknown>;

  constructor(private serving: readonly ServiceInstance[]) {
    this.loops = Promise.all(this.turns.map((_, index) => this.loop(index)));
  }

  get visits(): number {
    return this.turns.reduce((sum, turns) => sum + turns, 0);
  }

  /** As a load balancer does: no request goes elsewhere once this resolves. */
  async useOnly(...instances: ServiceInstance[]): Promise<void> {
    this.serving = instances;
    const before = [...this.turns];
    await until('the visits before are over', SOON_MS, () =>
      before.every((turn, index) => this.turns[index]! > turn),
    );
  }

  async someMore(): Promise<void> {
    const wanted = this.visits + VISITS;
    await until(`${VISITS} more visits`, LIMIT_MS, () => this.visits >= wanted);
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.loops;
  }

  private async loop(index: number): Promise<void> {
    for (let turn = 0; !this.isEnding; turn = this.turns[index]!) {
      await this.visit(`visitor-${index}`, turn).catch((error: unknown) => this.failures.push(String(error)));
      this.turns[index] = turn + 1;
    }
  }

  private async visit(sub: string, turn: number): Promise<void> {
    const [first, second] = [this.serving[turn % this.serving.length]!, this.serving.at(-1 - (turn % 2))];
    const token = () => partner.sign(partner.claims({ sub: `${sub}-${turn % 20}` }));
    const exchanged = await first.exchange(token());
    const { access_token: accessToken } = (await exchanged.json()) as { access_token: string };
    const login = await first.embed(token());
    const credentials: Record<string, string>[] = [
      { authorization: `Bearer ${accessToken}` },
      { cookie: cookieOf(login) },
    ];
    const answers = [exchanged, login];
    for (const headers of credentials) {
      answers.push(await (second ?? first).fetch('/rest/me', { headers }));
      answers.push(await (second ?? first).fetch('/api/v1/workflows', { headers }));
    }
    const statuses = answers.map(({ status }) => status).join();
    if (statuses !== '200,303,200,200,200,200')
      this.failures.push(`${first.name}, ${second?.name}: ${statuses}`);
  }
}

const former = formerRelease();
describeUnless('missing' in former ? former.missing : undefined, 'a former release', () => {
  const folder = 'folder' in former ? former.folder : '';

  const instancesOf = async (database: TestDatabase, names: readonly string[]) => {
    const variables = await serviceEnvironment([partner.staticEntry()]);
    const settings = { ...variables, ...database.environment, SVC_BASE_URL: BASE_URL, ...FORMER_SETTINGS };
    return names.map((name) => new ServiceInstance(name, settings, folder));
  };
  /** All that a data source of this release finds, by name. */
  const schemaOf = async (database: TestDatabase) => {
    const { dataSource, close } = await openDatabase(database.settings, SCHEMA);
    const found = await dataSource.query<{ what: string }[]>(`
      SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS what
        FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
      UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
      UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace`);
    await close();
    return found.map(({ what }) => what).sort();
  };
  const emptied = async (database: TestDatabase) => {
    const { dataSource, close } = await database.open();
    for (const statement of ['DROP SCHEMA public CASCADE', 'CREATE SCHEMA public'])
      await dataSource.query(statement);
    await close();
  };

  describeWithProcesses('as a single instance', (database) => {
    it("has a new database's schema after an upgrade, and keeps sessions, tokens and used tokens", async () => {
      const expected = await schemaOf(database);
      await emptied(database);
      const [instance] = (await instancesOf(database, ['alone'])) as [ServiceInstance];
      await instance.start();
      const used = partner.sign();
      const { access_token: accessToken } = (await (await instance.exchange(used)).json()) as {
        access_token: string;
      };
      const cookie = cookieOf(await instance.embed(partner.sign()));
      await instance.stop();
      instance.upgrade();
      await instance.start();
      const credentials: Record<string, string>[] = [{ authorization: `Bearer ${accessToken}` }, { cookie }];
      for (const headers of credentials)
        expect((await instance.fetch('/rest/me', { headers })).status).toBe(200);
      expect([await instance.exchangeStatus(used), await instance.exchangeStatus(partner.sign())]).toEqual([
        400, 200,
      ]);
      await instance.remove();
      expect(await schemaOf(database)).toEqual(expected);
    });
  });

  describeWithProcesses('with two instances', (database) => {
    let afterVisits = () => Promise.resolve();
    afterAll(() => afterVisits());

    it('is upgraded one instance at a time, and no request fails', async () => {
      await emptied(database);
      const [one, other] = (await instancesOf(database, ['one', 'other'])) as [
        ServiceInstance,
        ServiceInstance,
      ];
      await one.start();
      await other.start();
      const visitors = new Visitors([one, other]);
      afterVisits = () => visitors.end();
      await visitors.someMore();
      for (const [instance, stays] of [
        [one, other],
        [other, one],
      ] as const) {
        await visitors.useOnly(stays);
        expect(await instance.stop()).toBe(0);
        instance.upgrade();
        await instance.start();
        await visitors.useOnly(one, other);
        await visitors.someMore();
      }
      await visitors.end();
      process.stderr.write(`${visitors.visits} visits of six requests, ${visitors.failures.length} failed\n`);
      expect(visitors.failures).toEqual([]);
      await Promise.all([one.remove(), other.remove()]);
    });
  });
});
