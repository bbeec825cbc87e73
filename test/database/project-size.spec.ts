// How much each project takes in the database, which triggers count.
import { randomBytes, randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { describeOnEachDatabase } from '../support/databases.js';

describeOnEachDatabase('[D103] the sizes of projects', (database) => {
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
  });

  it('are counted when rows come, and when they go', async () => {
    const [large, small] = [randomUUID(), randomUUID()];
    const insert = async (projectId: string, bytes: number) => {
      const nodes = JSON.stringify([randomBytes(bytes / 2).toString('hex')]);
      await dataSource.query(
        `INSERT INTO workflow (id, project_id, name, active, nodes, connections)
         VALUES (gen_random_uuid(), $1, 'n', false, $2, '{}')`,
        [projectId, nodes],
      );
      await dataSource.query(
        `INSERT INTO credential (id, project_id, name, type, sealed_data) VALUES (gen_random_uuid(), $1, 'n', 't', $2)`,
        [projectId, randomBytes(bytes)],
      );
    };
    for (const id of [large, small])
      await dataSource.query(`INSERT INTO project (id, name, type) VALUES ($1, 'n', 'team')`, [id]);
    await insert(large, 20_000);
    await insert(small, 200);
    const sizes = () =>
      dataSource.query<{ id: string; bytes: number }[]>(
        'SELECT project_id AS id, bytes::int AS bytes FROM project_size ORDER BY bytes DESC',
      );
    const counted = await sizes();
    expect(counted.map(({ id }) => id)).toEqual([large, small]);
    expect(counted[0]?.bytes).toBeGreaterThan(30_000);
    expect(counted[1]?.bytes).toBeLessThan(1_000);
    await dataSource.query('DELETE FROM workflow');
    await dataSource.query('DELETE FROM credential');
    expect((await sizes()).map(({ bytes }) => bytes)).toEqual([0, 0]);
  });
});
