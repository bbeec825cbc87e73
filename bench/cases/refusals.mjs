// Refused tokens against accepted ones: refusing must be cheap, and of a bad signature write nothing.
import { forged, writtenRows } from '../support/checks.mjs';
import { exchangeRequests } from '../support/exchanges.mjs';
import { alternate, measure } from '../support/rounds.mjs';
import { cpuMicros, ratio } from '../support/statistics.mjs';

const COUNTED_REQUESTS = 200;
/** Used tokens must live through both rounds, so that nothing but their use is against them. */
const LIFETIME_SECONDS = 300;

export const refusedSignature = {
  name: 'refused-signature',
  title: 'Tokens with a bad signature against accepted ones, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const accepted = exchangeRequests(service, workbench.partner, 'ES256');
    const bad = exchangeRequests(service, workbench.partner, 'ES256', { change: forged });
    const refused = { name: 'forged', servers, load: { ...bad, expectedStatus: 400 } };
    const remark = await countRows(workbench, service, refused);
    const { rounds } = await alternate(workbench, [refused, { name: 'accepted', servers, load: accepted }]);
    return { rounds, ratios: [costRatio(rounds, 'forged', { atMost: 0.6 })], remarks: [remark] };
  },
};

export const refusedKid = {
  name: 'refused-kid',
  title: 'Tokens with an unknown kid against accepted ones, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const accepted = exchangeRequests(service, workbench.partner, 'ES256');
    const unknown = exchangeRequests(service, workbench.partner, 'ES256', { change: ofUnknownKid });
    const { rounds } = await alternate(workbench, [
      { name: 'unknown kid', servers, load: { ...unknown, expectedStatus: 400 } },
      { name: 'accepted', servers, load: accepted },
    ]);
    return { rounds, ratios: [costRatio(rounds, 'unknown kid', { atMost: 0.6 })] };
  },
};

function ofUnknownKid(token) {
  const [header, ...rest] = token.split('.');
  const members = { ...JSON.parse(Buffer.from(header, 'base64url')), kid: 'partner-ES999' };
  return [Buffer.from(JSON.stringify(members)).toString('base64url'), ...rest].join('.');
}

export const refusedReplay = {
  name: 'refused-replay',
  title: 'Tokens that were used before against accepted ones, ES256, on PostgreSQL',

  async run(workbench) {
    const service = await workbench.startService();
    const servers = [service];
    const options = { lifetimeSeconds: LIFETIME_SECONDS };
    const fresh = exchangeRequests(service, workbench.partner, 'ES256', options);
    let latest;
    const next = async (count) => (latest = await fresh.requests(count));
    // From the first on again where more are asked for than were sent.
    const again = async (count) => Array.from({ length: count }, (_, index) => latest[index % latest.length]);
    const { rounds } = await alternate(workbench, [
      { name: 'accepted', servers, load: { ...fresh, requests: next } },
      { name: 'used before', servers, load: { ...fresh, requests: again, expectedStatus: 400 } },
    ]);
    return { rounds, ratios: [costRatio(rounds, 'used before')] };
  },
};

function costRatio(rounds, over, target) {
  const title = `CPU with database, ${over} / accepted`;
  return ratio(rounds, { title, of: cpuMicros, over, under: 'accepted', ...target });
}

async function countRows(workbench, service, refused) {
  const before = await writtenRows(workbench, service);
  await measure(workbench, refused, COUNTED_REQUESTS);
  const after = await writtenRows(workbench, service);
  const usedTokens = after.usedTokens - before.usedTokens;
  const auditRows = after.failures - before.failures;
  return `${COUNTED_REQUESTS} forged tokens left ${usedTokens} replay records and ${auditRows} audit rows.`;
}
