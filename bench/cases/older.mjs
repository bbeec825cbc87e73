// The service against an older checkout of it, in turns.
import { checkExchange } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { alternate } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';

const NAMES = { over: 'service', under: 'older' };

export const older = {
  name: 'older',
  title: 'Token exchange, ES256, known users, on PostgreSQL: the service against the checkout of --against',

  async run(workbench) {
    const { older: script } = workbench.options;
    if (script === undefined) return { ratios: [], remarks: ['skipped: it needs --against'] };
    const contenders = [await startOn(workbench, {}), await startOn(workbench, { script })];
    const { rounds } = await alternate(workbench, contenders);
    const ratios = [
      ratio(rounds, { title: 'throughput, service / older', of: 'perSecond', ...NAMES }),
      ratio(rounds, { title: 'CPU with database, service / older', of: cpuMicros, ...NAMES }),
    ];
    return { rounds, ratios };
  },
};

/** Each makes its own tables and, by the users' first exchanges, its users: the schemas may differ. */
async function startOn(workbench, program) {
  const name = program.script === undefined ? NAMES.over : NAMES.under;
  const database = await workbench.newEmptyDatabase();
  const service = await workbench.startService({ name, database, ...program });
  await workbench.meetResidents(service);
  await checkExchange(service, workbench.partner, 'ES256');
  const load = exchangeRequests(service, workbench.partner, 'ES256');
  return { name: service.name, servers: [service], load };
}
