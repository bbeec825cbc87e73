// The service on several versions of Node.js, in turns.
import { checkExchange } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { versionOfNode } from '../support/node-versions.mjs';
import { alternate } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';

export const nodeVersions = {
  name: 'node-versions',
  title: 'Token exchange, ES256, known users, on PostgreSQL: the service on each Node.js binary of --node',

  async run(workbench) {
    const { nodes } = workbench.options;
    if (nodes.length < 2) return { ratios: [], remarks: ['skipped: it needs --node twice or more'] };
    const contenders = [];
    for (const node of nodes) {
      const version = versionOfNode(node);
      const isTaken = contenders.some(({ name }) => name === version);
      contenders.push(
        await startOn(workbench, node, isTaken ? `${version}-${contenders.length + 1}` : version),
      );
    }
    const { rounds } = await alternate(workbench, contenders);
    const [{ name: under }, ...others] = contenders;
    return { rounds, ratios: others.flatMap(({ name: over }) => ratiosOf(rounds, { over, under })) };
  },
};

async function startOn(workbench, node, name) {
  const service = await workbench.startService({ name, node });
  await checkExchange(service, workbench.partner, 'ES256');
  const load = exchangeRequests(service, workbench.partner, 'ES256');
  return { name: service.name, servers: [service], load };
}

function ratiosOf(rounds, names) {
  const both = `${names.over} / ${names.under}`;
  return [
    ratio(rounds, { title: `throughput, ${both}`, of: 'perSecond', ...names }),
    ratio(rounds, { title: `CPU with database, ${both}`, of: cpuMicros, ...names }),
  ];
}
