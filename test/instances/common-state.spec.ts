// What processes on one database have in common from their first moment: signing keys, sessions, key sets.
import { Partner } from '../../demo/partner.js';
import { MIGRATIONS } from '../../src/instance/schema.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { JwksServer } from '../support/jwks-server.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';

const ISSUER = 'https://partner.example';
const REFRESH_INTERVAL_SECONDS = 2;

describeWithProcesses('three processes that start at once on an empty database', (database) => {
  const partner = Partner.create({ issuer: ISSUER, kid: 'old' });
  const keysOf = (...partners: Partner[]) => ({ keys: partners.flatMap((one) => one.jwks().keys) });
  let keySet: JwksServer;
  let closed: Promise<void> | undefined;
  let opened: OpenDatabase;
  let cluster: ServiceCluster;

  const goDown = () => (closed ??= keySet.close());
  const rows = <Row>(sql: string) => opened.dataSource.query<Row[]>(sql);
  /** What each instance answers, in their order. */
  const onEach = <T>(ask: (instance: ServiceInstance) => Promise<T>) =>
    Promise.all(cluster.instances.map(ask));

  beforeAll(async () => {
    opened = await database.open();
    await rows('DROP SCHEMA public CASCADE');
    await rows('CREATE SCHEMA public');
    keySet = await JwksServer.listen();
    keySet.publish(keysOf(partner));
    cluster = await ServiceCluster.start(3, database, {
      trustedKeys: [{ type: 'jwks', url: keySet.url, issuer: ISSUER }],
      environment: { SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS: String(REFRESH_INTERVAL_SECONDS) },
    });
  });
  afterAll(async () => {
    await cluster.stop();
    await goDown();
  });

  it('[D29] migrate the schema once, create one signing key, and publish it everywhere', async () => {
    expect(await rows('SELECT name FROM schema_migration')).toHaveLength(MIGRATIONS.length);
    const keys = await rows<{ kid: string }>('SELECT kid FROM token_exchange_signing_key');
    expect(keys).toHaveLength(1);
    const published = await onEach(async (instance) =>
      (await instance.fetch('/.well-known/jwks.json')).json(),
    );
    for (const set of published) expect(set).toMatchObject({ keys: [{ kid: keys[0]?.kid }] });
  });
});
