// The checks before going live include stored entries if there is a database. They do not change it.
import { Partner } from '../../demo/partner.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const entryOf = (name: string, audience?: string) =>
  Partner.create({ issuer: `https://${name}.example`, audience: BASE_URL }).staticEntry({
    ...{ name, expectedAudience: audience, origins: ['https://product.example'], perMinute: 600 },
  });
const CONFIGURED = [entryOf('configured', BASE_URL)];

describeOnEachDatabase('[D32] checks of stored entries', (database) => {
  const line = CommandLine.beside(database, () => CONFIGURED);
  const service = TestService.forBlock(database, { trustedKeys: CONFIGURED });

  const audiencePoint = async () => {
    const { stdout, stderr } = await line.run(['config', 'check', '--json']);
    const { goingLive } = JSON.parse(stdout) as {
      goingLive: { title: string; state: string; detail: string }[];
    };
    const { state, detail } = goingLive.find(({ title }) => title === 'Audience') ?? {};
    return { state, detail, stderr };
  };
  const store = async (entry: object) => {
    line.write('entry.json', entry);
    await line.output(['keys', 'add', '--file', 'entry.json']);
  };

  it('name a stored entry that expects another audience, or none', async () => {
    await store(entryOf('other', 'https://other.example'));
    expect(await audiencePoint()).toMatchObject({
      state: 'check',
      detail: 'stored:other: another audience than the address of this instance',
    });
    await store(entryOf('open'));
    expect(await audiencePoint()).toMatchObject({
      state: 'open',
      detail: 'tokens for any audience are accepted by stored:open',
    });
    const { stdout } = await line.run(['keys', 'check']);
    expect(stdout).toContain(
      'warning: stored:open, expectedAudience: is not set, so tokens for other services are accepted too\n',
    );
    expect(stdout).toMatch(/\nstored:other .* https:\/\/other\.example /);
  });

  it('say that they are not judged, and migrate nothing, on the database of an earlier release', async () => {
    const [last] = await service.rows<{ name: string }>(
      'SELECT * FROM schema_migration ORDER BY id DESC LIMIT 1',
    );
    await service.rows('DELETE FROM schema_migration WHERE name = $1', [last?.name]);
    await service.stop();
    const { state, detail, stderr } = await audiencePoint();
    const remark = 'Stored entries are not checked: The database is empty or of an earlier release';
    expect([state, detail, stderr]).toEqual([
      'good',
      'each configured entry expects the address of this instance',
      expect.stringContaining(`{"remark":"${remark}`),
    ]);
    const { dataSource, close } = await database.open({ entities: [], migrations: [] });
    expect(await dataSource.query('SELECT name FROM schema_migration')).not.toContainEqual({
      name: last?.name,
    });
    await dataSource.query(
      `INSERT INTO schema_migration SELECT ($1::jsonb->>'id')::int, ($1::jsonb->>'timestamp')::bigint, $1::jsonb->>'name'`,
      [JSON.stringify(last)],
    );
    await close();
    await service.restart();
  });
});
