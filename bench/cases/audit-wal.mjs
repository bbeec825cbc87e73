// Measures the write-ahead log of one exchange when many exchanges share a statement.
import { spread } from '../support/statistics.mjs';
import { writtenBy } from '../support/written-log.mjs';

const EXCHANGES = 3_000;
const WANTED_A_STATEMENT = 16;
const FIRST_CONNECTIONS = 48;
const MAX_CONNECTIONS = 512;
const TRIES = 4;
const MAX_BYTES = 1_050;
/** After a checkpoint, the first change of each page logs the whole page. These settings prevent checkpoints during a run. */
const RARE_CHECKPOINTS = ["checkpoint_timeout = '1d'", "max_wal_size = '64GB'"];

export const auditWal = {
  name: 'audit-wal',
  title: `Bytes of write-ahead log of an exchange (ES256) without a checkpoint, some ${WANTED_A_STATEMENT} exchanges a statement, users known, on PostgreSQL`,

  async run(workbench) {
    const service = await workbench.startService();
    await setCheckpoints(workbench, RARE_CHECKPOINTS);
    const connections = await connectionsFor(workbench, service);
    const rounds = [];
    for (let round = 1; round <= workbench.options.rounds; round += 1) {
      rounds.push(await writtenBy(workbench, service, { exchanges: EXCHANGES, connections }));
      workbench.tell(`round ${round}: ${rounds.at(-1).bytes} bytes`);
    }
    await setCheckpoints(workbench);
    const values = rounds.map(({ bytes }) => bytes);
    const shared = spread(rounds.map(({ aStatement }) => aStatement));
    const [middle, min, max] = ['median', 'min', 'max'].map((name) => shared[name].toFixed(1));
    return {
      written: rounds,
      ratios: [{ title: 'bytes an exchange', values, ...spread(values), atMost: MAX_BYTES }],
      remarks: [`${connections} connections: ${middle} exchanges a statement (${min} to ${max}).`],
    };
  },
};

/** Finds the number of connections by trying: with more connections, more exchanges share a statement. Trying also warms up. */
async function connectionsFor(workbench, service) {
  const tries = [];
  for (let connections = FIRST_CONNECTIONS; tries.length < TRIES;) {
    const { aStatement } = await writtenBy(workbench, service, { exchanges: EXCHANGES, connections });
    workbench.tell(`${connections} connections: ${aStatement.toFixed(1)} exchanges a statement`);
    tries.push({ connections, distance: Math.abs(aStatement - WANTED_A_STATEMENT) });
    const wanted = Math.round((connections * WANTED_A_STATEMENT) / aStatement);
    connections = Math.min(MAX_CONNECTIONS, Math.max(WANTED_A_STATEMENT, wanted));
  }
  return tries.sort((one, other) => one.distance - other.distance)[0].connections;
}

/** @param settings server settings that replace the start values */
async function setCheckpoints({ postgres }, settings = []) {
  await postgres.query('postgres', 'ALTER SYSTEM RESET ALL');
  for (const setting of settings) await postgres.query('postgres', `ALTER SYSTEM SET ${setting}`);
  await postgres.query('postgres', 'SELECT pg_reload_conf()');
}
