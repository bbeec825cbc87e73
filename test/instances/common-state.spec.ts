// Three processes on one database: what they have in common from their first moment, and a command's change of a stored entry.
import { Partner } from '../../demo/partner.js';
import { MIGRATIONS } from '../../src/instance/schema.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { CommandLine } from '../support/run-cli.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';
import { BASE_URL } from '../support/test-service.js';
import { until } from '../support/until.js';

const SOON_MS = 60_000;
/** The time until a notified change applies: much less than the interval in which an instance polls. */
const AT_ONCE_MS = 1_500;

describeWithProcesses('three processes that start at once on an empty database', (database) => {
  const configured = Partner.create({ issuer: 'https://configured.example', audience: BASE_URL });
  const old = Partner.create({ issuer: 'https://acme.example', kid: 'old', audience: BASE_URL });
  const trustedKeys = [configured.staticEntry()];
  const commands = CommandLine.beside(database, () => trustedKeys);
  let opened: OpenDatabase;
  let cluster: ServiceCluster;

  const rows = <Row>(sql: string) => opened.dataSource.query<Row[]>(sql);
  beforeAll(async () => {
    opened = await database.open();
    await rows('DROP SCHEMA public CASCADE');
    await rows('CREATE SCHEMA public');
    cluster = await ServiceCluster.start(3, database, { trustedKeys });
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const onEach = <T>(ask: (instance: ServiceInstance) => Promise<T>) =>
    Promise.all(cluster.instances.map(ask));
  const statuses = (partner: Partner) => onEach(async (instance) => instance.exchangeStatus(partner.sign()));
  const untilAllAnswer = (partner: Partner, status: number) =>
    until(`all answer ${status}`, SOON_MS, async () =>
      (await statuses(partner)).every((answered) => answered === status),
    );
  const add = (entry: object) => {
    commands.write('entry.json', entry);
    return commands.output(['keys', 'add', '--file', 'entry.json']);
  };

  it('[D29] migrate the schema once, create one signing key, and publish it everywhere', async () => {
    expect(await rows('SELECT name FROM schema_migration')).toHaveLength(MIGRATIONS.length);
    const keys = await rows<{ kid: string }>('SELECT kid FROM token_exchange_signing_key');
    expect(keys).toHaveLength(1);
    const published = await onEach(async (instance) =>
      (await instance.fetch('/.well-known/jwks.json')).json(),
    );
    for (const set of published) expect(set).toMatchObject({ keys: [{ kid: keys[0]?.kid }] });
  });

  it('[D72] apply changes of a stored entry at once: add, suspend, resume, change and remove', async () => {
    const tookMs: number[] = [];
    const allAnswer = async (status: number) => tookMs.push(await untilAllAnswer(old, status));
    await add(old.staticEntry({ name: 'acme' }));
    await allAnswer(200);
    await commands.output(['keys', 'suspend', 'acme']);
    await allAnswer(400);
    await commands.output(['keys', 'resume', 'acme']);
    await allAnswer(200);
    await commands.output(['keys', 'policy', 'acme', '--set', 'flows=["embed"]']);
    await allAnswer(400);
    await commands.output(['keys', 'remove', 'acme']);
    await commands.output(['keys', 'add', '--file', 'entry.json']);
    await allAnswer(200);
    await commands.output(['keys', 'remove', 'acme']);
    await allAnswer(400);
    // A busy machine delays some of them. Polling alone would seldom be this fast in all three.
    expect(tookMs.filter((each) => each < AT_ONCE_MS).length).toBeGreaterThanOrEqual(tookMs.length / 2);
    expect(await statuses(configured)).toEqual([200, 200, 200]);
  });
});
