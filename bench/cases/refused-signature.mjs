// Tokens with a bad signature: refusing them must be cheap, and write nothing.
import { forged } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { cpuMicros, ratio } from '../support/ratios.mjs';
import { alternate, measure } from '../support/rounds.mjs';
import { writtenRows } from '../support/written-rows.mjs';

const names = { over: 'forged', under: 'accepted' };
const COUNTED_REQUESTS = 200;

export const refusedSignature = {
  name: 'refused-signature',
  title: 'Tokens with a bad signature against accepted ones, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const accepted = exchangeRequests(service, workbench.partner, 'ES256');
    const refused = { name: names.over, servers, load: forgedExchanges(service, workbench.partner) };
    const remark = await countRows(workbench, service, refused);
    const { rounds } = await alternate(workbench, [refused, { name: names.under, servers, load: accepted }]);
    const ratios = [
      ratio(rounds, { title: 'CPU with database, forged / accepted', of: cpuMicros, ...names, atMost: 0.6 }),
    ];
    return { rounds, ratios, remarks: [remark] };
  },
};

function forgedExchanges(service, partner) {
  return {
    ...exchangeRequests(service, partner, 'ES256', { change: forged }),
    expectedStatus: 400,
  };
}

async function countRows(workbench, service, refused) {
  const before = await writtenRows(workbench, service);
  await measure(workbench, refused, COUNTED_REQUESTS);
  const after = await writtenRows(workbench, service);
  const usedTokens = after.usedTokens - before.usedTokens;
  const auditRows = after.failures - before.failures;
  return `${COUNTED_REQUESTS} forged tokens left ${usedTokens} replay records and ${auditRows} audit rows.`;
}
