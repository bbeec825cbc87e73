// Checks the primary and the standby of the tests: what is committed is on both, and one takes the other's place.
import { describeOnPostgresql } from '../support/databases.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';

const ROUNDS = 2;

describeOnPostgresql('[D95] a primary and its synchronous standby', () => {
  let servers: ReplicatedPostgres;

  beforeAll(async () => {
    servers = await ReplicatedPostgres.start();
  });
  afterAll(() => servers?.stop());

  it('keep what was committed when the one is killed and the other promoted, time and again', async () => {
    await servers.query('CREATE TABLE kept (round integer)');
    for (let round = 1; round <= ROUNDS; round += 1) {
      await servers.query('INSERT INTO kept VALUES ($1)', [round]);
      const ports = [servers.primary.port, servers.standby.port];
      await servers.killPrimary();
      await servers.promote();
      expect(await servers.query('SELECT count(*)::int AS count FROM kept')).toEqual([{ count: round }]);
      await servers.attachStandby();
      expect([servers.standby.port, servers.primary.port]).toEqual(ports);
    }
  });
});
